"""What English shops say around their products."""

from __future__ import annotations

from crawler.demo.wording.words import Words

ENGLISH = Words(
    home="Home",
    about="About us",
    delivery="Delivery and returns",
    members="Members' cupboard",
    account="Account",
    basket="Basket",
    search="Search the shelves",
    all_categories="All departments",
    featured="This week in the window",
    look="Have a look",
    add="Add to cart",
    sold_out="Sold out",
    in_stock="In stock, leaves us within two working days",
    notify="Write to me when it is back",
    quantity="Quantity",
    description="Description",
    how_made="How it is made",
    care="Looking after it",
    details="Details",
    made_of="Made of",
    size="Size",
    article="Article",
    related="From the same shelf",
    reviews="What people say",
    tax="taxes included",
    welcome="Things for the house, made by people whose names we know.",
    about_text=(
        (
            "The shop began with one glass cabinet and a bad winter. There was no money for stock, so we "
            "showed what our neighbours made: a glassblower two doors down, a bookbinder, a man who "
            "repaired lamps and kept the ones that nobody came back for. We sold one thing a day and "
            "wrote its maker a letter each time."
        ),
        (
            "We still write the letters. There are more makers now, and the cabinet has become four rooms, "
            "but the rule has stayed: we sell what we have used for a year ourselves, and we say so when a "
            "thing has faults."
        ),
        "Come by when you are near. The kettle is on from ten, and the cat is not for sale.",
    ),
    delivery_text=(
        (
            "We pack on Tuesdays and Fridays, in paper and straw, and send parcels by ordinary post. "
            "Glass travels in a box within a box; in eleven years we have lost nine pieces, and we "
            "replaced each of them."
        ),
        (
            "If a thing does not suit you, send it back within thirty days. You need not say why, though "
            "we are curious. We pay the postage when the mistake is ours, and we are generous about whose "
            "mistake it was."
        ),
    ),
    footer="Four rooms and a courtyard. Open Tuesday to Saturday, ten to six.",
    praise=(
        "Arrived without a scratch and smelled faintly of straw.",
        "I bought one for my sister and kept it.",
        "Smaller than I had imagined, and better.",
        "The third in our house; the first two are still in use every day.",
        "It took a week longer than promised, but somebody wrote to say so.",
        "The colour is a little warmer than in the photograph.",
        "My father, who likes nothing, asked where it came from.",
        "One corner was chipped. A new one came within three days, no questions asked.",
        "Heavier than it looks, which I count in its favour.",
        "We use it every morning and have stopped noticing it, which is praise.",
    ),
    people=("Maud", "Terence", "Ines", "Rafferty", "Dilys", "Oona", "Bertram", "Halima", "Jory", "Petra"),
)
