"""The Polish assortment: wool, wood and honey."""

from __future__ import annotations

from crawler.demo.goods import Assortment, Category, Product

_WOOL = Category(
    "welna",
    "Wełna",
    "cloth",
    "Z owiec, które pasą się nad pracownią, i z krosien, które słychać z drogi.",
    "Runo myjemy w deszczówce, bez wybielania, i przędziemy grubo. Tkamy na krosnach z lat "
    "pięćdziesiątych: są powolne, dlatego między nitkami zostaje powietrze, a powietrze grzeje. Barwimy "
    "łupinami cebuli, marzanną i liśćmi brzozy.",
    "Wełnę lepiej wietrzyć niż prać. Jedna wilgotna noc na sznurku robi więcej niż pralka. Jeśli już "
    "prać, to ręcznie, w letniej wodzie, i suszyć na płasko.",
    (
        Product(
            "koc-juhasa",
            "Koc juhasa",
            42900,
            "Wełna owcza",
            "150 x 200 cm",
            (
                "Ciężki, trochę szorstki i odporny na mżawkę. Przez tydzień pachnie owcą, a potem już "
                "tylko domem."
            ),
        ),
        Product(
            "szal-na-mgle",
            "Szal na mgłę",
            18900,
            "Wełna merynosa",
            "45 x 190 cm",
            "Szary, z jednym żółtym paskiem, żeby było kogo szukać. Nie gryzie, sprawdziły to trzy siostry.",
        ),
        Product(
            "skarpety-do-pieca",
            "Skarpety do pieca",
            6900,
            "Wełna, len",
            "Rozmiary 36-46",
            (
                "Grube, z podwójną piętą, do siedzenia przy piecu z nogami wyżej niż głowa. W kaloszach "
                "też się sprawdzą."
            ),
        ),
        Product(
            "poduszka-w-dwie-osnowy",
            "Poduszka w dwie osnowy",
            15900,
            "Wełna, łuska gryczana",
            "45 x 45 cm",
            "Tkana na dwóch osnowach, więc z drugiej strony wzór jest taki sam, tylko odwrotny. Po "
            "jednej stronie dzień, po drugiej noc.",
        ),
    ),
)

_WOOD = Category(
    "drewno",
    "Drewno",
    "board",
    "Łyżki, deski i skrzynki z drewna, które wyschło we własnym tempie.",
    "Lipa, jesion i dąb schną pod dachem cztery lata. Strugamy ręcznie, bo strugane drewno odpycha wodę, "
    "a szlifowane ją pije. Na koniec wcieramy olej lniany z tłoczni za rzeką i zostawiamy na tydzień w "
    "spokoju.",
    "Myć w ciepłej wodzie, suszyć na stojąco. Dwa razy w roku trochę oleju. Rysy zostawić, to pamiętnik.",
    (
        Product(
            "lyzka-do-zurku",
            "Łyżka do żurku",
            3900,
            "Drewno lipowe",
            "29 cm",
            "Głęboka na tyle, że mieści pół jajka. Trzonek jest lekko skręcony, tak jak rosła gałąź.",
        ),
        Product(
            "deska-na-chleb",
            "Deska na chleb",
            11900,
            "Jesion, olej lniany",
            "44 x 26 cm",
            "Z rowkiem na okruchy, które potem są dla sikorek. Leży równo na każdym stole, także krzywym.",
        ),
        Product(
            "skrzynka-na-listy",
            "Skrzynka na listy",
            24900,
            "Dąb, filc",
            "34 x 25 x 9 cm",
            "Wieko zamienia się w pulpit do pisania. W środku jest miejsce na papier, atrament i list, "
            "którego się nie skończyło.",
        ),
        Product(
            "witryna-szkolna",
            "Witryna szkolna",
            219000,
            "Dąb, szkło, mosiądz",
            "80 x 36 x 165 cm",
            (
                "Taka sama stała w naszej dawnej szkole i mieściła wypchaną sowę. Trzy półki, dwa "
                "klucze, sowy brak."
            ),
        ),
    ),
)

_HONEY = Category(
    "miod",
    "Miód i przetwory",
    "jar",
    "Ze spiżarni, w której pali się światło tylko wtedy, gdy ktoś po coś przyszedł.",
    "Ule stoją na skraju lasu i dwa razy w roku przenosimy je nocą: wiosną w rzepak, latem na "
    "wrzosowisko. Miodu nie podgrzewamy i nie mieszamy z innym. Konfitury gotujemy w miedzianym kotle, "
    "po cztery kilogramy, bo przy pięciu owoce się gniotą.",
    "Trzymać w ciemności i suchym miejscu. Miód krystalizuje i to dobrze o nim świadczy; w letniej "
    "wodzie znów będzie płynny.",
    (
        Product(
            "miod-wrzosowy",
            "Miód wrzosowy",
            6200,
            "Miód pszczeli",
            "Słoik 500 g",
            "Gęsty jak galareta i gorzkawy na końcu. Zbierany przez trzy tygodnie w roku, o ile nie pada.",
        ),
        Product(
            "konfitura-z-jarzebiny",
            "Konfitura z jarzębiny",
            3400,
            "Jarzębina, jabłko, cukier",
            "Słoik 280 g",
            "Od niej pracownia ma nazwę. Zrywana po pierwszym przymrozku, do serów, pieczeni i na katar.",
        ),
        Product(
            "syrop-z-mlodych-pedow",
            "Syrop z młodych pędów sosny",
            2900,
            "Pędy sosny, cukier",
            "Butelka 250 ml",
            (
                "Pędy zrywamy w maju, po jednym z gałązki, żeby sosna nie zauważyła. Łyżeczka do herbaty "
                "albo na kaszel."
            ),
        ),
        Product(
            "powidla-z-kotla",
            "Powidła z kotła",
            2700,
            "Śliwka węgierka",
            "Słoik 300 g",
            "Smażone trzy dni, bez cukru, aż łyżka stoi. Kto miesza ostatni, ten wylizuje kocioł.",
        ),
    ),
)

POLISH = Assortment("pl", (_WOOL, _WOOD, _HONEY))
