"""English goods for table and desk: glassware, tea, paper."""

from __future__ import annotations

from crawler.demo.goods import Category, Product

GLASSWARE = Category(
    "glassware",
    "Glassware",
    "glass",
    "Mouth-blown, each a little different from its neighbour, all of them for use and none for the shelf.",
    "A gather of glass is taken from the pot at eleven hundred degrees, turned on the marver until it is "
    "true, and blown into a mould of wet pearwood. The steam between wood and glass polishes the "
    "surface. What remains to do is patience: the pieces cool for eighteen hours, and every rim is cut, "
    "ground and melted smooth by hand.",
    "Warm water, a soft brush and a linen cloth. Hard water leaves a veil after some months; a spoon of "
    "vinegar takes it away. Do not stack glasses inside each other, however much room it saves.",
    (
        Product(
            "fogbound-tumbler",
            "Fogbound Tumbler",
            1800,
            "Soda-lime glass",
            "9 cm high, 280 ml",
            "A water glass with a grey breath of colour that gathers in the base. It was a mistake in "
            "the furnace in its first winter, and we asked for the mistake again.",
        ),
        Product(
            "harbour-carafe",
            "Harbour Carafe",
            5600,
            "Soda-lime glass, cork",
            "27 cm high, 1.1 litres",
            "Holds a bottle of wine and the glass that you have already poured. The lip is pulled by "
            "hand, so it pours without a drip, and the cork floats if you drop it in.",
        ),
        Product(
            "thimble-cordial-glass",
            "Thimble Cordial Glass",
            1450,
            "Lead-free crystal",
            "7 cm high, 60 ml",
            "For sloe gin, cough mixture or a single daisy. The stem is drawn out of the bowl and not "
            "stuck on, which is why it rings.",
        ),
        Product(
            "storm-jar",
            "Storm Jar",
            3900,
            "Borosilicate glass, ash lid",
            "21 cm high, 2 litres",
            "Keeps rice dry and moths out. The lid of turned ash sits in a groove and needs no rubber "
            "ring, and the jar survives a fall from the first shelf, though not from the second.",
        ),
        Product(
            "quarry-bowl",
            "Quarry Bowl",
            7200,
            "Recycled window glass",
            "26 cm across",
            "A heavy salad bowl, cast from the panes of a greenhouse that was pulled down. It is green "
            "at the edge where the glass is thickest, as the greenhouse was.",
        ),
        Product(
            "windowsill-vase",
            "Windowsill Vase",
            2600,
            "Soda-lime glass",
            "14 cm high",
            "Narrow at the neck so that three stems stand as if they had been arranged. It is made to be "
            "looked through against the light.",
        ),
        Product(
            "lamplighter-hurricane",
            "Lamplighter Hurricane Glass",
            4800,
            "Borosilicate glass",
            "24 cm high, open below",
            "A wind glass for a candle on a table outdoors. It stands on three small feet so that the "
            "flame gets air, and it does not mind rain on a hot evening.",
        ),
        Product(
            "orchard-press-jug",
            "Orchard Press Jug",
            4400,
            "Soda-lime glass",
            "19 cm high, 900 ml",
            "A jug for apple juice with a handle wide enough for a gloved hand. A ring inside the neck "
            "holds back the froth and the occasional wasp.",
        ),
        Product(
            "small-hours-whisky",
            "Small Hours Whisky Glass",
            2400,
            "Lead-free crystal",
            "8.5 cm high, 240 ml",
            "Low, thick in the base and quiet when you put it down. The eight facets were cut to fit the "
            "fingers of the cutter, who has ordinary hands.",
        ),
        Product(
            "seedling-cloche",
            "Seedling Cloche",
            3300,
            "Recycled window glass",
            "22 cm high, 18 cm across",
            "A bell for lettuces in March and for cheese in any month. The knob is solid and takes a wet "
            "woollen glove without slipping.",
        ),
    ),
)

