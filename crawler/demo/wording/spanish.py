"""What Spanish shops say around their products."""

from __future__ import annotations

from crawler.demo.wording.words import Words

SPANISH = Words(
    home="Inicio",
    about="Quiénes somos",
    delivery="Envíos y devoluciones",
    members="El armario de los amigos",
    account="Mi cuenta",
    basket="Carrito",
    search="Buscar en la tienda",
    all_categories="Todas las secciones",
    featured="Esta semana en el escaparate",
    look="Ver",
    add="Añadir al carrito",
    sold_out="Agotado",
    in_stock="En existencias, sale en dos días laborables",
    notify="Avísame cuando vuelva",
    quantity="Cantidad",
    description="Descripción",
    how_made="Cómo se hace",
    care="Cuidados",
    details="Detalles",
    made_of="Material",
    size="Medidas",
    article="Referencia",
    related="De la misma repisa",
    reviews="Lo que dicen",
    tax="IVA incluido",
    welcome="Cuero, barro y madera de olivo, hechos a mano y sin prisa.",
    about_text=(
        (
            "El taller está en una antigua almazara. Donde giraba la piedra hay ahora una mesa de cuatro "
            "metros, y en ella cortamos el cuero por la mañana y comemos al mediodía. Por la tarde se "
            "vende."
        ),
        (
            "Trabajamos con siete talleres de la comarca. Sabemos quién torneó cada cuenco y de qué "
            "árbol salió, y si alguien lo pregunta, lo contamos con gusto y con demasiados detalles."
        ),
    ),
    delivery_text=(
        (
            "Enviamos los lunes y los jueves por correo certificado. El barro viaja entre virutas de "
            "olivo, que luego sirven para encender la chimenea."
        ),
        (
            "Hay treinta días para devolver cualquier cosa. No hace falta decir por qué, aunque nos "
            "ayuda a mejorar."
        ),
    ),
    footer="Calle del Molino, junto a la fuente. De martes a sábado, de diez a dos y de cinco a ocho.",
    praise=(
        "Llegó perfecto y olía a madera recién cortada.",
        "Se nota que está hecho con paciencia.",
        "Algo más pequeño de lo que pensaba, pero precioso.",
        "Después de un año está mejor que el primer día.",
        "Se lo regalé a mi abuelo y ya no lo suelta.",
        "El color es más cálido que en la foto.",
    ),
    people=("Amparo", "Joaquín", "Remedios", "Tadeo", "Lucía", "Fermín"),
)
