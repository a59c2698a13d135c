"""What French shops say around their products."""

from __future__ import annotations

from crawler.demo.wording.words import Words

FRENCH = Words(
    home="Accueil",
    about="La maison",
    delivery="Livraison et retours",
    members="L'armoire des habitués",
    account="Mon compte",
    basket="Panier",
    search="Chercher dans la boutique",
    all_categories="Tous les rayons",
    featured="Cette semaine en vitrine",
    look="Voir",
    add="Ajouter au panier",
    sold_out="Épuisé",
    in_stock="En stock, expédié sous deux jours ouvrés",
    notify="Me prévenir du retour",
    quantity="Quantité",
    description="Description",
    how_made="La fabrication",
    care="L'entretien",
    details="Caractéristiques",
    made_of="Matière",
    size="Dimensions",
    article="Référence",
    related="Sur la même étagère",
    reviews="Ce qu'on en dit",
    tax="TTC",
    welcome="Savons, linge et faïence, choisis un par un et gardés longtemps.",
    about_text=(
        (
            "La maison occupe l'ancienne pharmacie du village. On y vend encore des savons, dans les "
            "bocaux d'époque, mais les remèdes ont laissé la place au linge de table et à la faïence des "
            "ateliers voisins."
        ),
        (
            "Nous travaillons avec neuf artisans. Aucun n'habite à plus d'une journée de train, et nous "
            "connaissons le nom de leurs chiens. Quand une pièce a un défaut, nous le disons, et nous "
            "baissons les yeux."
        ),
    ),
    delivery_text=(
        (
            "Les colis partent le mardi et le vendredi, par la poste. La faïence voyage dans la paille, "
            "le linge dans du papier de soie que vous pouvez nous renvoyer si vous n'en faites rien."
        ),
        "Trente jours pour changer d'avis, sans explication. Si l'erreur vient de nous, le retour aussi.",
    ),
    footer="Place du Marché, sous l'horloge arrêtée. Du mardi au samedi, de dix heures à dix-huit heures.",
    praise=(
        "Arrivé intact, avec un petit mot écrit à la main.",
        "Le parfum tient longtemps sans jamais insister.",
        "Un peu plus petit que prévu, mais très juste.",
        "Ma mère voulait le même, j'ai dû en racheter deux.",
        "Après trente lavages, il est plus doux qu'au premier jour.",
        "La couleur est plus chaude qu'à l'image, et c'est tant mieux.",
    ),
    people=("Solène", "Gaspard", "Odile", "Marius", "Blandine", "Firmin"),
)
