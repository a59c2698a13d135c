"""What Polish shops say around their products."""

from __future__ import annotations

from crawler.demo.wording.words import Words

POLISH = Words(
    home="Strona główna",
    about="O pracowni",
    delivery="Dostawa i zwroty",
    members="Szafa stałych gości",
    account="Moje konto",
    basket="Koszyk",
    search="Szukaj w sklepie",
    all_categories="Wszystkie działy",
    featured="W tym tygodniu na wystawie",
    look="Zobacz",
    add="Dodaj do koszyka",
    sold_out="Wyprzedane",
    in_stock="W magazynie, wysyłka w dwa dni robocze",
    notify="Powiadom mnie, gdy wróci",
    quantity="Ilość",
    description="Opis",
    how_made="Jak powstaje",
    care="Pielęgnacja",
    details="Szczegóły",
    made_of="Materiał",
    size="Wymiary",
    article="Numer artykułu",
    related="Z tej samej półki",
    reviews="Co mówią inni",
    tax="z VAT",
    welcome="Wełna, drewno i miód z małych pracowni, które odwiedzamy co roku.",
    about_text=(
        (
            "Pracownia mieści się w dawnej szkole. Tablica wisi do dziś i to na niej zapisujemy "
            "zamówienia, a w szatni suszy się wełna. Dzwonka nie używamy, choć działa."
        ),
        (
            "Współpracujemy z ośmioma rzemieślnikami. Każdą rzecz najpierw przez rok mamy u siebie w "
            "domu, a dopiero potem trafia na półkę. Dlatego nowości jest u nas mało, a zwrotów jeszcze "
            "mniej."
        ),
    ),
    delivery_text=(
        (
            "Wysyłamy we wtorki i piątki pocztą. Słoiki podróżują w trocinach, wełna w papierze, a "
            "rzeczy z drewna w tym, co akurat pasuje."
        ),
        (
            "Na zwrot jest trzydzieści dni i nie trzeba podawać powodu. Jeśli pomyłka jest nasza, "
            "przesyłka także."
        ),
    ),
    footer="Stara szkoła pod lasem. Od wtorku do soboty, od dziesiątej do osiemnastej.",
    praise=(
        "Dotarło całe i pachniało lasem.",
        "Trochę mniejsze, niż myślałam, ale piękne.",
        "Po roku codziennego używania jak nowe.",
        "Babcia zapytała, kto to zrobił, i to jest pochwała.",
        "Kolor jest cieplejszy niż na zdjęciu.",
        "Brakowało jednej nakrętki, przyszła następnego dnia.",
    ),
    people=("Jagoda", "Bronisław", "Halina", "Mieszko", "Zofia", "Ignacy"),
)
