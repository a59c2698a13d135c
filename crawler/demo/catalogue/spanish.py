"""The Spanish assortment: leather, clay and olive wood."""

from __future__ import annotations

from crawler.demo.goods import Assortment, Category, Product

_LEATHER = Category(
    "cuero",
    "Cuero",
    "book",
    "Curtido con corteza de encina, cosido a dos agujas y pensado para durar más que nosotros.",
    "El cuero pasa un año en fosas con corteza de encina y otro colgado a la sombra. Se corta a mano, "
    "siguiendo el dibujo de la piel, y se cose con hilo de lino encerado y dos agujas. Si se rompe una "
    "puntada, las demás aguantan, cosa que ninguna máquina sabe hacer.",
    "Un paño seco y, dos veces al año, un poco de cera de abeja. Si se moja, déjelo secar despacio y "
    "lejos del fuego. Las marcas del uso no son un defecto.",
    (
        Product(
            "cuaderno-del-arriero",
            "Cuaderno del arriero",
            3900,
            "Cuero vegetal, papel verjurado",
            "14 x 21 cm, 160 páginas",
            "Se cierra con una correa que da dos vueltas. El arriero que nos dio la idea apuntaba en el "
            "suyo deudas, lluvias y nombres de mulas.",
        ),
        Product(
            "bolsa-de-mercado",
            "Bolsa de mercado",
            12900,
            "Cuero vegetal",
            "38 x 34 x 16 cm",
            "Caben seis melones o la compra de la semana. Las asas van remachadas en cobre y se "
            "oscurecen por donde se cogen.",
        ),
        Product(
            "funda-de-navaja",
            "Funda de navaja",
            2400,
            "Cuero vegetal",
            "12 cm",
            "Moldeada en húmedo, con el cierre a presión que tenía la del abuelo. La navaja no viene dentro.",
        ),
        Product(
            "cinturon-de-la-era",
            "Cinturón de la era",
            5600,
            "Cuero, latón",
            "De 80 a 110 cm",
            "Cuatro milímetros de cuero y una hebilla de latón fundido. Los agujeros se hacen a su "
            "medida, si nos la escribe.",
        ),
    ),
)

_CLAY = Category(
    "barro",
    "Barro",
    "cup",
    "Barro rojo de la cantera vieja, torneado por las mañanas y cocido con leña de poda.",
    "La tierra se saca en verano, se pisa en otoño y se tornea en invierno. El horno es moro y se carga "
    "una vez al mes; arde un día y una noche con leña de almendro. El vidriado es de sal y ceniza, sin "
    "plomo, y por eso ningún verde es igual a otro.",
    "Antes del primer uso, una noche en agua. Aguanta el fuego lento y no le gustan los sustos: nada de "
    "agua fría sobre barro caliente.",
    (
        Product(
            "botijo-de-la-sombra",
            "Botijo de la sombra",
            3200,
            "Barro blanco",
            "26 cm, 2 litros",
            (
                "Enfría el agua diez grados sin más ayuda que el aire. Hay que colgarlo a la sombra y no "
                "tener prisa."
            ),
        ),
        Product(
            "cazuela-de-los-jueves",
            "Cazuela de los jueves",
            2800,
            "Barro rojo vidriado",
            "28 cm",
            "Los jueves toca arroz. Reparte el calor hasta el borde y llega a la mesa todavía hirviendo.",
        ),
        Product(
            "aceitera-que-no-gotea",
            "Aceitera que no gotea",
            2600,
            "Barro vidriado, corcho",
            "17 cm, 400 ml",
            "Tres años nos costó el pico. La última gota vuelve adentro, y el mantel lo agradece.",
        ),
        Product(
            "tinaja-del-patio",
            "Tinaja del patio",
            134000,
            "Barro rojo",
            "95 cm, 140 litros",
            "Hecha a rollos, de abajo arriba, por un hombre que da vueltas alrededor de ella. Para un "
            "limonero, o para el agua de lluvia.",
        ),
    ),
)

_OLIVE = Category(
    "olivo",
    "Madera de olivo",
    "board",
    "De ramas de poda y de árboles que ya habían dado todo lo que tenían.",
    "Sólo usamos madera de poda y de olivos viejos que el dueño ha dado por terminados. Se seca tres "
    "años enterrada en serrín para que no se abra. Después se tornea, se lija con agua y se frota con el "
    "aceite de sus propias aceitunas.",
    "Agua templada, un trapo y nada de lavavajillas. Cuando se vea pálida, una cucharada de aceite y una "
    "tarde al sol flojo.",
    (
        Product(
            "mortero-de-la-almazara",
            "Mortero de la almazara",
            4400,
            "Madera de olivo",
            "13 cm de alto",
            "Pesado, hondo y con la mano a juego. Huele a ajo desde el segundo día y ya para siempre.",
        ),
        Product(
            "tabla-de-la-vendimia",
            "Tabla de la vendimia",
            3800,
            "Madera de olivo",
            "45 x 20 cm",
            (
                "Conserva el canto tal como creció. En la veta hay quien ve un río y quien ve la cara de "
                "su cuñado."
            ),
        ),
        Product(
            "cuenco-del-olivo-viejo",
            "Cuenco del olivo viejo",
            8900,
            "Madera de olivo",
            "30 cm de diámetro",
            (
                "De un tronco de seiscientos años que partió un rayo. Lleva grapas de cobre donde la "
                "madera quiso abrirse."
            ),
        ),
        Product(
            "cucharas-de-remover",
            "Cucharas de remover, tres",
            1900,
            "Madera de olivo",
            "De 22, 27 y 32 cm",
            "Una para el sofrito, otra para el caldo y la larga para señalar. No rayan, no se calientan "
            "y no se pierden.",
        ),
    ),
)

SPANISH = Assortment("es", (_LEATHER, _CLAY, _OLIVE))
