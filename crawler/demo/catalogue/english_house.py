"""English goods for the house: cabinets, lamps, textiles."""

from __future__ import annotations

from crawler.demo.goods import Category, Product

CABINETRY = Category(
    "cabinetry",
    "Cabinetry",
    "cabinet",
    "Cases, shelves and boxes with joints that need no explaining and doors that close by themselves.",
    "The boards dry in the open for a year for every inch and then stand in the workshop until they have "
    "stopped moving. Carcasses are dovetailed, backs are panelled, and nothing is hidden behind a "
    "veneer. Glass is set with putty and pins so that a broken pane can be changed by anyone with a "
    "chisel and an afternoon.",
    "Dust with a dry cloth, oil once a year, and stand nothing wet on it. Wood moves with the seasons: a "
    "door that sticks in August will be right again in October, and needs no plane.",
    (
        Product(
            "curators-vitrine",
            "Curator's Vitrine",
            89000,
            "Oak, float glass, brass",
            "62 x 34 x 148 cm",
            "A glass case for the things that people ask about. Three shelves, a lock with two keys, and "
            "a drawer below for the labels that you have not written yet.",
        ),
        Product(
            "stairwell-bookcase",
            "Stairwell Bookcase",
            54000,
            "Ash, linseed oil",
            "70 x 22 x 190 cm",
            "Only as deep as a novel, so that it fits where people pass. The shelves sit on pegs of bog "
            "oak and carry an encyclopaedia without bending.",
        ),
        Product(
            "apothecary-chest",
            "Apothecary Chest",
            76000,
            "Cherry, brass",
            "80 x 30 x 60 cm",
            "Twenty-four drawers for seeds, screws or a stamp collection. Each has a label frame, and "
            "each fits each opening, because we cut them that way.",
        ),
        Product(
            "hanging-key-case",
            "Hanging Key Case",
            12500,
            "Oak, glass",
            "24 x 8 x 32 cm",
            "A small case for the wall beside the door, with nine hooks and a pane. You see at once "
            "whose key is missing.",
        ),
        Product(
            "specimen-frame",
            "Specimen Frame",
            6400,
            "Lime wood, glass",
            "30 x 40 x 6 cm",
            "Deep enough for a feather, a shell or a telegram. The back is held by two turn-buttons and "
            "can be opened without tools.",
        ),
        Product(
            "letter-writers-box",
            "Letter Writer's Box",
            14800,
            "Walnut, felt",
            "34 x 25 x 9 cm",
            "The lid becomes a slope for writing. Inside are places for paper, ink and the letter that "
            "is not finished.",
        ),
        Product(
            "larder-cupboard",
            "Larder Cupboard",
            112000,
            "Pine, zinc gauze",
            "90 x 45 x 180 cm",
            "Keeps cheese at the temperature of the north wall. The doors are filled with gauze against "
            "flies, and the lowest shelf is slate.",
        ),
        Product(
            "bench-for-boots",
            "Bench for Boots",
            28500,
            "Elm",
            "84 x 32 x 46 cm",
            "To sit down on, with room below for four pairs. The seat is one board of elm and was a tree "
            "that the storm brought down.",
        ),
        Product(
            "corner-display-shelf",
            "Corner Display Shelf",
            17600,
            "Oak",
            "30 x 30 x 96 cm",
            "Five quarter-circles for a corner that has been empty long enough. It hangs from two screws "
            "and comes with them.",
        ),
        Product(
            "folding-library-steps",
            "Folding Library Steps",
            39500,
            "Beech, leather",
            "42 x 58 x 74 cm",
            "Three steps that fold into a stool. The treads are covered with leather, and the hinge has "
            "a stop, since readers do not look where they stand.",
        ),
    ),
)

