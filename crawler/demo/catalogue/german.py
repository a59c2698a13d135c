"""The German assortment: tea, clay and wood."""

from __future__ import annotations

from crawler.demo.goods import Assortment, Category, Product

_TEA = Category(
    "tee",
    "Tee",
    "jar",
    "Aus Gärten, deren Wege wir gegangen sind; abgefüllt hier im Haus.",
    "Die Blätter werden am Morgen gepflückt, am Nachmittag gewelkt und noch in derselben Nacht gerollt "
    "und getrocknet. Sie kommen mit dem Schiff zu uns, in Kisten aus Sperrholz, und ruhen hier drei "
    "Wochen, bevor wir sie in Dosen füllen. Montags riecht dann die ganze Straße danach.",
    "Dunkel und trocken lagern, nicht neben Gewürzen. Angebrochene Dosen halten ein gutes Jahr, "
    "schmecken aber in den ersten drei Monaten am besten.",
    (
        Product(
            "nebelmeer-oolong",
            "Nebelmeer Oolong",
            1690,
            "Halboxidierter Blatttee",
            "Dose mit 80 g",
            "Von einem Hang, der im Herbst wochenlang über den Wolken liegt. Er schmeckt nach Birne und "
            "frischem Brot, beim dritten Aufguss am schönsten.",
        ),
        Product(
            "kutscher-mischung",
            "Kutschermischung",
            1190,
            "Schwarztee",
            "Dose mit 125 g",
            "Kräftig genug für Sahne und Kandis. Die Mischung stammt von einem Postkutscher, der nachts "
            "fuhr und wach bleiben wollte.",
        ),
        Product(
            "holunder-und-minze",
            "Holunder und Minze",
            890,
            "Holunderblüte, Pfefferminze",
            "Tüte mit 60 g",
            "Gesammelt an einem einzigen Bahndamm, auf dem seit vierzig Jahren kein Zug mehr fährt. Heiß "
            "am Abend, kalt im Juli.",
        ),
        Product(
            "geraeucherter-winter",
            "Geräucherter Winter",
            1450,
            "Schwarztee, Kiefernrauch",
            "Dose mit 100 g",
            "Über Kiefernholz getrocknet, bis die Blätter nach Lagerfeuer riechen. Ein Löffel davon "
            "macht auch aus einer Linsensuppe etwas Besonderes.",
        ),
    ),
)

_CLAY = Category(
    "ton",
    "Ton und Steinzeug",
    "cup",
    "Auf der Scheibe gedreht, im Holzofen gebrannt, für jeden Tag gedacht.",
    "Der Ton kommt aus einer Grube, die man von der Werkstatt aus sieht. Er liegt einen Winter lang im "
    "Freien, wird geschlagen, gedreht und zweimal gebrannt. Beim zweiten Mal brennt der Ofen drei Tage "
    "mit Buchenholz, und die Asche, die auf die Stücke fällt, wird zur Glasur.",
    "Spülmaschine ja, Mikrowelle lieber nicht. Kannen nur mit heißem Wasser ausspülen: Spülmittel bleibt "
    "in den Poren und meldet sich beim nächsten Tee zurück.",
    (
        Product(
            "morgenkanne",
            "Morgenkanne",
            7400,
            "Steinzeug, Ascheglasur",
            "0,9 Liter, 15 cm hoch",
            "Eine runde Kanne für vier Tassen. Der Deckel bleibt sitzen, auch wenn man sie ganz leert, "
            "und der Ausguss tropft nicht. Das haben wir drei Jahre lang verlangt und dann bekommen.",
        ),
        Product(
            "becher-ohne-henkel",
            "Becher ohne Henkel",
            2200,
            "Steinzeug",
            "9 cm hoch, 220 ml",
            "Wer ihn halten kann, kann auch schon trinken. Die Rille auf halber Höhe ist der Platz für den "
            "Daumen.",
        ),
        Product(
            "salztopf-mit-deckel",
            "Salztopf mit Deckel",
            3100,
            "Steinzeug, Buche",
            "11 cm hoch",
            "Hält grobes Salz trocken, auch neben dem Herd. Der Holzdeckel dreht sich zur Seite und "
            "lässt sich mit nassen Händen öffnen.",
        ),
        Product(
            "suppenschale-schiefer",
            "Suppenschale Schiefer",
            2900,
            "Steinzeug, Schieferglasur",
            "16 cm Durchmesser",
            (
                "Tief, schwer und lange warm. Der Fuß ist hoch genug, dass man die Schale mit beiden "
                "Händen tragen mag."
            ),
        ),
    ),
)

_WOOD = Category(
    "holz",
    "Holz",
    "board",
    "Bretter, Dosen und Kleinmöbel aus Obstbäumen, die gefällt werden mussten.",
    "Kirsche, Birne und Zwetschge kommen aus alten Streuobstwiesen. Die Stämme trocknen vier Jahre unter "
    "Dach. Danach wird gehobelt und nicht geschliffen, weil gehobeltes Holz Wasser abweist, und zuletzt "
    "mit Leinöl eingelassen.",
    "Mit warmem Wasser abwischen und stehend trocknen. Zweimal im Jahr etwas Leinöl, das genügt. Kratzer "
    "gehören dazu, sie sind das Tagebuch eines Brettes.",
    (
        Product(
            "brotbrett-zwetschge",
            "Brotbrett Zwetschge",
            4600,
            "Zwetschgenholz, Leinöl",
            "42 x 24 cm",
            "Violett im Kern und hell am Rand, aus einem Baum, der neunzig Jahre lang trug. Eine Rinne "
            "fängt die Krümel.",
        ),
        Product(
            "teedose-birne",
            "Teedose Birne",
            5200,
            "Birnbaum, Zinn",
            "12 cm hoch, für 120 g",
            (
                "Aus einem Stück gedrechselt. Der Deckel sinkt von selbst hinab und seufzt dabei, so "
                "dicht sitzt er."
            ),
        ),
        Product(
            "schluesselkasten-kirsche",
            "Schlüsselkasten Kirsche",
            12800,
            "Kirschholz, Glas",
            "24 x 8 x 32 cm",
            "Ein kleiner Glaskasten für die Wand neben der Tür. Neun Haken, und man sieht sofort, wer "
            "noch nicht zu Hause ist.",
        ),
        Product(
            "vitrine-lindgruen",
            "Vitrine Lindgrün",
            124900,
            "Eiche, Kalkfarbe, Glas",
            "70 x 36 x 160 cm",
            "Für alles, wonach Besuch fragt. Vier Böden aus Glas, zwei Schlüssel und eine Rückwand in "
            "der Farbe, nach der unser Kontor heißt.",
        ),
    ),
)

GERMAN = Assortment("de", (_TEA, _CLAY, _WOOD))
