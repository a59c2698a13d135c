"""What buy controls say, in the languages of the world."""

# ruff: file-ignore[ambiguous-unicode-character-string] - written in the letters of many languages

from __future__ import annotations

import pytest

from crawler.pdp.buy_labels import read_label
from crawler.pdp.buy_words import ADD, BUY, STEMS

ADDING = """
en: Add to Cart | ADD TO BAG | Add to your basket | Add to trolley | + Add To Cart
en: Add 2 items to cart | Add limited edition to cart
de: In den Warenkorb | in den Einkaufswagen | In den Einkaufskorb | In die Tasche
fr: Ajouter au panier | AJOUTER À MON PANIER | Mettre au panier | Ajouter au sac
it: Aggiungi al carrello | Metti nel carrello | Aggiungi alla borsa
es: Añadir a la cesta | Agregar al carrito | Añadir al carro | Anadir a la bolsa
pt: Adicionar ao carrinho | Adicionar à sacola | Colocar no carrinho
nl: In winkelwagen | Toevoegen aan winkelmandje | In mijn winkelwagen
sv: Lägg i varukorgen | Lägg till i kundvagn
no: Legg i handlekurv | Legg til i handlekurven
da: Læg i kurv | Tilføj til kurv | Læg i indkøbskurv
fi: Lisää ostoskoriin | Lisää koriin
is: Setja í körfu
et: Lisa ostukorvi
lv: Pievienot grozam
lt: Į krepšelį | Pridėti į krepšelį
pl: Dodaj do koszyka | Do koszyka
cs: Do košíku | Přidat do košíku | Vložit do košíku
sk: Do košíka | Pridať do košíka
hu: Kosárba | Kosárba teszem
ro: Adaugă în coș | Adauga in cos
bg: Добави в количката
hr: Dodaj u košaricu | U košaricu
sr: Додај у корпу | Dodaj u korpu
sl: Dodaj v košarico | V košarico
mk: Додади во кошничка
sq: Shto në shportë
el: Προσθήκη στο καλάθι
tr: Sepete Ekle | SEPETE EKLE
ru: В корзину | Добавить в корзину
uk: До кошика | Додати в кошик | У кошик
be: У кошык
kk: Себетке қосу
ka: კალათაში დამატება
hy: Ավելացնել զամբյուղ
he: הוסף לסל | הוסף לעגלה | הוספה לסל
ar: أضف إلى السلة | اضف الى السلة | أضف إلى عربة التسوق
fa: افزودن به سبد خرید
hi: कार्ट में डालें
th: เพิ่มลงในตะกร้า | หยิบใส่ตะกร้า
vi: Thêm vào giỏ hàng
id: Tambah ke keranjang | Masukkan keranjang | Tambah ke troli
ko: 장바구니 담기 | 장바구니에 담기 | 쇼핑백 담기
ja: カートに入れる | カートに追加 | かごに入れる | ショッピングカートに入れる
zh: 加入购物车 | 加入購物車 | 添加到购物车 | 放入购物袋
"""
BUYING = """
en: Buy | Buy now | Buy it now | Order now | Pre-order | Purchase | Place bid
de: Kaufen | Jetzt kaufen | Jetzt bestellen | Vorbestellen
fr: Acheter | Commander | Précommander
it: Acquista | Acquista ora | Compra subito
es: Comprar | Comprar ahora
pt: Comprar | Comprar agora
nl: Bestellen | Koop nu
sv: Köp | Köp nu
no: Kjøp
da: Køb nu
fi: Osta | Osta nyt
pl: Kup teraz | Kup
cs: Koupit | Objednat
sk: Kúpiť
hu: Megveszem | Megrendelem
ro: Cumpără acum
bg: Купи | Поръчай
sl: Naroči | Kupi
el: Αγορά | Αγοράστε τώρα
tr: Satın Al | Hemen Al
ru: Купить | Купить в 1 клик | Заказать
uk: Купити | Замовити
he: קנה עכשיו | לרכישה
ar: اشتر الآن | شراء الآن
th: ซื้อเลย | สั่งซื้อ
vi: Mua ngay
id: Beli sekarang
ko: 구매하기 | 바로구매
ja: 購入する | 今すぐ購入 | 注文する
zh: 立即购买 | 立即購買
"""
WAITING = """
Select a size | Choose your size | Größe wählen | Choisir une taille | Seleziona la taglia
Selecciona tu talla | Selecione o tamanho | Kies je maat | Valitse koko | Выберите размер | Sold out
Ausverkauft | Épuisé | Esgotado | Нет в наличии | 품절 | Add
"""
OTHERS = """
View cart | Shopping cart | Cart (0) | 0 items in basket | Checkout | Zum Warenkorb | Zur Kasse
Voir le panier | Vai al carrello | Корзина | В корзине 2 товара | 장바구니 | カート | 购物车 | Added to cart
Add to wishlist | Add to compare | Buying guide | Why buy from us | Buy gift cards | Order status
Pre-order games & films | Sell | Fechar pedido | Passer la commande | Afrekenen | Přejít k pokladně
Reservar ahora | 予約する | Size guide | Add a comment
"""


@pytest.mark.parametrize(
    ("said", "kind"), [(ADDING, "add"), (BUYING, "buy"), (WAITING, "waiting"), (OTHERS, "")]
)
def test_a_label_is_read_as_what_its_control_does(said: str, kind: str) -> None:
    """It adds, buys, waits for a size, or does something else, such as leading to the cart."""
    labels = [label for line in said.strip().splitlines() for label in line.split(": ")[-1].split(" | ")]
    found = {label: read_label(label)[0] for label in labels}
    assert found == dict.fromkeys(found, kind)


def test_nothing_and_endless_labels_are_none() -> None:
    """Neither is read as a control of its own."""
    assert not read_label("")[0]
    assert not read_label("Add to cart " * 40)[0]


def test_every_language_is_looked_for() -> None:
    """The words of forty languages are known, and each language has its fast look."""
    assert len(ADD) >= 40
    assert len(BUY) >= 35
    assert ADD.keys() | BUY.keys() == STEMS.keys()