LAMPS = Category(
    "lamps",
    "Lamps",
    "lamp",
    "Light to read by, light to talk by, and one lamp that merely glows.",
    "The metal parts are spun on a lathe from one sheet, the shades sewn over frames that a basket maker "
    "bends for us. Every lamp is wired by a woman who used to build radios, tested for a night and taken "
    "apart once more, because then one knows. Flex and sockets are standard and can be changed.",
    "Unplug it before you dust it. Linen shades are brushed, never washed; brass may be polished or left "
    "to turn brown, which is the better choice. Use bulbs of up to eight watts.",
    (
        Product(
            "reading-heron",
            "Reading Heron",
            18900,
            "Steel, brass, linen",
            "148 cm high",
            "Stands on one leg beside the armchair and bends its neck to the page. A counterweight keeps "
            "it where you leave it.",
        ),
        Product(
            "dormouse-night-light",
            "Dormouse Night Light",
            4200,
            "Porcelain",
            "11 cm high",
            "Glows about as much as a coal in ash. Children find the way by it, and nobody wakes.",
        ),
        Product(
            "signalmans-lantern",
            "Signalman's Lantern",
            13200,
            "Tinplate, glass",
            "29 cm high",
            "Built after a railway lantern, with clear, red and green panes to turn before the light. "
            "The battery lasts for twelve evenings.",
        ),
        Product(
            "linen-drum-shade",
            "Linen Drum Shade",
            5800,
            "Linen, wire",
            "35 cm across, 24 cm high",
            "Unbleached linen over a white frame, hemmed by hand. It takes the edge off any bulb and off "
            "most conversations.",
        ),
        Product(
            "kitchen-pulley-lamp",
            "Kitchen Pulley Lamp",
            16400,
            "Enamelled steel, porcelain",
            "32 cm across",
            "Pull it down to shell peas, push it up to dance. The weight is porcelain and filled with shot.",
        ),
        Product(
            "bookbinders-clamp-light",
            "Bookbinder's Clamp Light",
            9800,
            "Aluminium, oak",
            "Arm of 60 cm",
            "Clamps to a table or a shelf and can be turned with one finger. The joint is leather "
            "against oak and has not squeaked yet.",
        ),
        Product(
            "paper-moon",
            "Paper Moon",
            7600,
            "Washi, bamboo",
            "45 cm across",
            "A round lamp of mulberry paper, pasted in strips by one pair of hands. It hangs a little "
            "crooked, as the moon does.",
        ),
        Product(
            "cellar-stair-lamp",
            "Cellar Stair Lamp",
            6900,
            "Cast iron, glass",
            "20 x 14 cm",
            "An oval wall lamp behind a grille. It does not mind damp, coal dust or a swung ladder.",
        ),
        Product(
            "candlewick-table-lamp",
            "Candlewick Table Lamp",
            11200,
            "Turned maple, cotton",
            "41 cm high",
            (
                "The foot is turned from one piece of maple and sanded until it looks poured. A dimmer "
                "hides in the flex."
            ),
        ),
        Product(
            "observatory-desk-lamp",
            "Observatory Desk Lamp",
            15900,
            "Brass, green glass",
            "38 cm high",
            "A shade of green glass throws light on the chart and leaves the sky dark. Made for an "
            "astronomer, who ordered a second.",
        ),
    ),
)

TEXTILES = Category(
    "textiles",
    "Textiles",
    "cloth",
    "Wool, linen and cotton from looms that you can hear from the road.",
    "The wool is from sheep that graze above the mill, washed without bleach and spun thick. It is woven "
    "on looms from the nineteen-fifties, which run slowly enough to leave air between the threads. "
    "Finishing is done with water, soap made of the same sheep's tallow, and a wind that blows most of "
    "the year.",
    "Air wool rather than wash it; one damp night on the line does more than a machine. Linen likes hot "
    "water and grows softer with each wash. Fringes are combed with fingers.",
    (
        Product(
            "shepherds-blanket",
            "Shepherd's Blanket",
            16800,
            "Wool",
            "140 x 200 cm",
            "Heavy, slightly oily and proof against drizzle. It smells of sheep for a week and of your "
            "house for twenty years.",
        ),
        Product(
            "breakfast-linen",
            "Breakfast Linen",
            3200,
            "Linen",
            "Two napkins, 45 x 45 cm",
            "Napkins with a woven stripe in the colour of marmalade, where it shows least. They come "
            "soft, since we wash them first.",
        ),
        Product(
            "glass-cloth-pair",
            "Glass Cloths, a Pair",
            2000,
            "Half linen",
            "50 x 70 cm",
            "Leave no fluff and no streaks. One for glasses, one for the arguments about how they are dried.",
        ),
        Product(
            "herringbone-throw",
            "Herringbone Throw",
            12400,
            "Lambswool",
            "130 x 180 cm",
            "A light throw in two greys that turn to blue in the evening. Fringed by hand, with a knot every "
            "finger's width.",
        ),
        Product(
            "rag-rug-of-shirts",
            "Rag Rug of Shirts",
            8800,
            "Cotton shirting",
            "70 x 140 cm",
            "Woven of striped shirts, buttons removed, mostly. No two are alike and all of them wash at "
            "sixty degrees.",
        ),
        Product(
            "quilted-draught-stopper",
            "Quilted Draught Stopper",
            3600,
            "Corduroy, wheat",
            "90 cm long",
            "Lies along the door and keeps February outside. Filled with wheat, so that it can be warmed "
            "for cold feet.",
        ),
        Product(
            "gardeners-apron",
            "Gardener's Apron",
            5400,
            "Waxed cotton",
            "One size, 78 cm long",
            (
                "Two pockets for seed packets, one for a knife, and a loop for string. Mud comes off "
                "when it is dry."
            ),
        ),
        Product(
            "stair-runner-red",
            "Red Stair Runner",
            21500,
            "Wool, jute back",
            "65 x 600 cm",
            "Six metres of dense red wool with a border that hides the wear. It quietens a staircase and "
            "anyone who comes down late.",
        ),
        Product(
            "indigo-cushion",
            "Indigo Cushion",
            4900,
            "Linen, kapok",
            "45 x 45 cm",
            "Dyed in a vat that has been alive for nine years. It rubs off a little at first, on the "
            "people whom you like.",
        ),
        Product(
            "winter-window-curtain",
            "Winter Window Curtain",
            19200,
            "Boiled wool",
            "135 x 240 cm",
            "One wide curtain against one cold window. It hangs from wooden rings and makes a room a "
            "degree and a half warmer, as we found with two thermometers.",
        ),
    ),
)
