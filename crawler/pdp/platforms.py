"""How shop platforms and their themes name what puts something into a cart: data for `buy_controls`."""

from __future__ import annotations

import re

# Carts as themes call them in class names and addresses, and what puts something there.
_CART = (
    r"(?:cart|basket|bag|trolley|warenkorb|korb|panier|carrello|carrito|carrinho|cesta|koszyka?|"
    r"kosiku?|kosika|winkelwagen|korzin[au]|sepete?)"
)
_ADD = r"(?:add|ajout(?:er)?|aggiungi|agregar|anadir|adicionar|dodaj|vlozit|pridat|toevoegen|legen)"

# Names of buttons, links and forms: Shopify, WooCommerce, Magento, OpenCart, PrestaShop, BigCommerce,
# Squarespace, Wix, Shopware, Ecwid, nopCommerce, VTEX, IdoSell and their like.
NAMES = re.compile(
    rf"{_ADD}[-_ ]?(?:(?:item|product|article|artikel|produkt|selected)s?[-_ ]?)?(?:to|2|au|al|a|"
    rf"ao|do)?[-_ ]?{_CART}"
    r"|(?:cart|basket)[-_]?add(?![a-z])|btn-cart"
    r"|buy-?(?:btn|button|now)|(?:btn|button)[-_]?(?:buy|cart|basket)|shopify-payment-button"
    r"|buy-?(?:box)?-{0,2}(?:product-?form|form|button)(?![a-z])|purchase-?(?:btn|button|form)"
    r"|in-den-warenkorb|warenkorb-?button|koupit|kup-?btn|to-?basket|(?<!go)(?<!go-)to-?cart(?![a-z])"
    r"|(?:botao|btn|button)-?(?:comprar|acheter|kaufen|kupit|acquista)|(?:comprar|acheter|kaufen|"
    r"kupit)-?(?:btn|button)"
    r"|(?<![a-z])atc-?(?:btn|button|cta)|link-?(?:buy|basket)(?![a-z])",
    re.IGNORECASE,
)
# Addresses of links and forms: Shopify, WooCommerce, Magento, osCommerce, BigCommerce, Oxid, Shopware,
# Salesforce, WebSphere, Bitrix, NetSuite, Amazon, Shoptet, Rakuten, Color Me, Cafe24 and their like.
ADDRESSES = re.compile(
    r"/cart/add|[?&]add-to-cart=|/basket/add|add[-_]?(?:(?:item|product)[-_]?)?to[-_]?(?:cart|"
    r"basket)|fnc=tobasket"
    r"|action=(?:buy_now|add_product|add2basket|buy|adpr|add_?to_?cart)|/handle-buy-box|/gate\.action\?"
    r"|/cart\.php\?(?:[^&]{0,40}&){0,4}action=add|checkout/add(?:article|product)|line-item/add"
    r"|(?:cart|basket)/?\?(?:[^&]{0,40}&){0,4}add|cart-addproduct|orderitemadd|serviceitemadd|"
    r"/addcart|wg-order\?"
    r"|/cart_items(?![a-z])|/cart/(?:items|insert)(?![a-z])|[?&]mode=cart_inn|/order/basket/?$|basket\.step\."
    r"|/(?:panier|carrello|carrito|carrinho|koszyk|basket|kosik|warenkorb|korzina|sepet|winkelwagen)/"
    r"(?:[\w-]{1,40}/){0,2}(?:add|ajout|aggiungi|agregar|adicionar|dodaj|pridat|hinzu|put|ekle|toevoegen)"
    # A page of the cart with the number of a product.
    r"|(?:cart|basket|korb|carrello|panier|koszyk|kosik|korzin\w)[\w-]{0,12}(?:\.\w{2,5})?/?\?(?:[^&]{0,40}&){0,4}"
    r"(?:id|pid|sku|aid|code|(?:prod|art|item|product)\w{0,8})=\w"
    r"|basketchange\.php|basket_add|cart_add|add_cart|cart/put|basket/put|/comprar/?$",
    re.IGNORECASE,
)
# One of them stands in whatever the pattern takes.
WORDS_OF_ADDRESSES = (
    *("add", "buy", "cart", "basket", "wg-order", "gate.action", "comprar", "panier", "carr"),
    *("korb", "korzin", "koszyk", "kosik", "sepet", "winkelwagen"),
)
# Names of buttons and fields that are sent to a shop.
FIELDS = re.compile(
    r"add[-_. ]?(?:(?:item|product)[-_]?)?(?:to|2)[-_ ]?(?:cart|basket|bag)|inwarenkorb|btn_?buy|buy_?now"
    r"|(?:^|[^a-z])(?:add_?cart|cart_?add|buy)(?:$|[^a-z])|checkout\.add|ajouter_?panier|in_?den_?warenkorb",
    re.IGNORECASE,
)
# Hidden fields, as `name=value`, that tell a shop what to do with a form: Oxid, Bitrix, osCommerce, Zen Cart,
# Miva, X-Cart, Drupal, WooCommerce, Shopware and their like.
ORDERS = re.compile(
    r"(?:fnc|action|mode|do|cmd|func|task|act|op|dispatch|option)=(?:to|add)[-_2]?\w{0,16}(?:cart|"
    r"basket|product)"
    r"|(?:action|mode|act|cmd)=(?:adpr|buy|buy_now)$|add[-_]to[-_]cart=|sadd=|inwarenkorb="
    r"|products_id=\d|cmd=_(?:(?:s-)?xclick|cart)$|form_id=(?:\w{0,40}add_to_cart|uc_product)\w{0,60}$",
    re.IGNORECASE,
)
# What a click does.
SCRIPTS = re.compile(
    rf"add.{{0,8}}{_CART}|(?:cart|basket).{{0,2}}add|insert.?cart|buy_?now|product_submit"
    rf"|(?:to|2|in)_?{_CART}\(|(?<![a-z.])(?:buy|purchase|comprar|acheter|kaufen|koupit|"
    rf"kupit)(?:_?(?:it|item|product|goods))?\(",
    re.IGNORECASE,
)
# Files of pictures that are pressed to buy: `add_to_cart.gif`, `button_in_cart.gif`.
PICTURES = re.compile(
    r"(?:add|put|in|to)[-_]?(?:to[-_]?)?(?:cart|basket|bag|korb|warenkorb|korzin\w|"
    r"panier)[^/]*\.(?:gif|png|jpe?g|svg|webp)"
    r"|(?:^|[/_-])(?:btn|but|button|bt|ico?n?)?[-_]?(?:buy|buy[-_]?(?:now|it)|order[-_]?now|"
    r"kup(?:it)?|koupit|kaufen|comprar|acheter|acquista|bestellen)"
    r"(?:[-_]?(?:btn|button|now|it|\w{2}|\d{1,2}))?\.(?:gif|png|jpe?g|svg|webp)",
    re.IGNORECASE,
)
WORDS_OF_PICTURES = (
    "cart",
    "basket",
    "bag",
    "korb",
    "korzin",
    "panier",
    "buy",
    "order",
    "kup",
    "kauf",
    "compra",
    "achet",
    "acqui",
    "bestell",
)
# Fields that ask how many.
QUANTITIES = re.compile(
    r"qty(?![a-z])|quantit(?:y|e|é|a|ies)(?![a-z])|quantidade|cantidad|(?<![a-z])(?:menge|anzahl|aantal|antal"
    r"|mnozstvi|pocet|ilosc|kolich\w{0,4}|kol-?vo|adet|amount|number_?of_?items|miktar|cantitate|darab)(?![a-z])",
    re.IGNORECASE,
)
