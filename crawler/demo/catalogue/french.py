"""The French assortment: soap, linen and faience."""

from __future__ import annotations

from crawler.demo.goods import Assortment, Category, Product

_SOAP = Category(
    "savons",
    "Savons",
    "jar",
    "Cuits au chaudron, séchés au grenier, coupés au fil.",
    "L'huile d'olive et la soude cuisent ensemble pendant neuf jours dans un chaudron de cuivre. Le "
    "maître savonnier goûte la pâte du bout de la langue pour savoir si elle est faite. On la coule à "
    "même le sol, on la coupe au fil et on la laisse sécher tout un été, à l'ombre et dans le courant "
    "d'air.",
    "Un savon aime être au sec entre deux usages. Posez-le sur la tranche: il durera un mois de plus. "
    "Les copeaux se gardent pour le linge.",
    (
        Product(
            "savon-du-pharmacien",
            "Savon du pharmacien",
            890,
            "Huile d'olive, laurier",
            "Pain de 200 g",
            "La recette était dans le grand livre de l'ancienne pharmacie, entre un sirop et une dette. "
            "Il sent le laurier et le linge propre.",
        ),
        Product(
            "savon-tilleul-du-quai",
            "Savon tilleul du quai",
            950,
            "Huile d'olive, tilleul",
            "Pain de 150 g",
            "Les fleurs viennent des tilleuls du quai, cueillies à l'échelle un matin de juin. La mousse "
            "est fine et ne reste pas.",
        ),
        Product(
            "creme-de-rasage-en-pot",
            "Crème de rasage en pot",
            2400,
            "Beurre de karité, amande",
            "Pot de 120 g",
            "Une noisette suffit, et le pot en faïence ressert ensuite pour le sel. Le parfum d'amande "
            "s'en va avant le café.",
        ),
        Product(
            "savon-noir-de-menage",
            "Savon noir de ménage",
            1350,
            "Huile de lin",
            "Bouteille d'un litre",
            "Pour les carreaux, le parquet et les genoux des enfants. Une cuillère dans un seau d'eau "
            "tiède, et la maison sent le samedi.",
        ),
    ),
)

_LINEN = Category(
    "linge",
    "Linge de maison",
    "cloth",
    "Du lin tissé serré, lavé avant de partir, doux dès le premier soir.",
    "Le lin pousse à trois lieues de l'atelier. Il est roui dans les champs, par la rosée, puis peigné, "
    "filé et tissé sur des métiers qui font trembler les vitres du voisin. Chaque pièce est lavée une "
    "fois avant l'expédition, pour qu'elle ait fini de rétrécir.",
    "Lavage à soixante degrés, séchage au vent. Le lin se repasse humide, ou pas du tout: les plis s'en "
    "vont quand on s'assied.",
    (
        Product(
            "torchon-de-l-office",
            "Torchon de l'office",
            1800,
            "Lin et coton",
            "50 x 75 cm",
            "Une raie rouge pour les verres, une bleue pour le reste, et personne ne s'y tient. Il n'a "
            "jamais laissé de peluche.",
        ),
        Product(
            "nappe-des-dimanches",
            "Nappe des dimanches",
            14900,
            "Lin",
            "170 x 300 cm",
            "Pour douze couverts et une tache de vin. L'ourlet est à jour, fait à la main par deux sœurs "
            "qui se partagent la longueur.",
        ),
        Product(
            "serviettes-aubepine",
            "Serviettes Aubépine, par six",
            7800,
            "Lin",
            "45 x 45 cm",
            "Six serviettes brodées d'un brin d'aubépine, chaque fois un peu différent. On finit par "
            "reconnaître la sienne.",
        ),
        Product(
            "drap-de-grand-mere",
            "Drap de grand-mère",
            16500,
            "Métis",
            "240 x 310 cm",
            (
                "Lourd, frais en août et tiède en janvier. Les lettres au coin sont les vôtres, si vous "
                "nous les écrivez."
            ),
        ),
    ),
)

_FAIENCE = Category(
    "faience",
    "Faïence",
    "cup",
    "Blanche, un peu épaisse, et chaque pièce porte le pouce de celui qui l'a faite.",
    "La terre est coulée dans des moules de plâtre qui ont servi à trois générations. L'émail est blanc "
    "d'étain, posé en un seul geste, et le décor se peint sur l'émail cru, où l'on ne peut rien "
    "corriger. Le four met deux jours à chauffer et trois à refroidir.",
    "Lave-vaisselle sans crainte, four jusqu'à cent quatre-vingts degrés. Un fin réseau de craquelures "
    "vient avec les années: c'est l'émail qui respire.",
    (
        Product(
            "bol-du-matin",
            "Bol du matin",
            2600,
            "Faïence émaillée",
            "14 cm, 500 ml",
            "Assez large pour une tartine et assez haut pour n'y pas tremper la manche. Le filet bleu "
            "est peint à main levée.",
        ),
        Product(
            "pichet-du-puits",
            "Pichet du puits",
            4900,
            "Faïence émaillée",
            "22 cm, 1,2 litre",
            (
                "Il verse droit et garde l'eau fraîche tout un déjeuner. L'anse a la taille d'une main, "
                "pas de deux doigts."
            ),
        ),
        Product(
            "assiette-aux-merles",
            "Assiette aux merles",
            3400,
            "Faïence peinte",
            "26 cm",
            "Deux merles sur une branche, peints sur l'émail cru. Il paraît que l'un des deux chante; on "
            "n'a jamais su lequel.",
        ),
        Product(
            "soupiere-de-la-mairie",
            "Soupière de la mairie",
            118000,
            "Faïence, anses d'étain",
            "34 cm, 4,5 litres",
            "Copie de la soupière de la salle des mariages, louche comprise. Elle nourrit vingt "
            "personnes et pèse le poids d'un discours.",
        ),
    ),
)

FRENCH = Assortment("fr", (_SOAP, _LINEN, _FAIENCE))
