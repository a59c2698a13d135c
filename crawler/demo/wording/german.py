"""What German shops say around their products."""

from __future__ import annotations

from crawler.demo.wording.words import Words

GERMAN = Words(
    home="Startseite",
    about="Über uns",
    delivery="Versand und Rückgabe",
    members="Stammkundenschrank",
    account="Mein Konto",
    basket="Warenkorb",
    search="Im Laden suchen",
    all_categories="Alle Abteilungen",
    featured="Diese Woche im Fenster",
    look="Ansehen",
    add="In den Warenkorb",
    sold_out="Ausverkauft",
    in_stock="Auf Lager, versandfertig in zwei Werktagen",
    notify="Benachrichtigen, sobald wieder da",
    quantity="Menge",
    description="Beschreibung",
    how_made="Wie es entsteht",
    care="Pflege",
    details="Einzelheiten",
    made_of="Material",
    size="Maße",
    article="Artikelnummer",
    related="Aus demselben Regal",
    reviews="Was andere sagen",
    tax="inkl. MwSt.",
    welcome="Tee, Ton und Holz aus Werkstätten, deren Türen wir kennen.",
    about_text=(
        (
            "Unser Kontor war früher eine Samenhandlung. Die Schubladen sind geblieben: einhundertzwölf "
            "Stück, jede mit einem Messingschild, und in einigen finden wir noch heute Mohn. Heute liegt "
            "Tee darin, und was man zum Teetrinken braucht, steht auf den Borden darüber."
        ),
        (
            "Wir kaufen bei elf Werkstätten ein, die wir jedes Jahr besuchen. Was wir nicht selbst in "
            "der Küche haben wollten, kommt nicht ins Regal. Das macht die Auswahl klein und den "
            "Umtausch selten."
        ),
    ),
    delivery_text=(
        (
            "Wir verschicken montags und donnerstags mit der Post. Zerbrechliches reist in Holzwolle, "
            "Tee in Dosen, die wir gern gefüllt zurücknehmen, nämlich leer und zum Nachfüllen."
        ),
        (
            "Gefällt etwas nicht, nehmen wir es innerhalb von dreißig Tagen zurück. Ein Grund ist nicht "
            "nötig, eine Postkarte freut uns."
        ),
    ),
    footer="Im Hof links, die grüne Tür. Dienstag bis Samstag von zehn bis achtzehn Uhr.",
    praise=(
        "Kam heil an und war schöner verpackt als mancher Geburtstag.",
        "Liegt gut in der Hand und tropft nicht, was will man mehr.",
        "Etwas kleiner als gedacht, aber genau richtig.",
        "Mein Großvater hätte gesagt: ordentlich gemacht.",
        "Nach zwei Jahren noch wie neu, obwohl es täglich benutzt wird.",
        "Die Farbe ist in Wirklichkeit wärmer als auf dem Bild.",
        "Ein Deckel fehlte, am nächsten Tag lag er im Briefkasten.",
    ),
    people=("Gesine", "Hannes", "Frauke", "Emil", "Swantje", "Konrad", "Thea"),
)