TEA = Category(
    "tea",
    "Tea and kettles",
    "cup",
    "Leaves from four gardens, and everything that stands between a tin and a cup.",
    "Our leaf comes from four gardens that we have walked through. It is plucked in the morning, "
    "withered on racks through the afternoon and fired the same night. It reaches us by sea in foil and "
    "plywood, and we fill the tins in the back room on Mondays, which is when the whole street smells of "
    "it.",
    "Keep leaves dark, dry and away from the coffee. Rinse pots with hot water only; soap stays in the "
    "pores of clay. A kettle wants emptying every evening and a lemon twice a year.",
    (
        Product(
            "first-frost-oolong",
            "First Frost Oolong",
            1650,
            "Half-oxidised leaf",
            "Tin of 80 g",
            "Plucked in the week when the upper terraces turn white. It tastes of pears and warm hay, "
            "and the third infusion is the best of them.",
        ),
        Product(
            "night-train-black",
            "Night Train Black",
            1200,
            "Black leaf, bergamot peel",
            "Tin of 125 g",
            "A strong breakfast leaf with a thread of bergamot, mixed for a friend who drives "
            "locomotives. It takes milk and can wait in a flask until the border.",
        ),
        Product(
            "gatekeepers-smoked",
            "Gatekeeper's Smoked Tea",
            1400,
            "Black leaf, pine smoke",
            "Tin of 100 g",
            "Dried over slow pine, for people who like their tea to have been somewhere. A spoon of it "
            "does wonders in a stew.",
        ),
        Product(
            "hedgerow-tisane",
            "Hedgerow Tisane",
            950,
            "Rose hip, mint, lime flower",
            "Bag of 60 g",
            "Picked along one lane by two sisters who disagree about the mint. No leaf, no caffeine, and "
            "a colour like an autumn apple.",
        ),
        Product(
            "moorland-teapot",
            "Moorland Teapot",
            6800,
            "Stoneware, iron glaze",
            "750 ml, 13 cm high",
            "A round pot for three cups whose lid does not fall off, even when you empty the leaves. The "
            "glaze breaks to rust on the ridges.",
        ),
        Product(
            "copper-morning-kettle",
            "Copper Morning Kettle",
            14500,
            "Tinned copper, beech",
            "1.6 litres",
            "Boils quickly, sings on two notes and has a handle that stays cool. The coppersmith tins it "
            "again for nothing after ten years.",
        ),
        Product(
            "two-sip-cup",
            "Two-Sip Cup",
            1900,
            "Porcelain",
            "6 cm high, 90 ml",
            "A cup without a handle, thin enough to see the shadow of your finger through it. Made for "
            "tasting, kept for the pleasure of filling it again.",
        ),
        Product(
            "willow-strainer",
            "Willow Strainer",
            2200,
            "Stainless steel, willow",
            "16 cm long",
            (
                "A fine basket on a long willow handle that rests across any cup. It catches everything "
                "but the smell."
            ),
        ),
        Product(
            "caddy-of-eleven",
            "Caddy of Eleven O'Clock",
            3400,
            "Tinplate, lacquer",
            "12 cm high, for 150 g",
            "The inner lid goes down with a sigh and keeps leaves for a year. Painted on the lid is a "
            "clock that is right twice a day.",
        ),
        Product(
            "felted-tea-cosy",
            "Felted Tea Cosy",
            2900,
            "Wool felt",
            "24 cm wide",
            "Keeps a pot drinkable for an hour and a quarter, measured with a thermometer and a long "
            "novel. It has no bobble, on principle.",
        ),
    ),
)

PAPER = Category(
    "paper",
    "Paper and ink",
    "book",
    "For people who still write things down, and for those who mean to begin on Monday.",
    "The sheets are made of cotton rags from a shirt factory, beaten for a day, and lifted out of the "
    "vat one by one. Bindings are sewn on tapes with waxed linen thread, so that a book lies flat at any "
    "page. The covers are cut from leftover bookcloth, and for that reason no colour comes back for long.",
    "Paper likes the same air that you like. Keep ink from frost, put its lid back on, and wash nibs in "
    "clear water before they dry. A bent corner straightens under a dictionary.",
    (
        Product(
            "tidewrack-notebook",
            "Tidewrack Notebook",
            2100,
            "Rag paper, bookcloth",
            "A5, 192 pages",
            "Sewn so that it lies flat on page one and on page one hundred and ninety. Every page has a "
            "margin for second thoughts.",
        ),
        Product(
            "ledger-of-small-things",
            "Ledger of Small Things",
            2700,
            "Laid paper, half linen",
            "21 x 26 cm, 160 pages",
            "Ruled for accounts, used for birds, debts and recipes. The spine has a loop for a pencil, "
            "and the pencil is in it.",
        ),
        Product(
            "lampblack-ink",
            "Lampblack Ink",
            1350,
            "Soot, gum arabic, water",
            "Bottle of 50 ml",
            "The blackest ink that we know, made of lamp soot as it was a thousand years ago. It dries "
            "matt and does not fade, so choose your words.",
        ),
        Product(
            "oak-gall-ink",
            "Oak Gall Ink",
            1550,
            "Oak galls, iron, wine",
            "Bottle of 50 ml",
            "Goes on pale and turns black as you watch. It bites into the paper and stays, which is why "
            "parish registers were kept in it.",
        ),
        Product(
            "goose-grey-envelopes",
            "Goose-Grey Envelopes",
            1100,
            "Recycled cotton",
            "Twenty-five, 11 x 16 cm",
            "Lined, gummed with something that does not taste of fish, and thick enough to hide what you "
            "have written from the postman.",
        ),
        Product(
            "brass-rule",
            "Brass Rule",
            1700,
            "Brass, cork back",
            "20 cm",
            "Centimetres on one edge, printer's points on the other. It has the weight to stay where you "
            "put it, and goes dark where it is held.",
        ),
        Product(
            "folding-bone",
            "Folding Bone",
            900,
            "Polished horn",
            "15 cm",
            "Folds paper without making it shine. Bookbinders keep theirs for life and lend them to nobody.",
        ),
        Product(
            "almanac-of-quiet-days",
            "Almanac of Quiet Days",
            2300,
            "Wove paper, thread",
            "A6, 372 pages",
            "A page for each day, seven for the days that you need twice. It begins whenever you begin it.",
        ),
        Product(
            "walnut-pen-rest",
            "Walnut Pen Rest",
            1250,
            "Walnut, oil",
            "18 x 4 cm",
            "Three hollows for three pens, cut from the branch that shaded the workshop's window. Now "
            "the window is brighter and the desk is tidier.",
        ),
        Product(
            "sealing-wax-set",
            "Sealing Wax, Three Reds",
            1600,
            "Shellac, resin, pigment",
            "Three sticks of 10 cm",
            "Brick, cherry and a red that is nearly black. The wax is soft enough to survive a sorting "
            "machine, as we know from two hundred letters to ourselves.",
        ),
    ),
)
