"""How buy controls are labelled, by language: data for `buy_labels`.

Written in lower case and with accents; labels and patterns are folded alike before they meet.
A space stands for any white space. `ADD` patterns may stand anywhere in a label, `BUY` ones are whole labels.
"""
# ruff: file-ignore[ambiguous-unicode-character-string] - the words are written in the letters of their languages

ADD = {
    "en": (
        r"(?:add|put|place|drop|pop)(?: \S+){0,3}? (?:to|in|into|on)(?: (?:my|your|the|shopping|"
        r"grocery|gift)){0,2} (?:cart|bag|basket|trolley|tote|order|kit ?bag|box|shopping|crate|"
        r"shopping-?cart|shoppingcart)|add (?:cart|basket|2cart)|add-to-(?:cart|bag|basket)|"
        r"addtocart|pre[- ]?order now|^to (?:basket|cart|trolley)$"
    ),
    "de": (
        r"in (?:den |die |meinen |deinen |ihren )?(?:waren|einkaufs|shopping-?)?(?:korb|wagen|tasche|"
        r"körbchen)|(?:waren|einkaufs)(?:korb|wagen) (?:legen|hinzufügen|packen)|jetzt vorbestellen"
    ),
    "fr": (
        r"(?:ajout(?:er?|ez)?|mettre|mettez|placer)(?: \S+){0,2}? (?:au|à|a|dans|en)(?: (?:le|la|mon|"
        r"votre|ma)){0,1} (?:panier|sac|caddie|caddy|chariot|cabas|commande|coffret)|"
        r"ajout(?:er)? panier"
    ),
    "it": (
        r"(?:aggiung(?:i|ere)|metti|inserisci|inserire|mettere)(?: \S+){0,2}? (?:al|alla|nel|nella|"
        r"a)(?: tuo| mio)? (?:carrello|borsa|cesto|cestino|shopping bag|ordine|shopper)|^nel carrello"
    ),
    "es": (
        r"(?:añad(?:ir|e|a)|agreg(?:ar|a|ue)|poner|meter|sumar|adicionar|incluir|"
        r"llevar)(?: \S+){0,2}? (?:al|a|en|a la|a mi|en el|en la|a tu)(?: la| mi| el| tu)? (?:carrito|"
        r"carro|cesta|bolsa|bolso|compra|canasta|pedido|cesto)"
    ),
    "pt": (
        r"(?:adicion(?:ar|e)|colocar|incluir|por|pôr|juntar|coloque)(?: \S+){0,2}? (?:ao|no|na|à|a|"
        r"em)(?: meu| minha)? (?:carrinho|cesto|cesta|sacola|saco|compras|carro)"
    ),
    "nl": (
        r"(?:in|aan|naar)(?: mijn| je| de| het| jouw)? winkel(?:wagen(?:tje)?|mand(?:je)?|tas)|"
        r"in(?: mijn| je| de| het)? (?:wagen|mandje|mand)|voeg toe aan (?:mand|tas)"
    ),
    "sv": r"lägg(?: till)? i (?:varukorg|kundvagn|kundkorg|korg|shoppingbag|shopping bag|kasse|väska)\w*",
    "no": r"legg(?: til)? i (?:handlekurv|kurv|handlevogn|handlepose|handleveske)\w*",
    "da": r"(?:læg|tilføj|kom|føj)(?: \S+)? (?:i|til) (?:indkøbs)?(?:kurv|vogn|taske|pose)\w*",
    "fi": r"(?:lisää|siirrä|laita|vie) (?:\S+ )?(?:osto\w*|kori|kassi|ostoskori|kärry)\w*",
    "is": r"(?:setja|bæta) (?:í|við) (?:innkaupa)?(?:körfu|kerru)\w*",
    "et": r"(?:lisa|pane) (?:ostu)?korvi",
    "lv": r"(?:pievienot|ielikt|likt)(?: \S+)? groz\w*",
    "lt": r"į (?:\S+ )?krepšel\w*",
    "pl": r"do (?:koszyka|torby|wózka)",
    "cs": r"do (?:nákupního )?(?:košíku|tašky|vozíku)",
    "sk": r"do (?:nákupného )?(?:košíka|tašky|vozíka)",
    "hu": r"kosárba(?:n)?|(?:a |be)?kosárhoz ad\w*|hozzáad\w* a kosárhoz",
    "ro": (
        r"(?:adaugă|adauga|pune|adăugați)(?: \S+)? (?:în|la) (?:coș|coşul|cosul|cos|comandă)\w*|"
        r"^în coș\w*"
    ),
    "bg": r"(?:добави|постави|сложи)(?: \S+)? в (?:количка|кошница|кошниц)\w*|^в (?:количката|кошницата)",
    "hr": r"(?:dodaj(?:te)?|stavi(?:te)?|ubaci)?(?: \S+)? ?u (?:košaricu|korpu|torbu|kolica)",
    "sr": r"(?:додај(?:те)?|стави)? ?у (?:корпу|кошарицу|колица)",
    "sl": r"v (?:nakupovalno )?(?:košarico|voziček)",
    "mk": r"(?:додади|додај|стави) во (?:кошничка|кошница|количка)\w*",
    "sq": r"shto(?:je)? në (?:shportë|karrocë)\w*",
    "el": r"στο (?:καλάθι|καλαθι)|προσθήκη σε καλάθι",
    "tr": r"sepete? (?:ekle|at)\w*|sepetime? ekle",
    "ru": r"(?:добавить|положить|отложить|добавь|кинуть)? ?в (?:корзину|корзинку|заказ)",
    "uk": r"(?:до|в|у) (?:кошика?|корзину)",
    "be": r"у кошык",
    "kk": r"себетке(?: (?:қосу|салу))?",
    "az": r"səbətə (?:at|əlavə et)",
    "ka": r"კალათაში(?: დამატება)?",
    "hy": r"ավելացնել (?:զամբյուղ|զամբյուղին|զամբյուղում)",
    "he": (
        r"(?:הוסף|הוספה|הוסיפו|הוסיפי|הוספת|שים|הכנס)(?: \S+)? (?:לסל|לעגלה|לסל הקניות|לעגלת הקניות|"
        r"בסל)|^לסל"
    ),
    "ar": (
        r"(?:أضف|اضف|إضافة|اضافة|أضِف|ضع)(?: \S+)? (?:إلى|الى|في|ل)?\s?(?:السلة|سلة|للسلة|عربة|العربة|"
        r"الحقيبة|حقيبة)\w*"
    ),
    "fa": r"(?:افزودن|اضافه)(?: کردن)? به سبد",
    "ur": r"کارٹ میں (?:شامل|ڈالیں)",
    "hi": r"कार्ट में|बैग में (?:डालें|जोड़ें)",
    "bn": r"(?:কার্টে|ব্যাগে) যোগ",
    "ta": r"கார்ட்டில் சேர்",
    "th": r"(?:ใส่|ลง|เพิ่ม|หยิบ|ไปยัง|ไปที่)\S{0,12}(?:ตะกร้า|รถเข็น|ถุง)",
    "vi": r"(?:thêm|cho|bỏ)(?: \S+)? vào (?:giỏ|túi)",
    "id": (
        r"(?:tambah|tambahkan|masukkan|masukan)(?: \S+)? (?:ke )?(?:dalam )?(?:keranjang|troli|bakul|"
        r"tas|beg)|\+ ?keranjang"
    ),
    "tl": r"idagdag sa (?:cart|bag)",
    "ko": r"(?:장바구니|쇼핑백|카트|쇼핑카트|바스켓)에? ?(?:담기|넣기|추가|담다|넣다)",
    "ja": (
        r"(?:カート|かご|カゴ|籠|バッグ|バスケット|カートの中)(?:に|へ)(?:いれる|"
        r"入れる|追加|商品)|買い物(?:かご|カゴ)に"
    ),
    "zh": (
        r"(?:加入|放入|添加到|加到|加進|加进|添加至|放進|放进|加至|新增至|"
        r"添加)\s?(?:到)?\s?(?:购物车|購物車|购物袋|購物袋|购物篮|購物籃|購物籠)"
    ),
}

BUY = {
    "en": (
        r"buy|buy (?:it )?(?:now|online|this|here|today|item|product|new|direct|from .{1,20}|"
        r"for .{1,20})|buy .{0,24}? now|purchase(?: now)?|pre[- ]?order(?: (?:now|today|here|yours))?|order|"
        r"order (?:now|online|it|this|here|today)|order this item|add to \S+ cart|"
        r"1-click buy|buy with .{1,20}|add to shopping|place (?:a |your )?bid|bid now"
    ),
    "de": (
        r"(?:jetzt |sofort |direkt |online |hier )?(?:kaufen|bestellen|vorbestellen)|"
        r"kostenpflichtig bestellen|jetzt bieten"
    ),
    "fr": (
        r"acheter|acheter (?:maintenant|ce produit|cet article|en ligne|en 1 clic)|j'achète|commander|"
        r"commander (?:maintenant|cet article)|précommander|pré-commander|achat (?:immédiat|rapide|"
        r"express)|acheter .{1,12}"
    ),
    "it": (
        r"acquista|acquista (?:ora|subito|adesso|online)|compra|compra (?:ora|subito|adesso|online)|"
        r"ordina|ordina (?:ora|subito)|preordina|acquista .{1,12}"
    ),
    "es": (
        r"comprar|comprar (?:ahora|ya|online|este producto)|¡?cómpralo(?: ya)?!?|compra ya|"
        r"compra ahora|lo quiero|pedir|pedir ahora|encargar|preordenar"
    ),
    "pt": (
        r"comprar|comprar (?:agora|já|online|com .{1,12})|compre agora|encomendar|pré-encomendar|"
        r"quero comprar"
    ),
    "nl": (
        r"(?:nu |direct |online )?(?:kopen|bestellen)|(?:koop|bestel)(?: nu| direct)?|"
        r"ik wil bestellen|pre-?order nu"
    ),
    "sv": r"köp|köp (?:nu|direkt|online)|handla nu|beställ|beställ nu|förhandsboka",
    "no": r"kjøp|kjøp (?:nå|online)|bestill|bestill nå|forhåndsbestill",
    "da": r"køb|køb (?:nu|online)|bestil|bestil nu|forudbestil",
    "fi": r"osta|osta (?:nyt|heti|tuote)|tilaa|tilaa (?:nyt|heti)|ennakkotilaa",
    "is": r"kaupa|kaupa núna|panta",
    "et": r"osta|osta kohe|telli|telli kohe|ostan",
    "lv": r"pirkt|pirkt tagad|pasūtīt|nopirkt",
    "lt": r"pirkti|pirkti dabar|užsakyti|pirkti prekę",
    "pl": r"kup|kup (?:teraz|online|produkt)|kupuję|kupuj|zamów|zamów teraz|zamawiam|kup i zapłać",
    "cs": (r"koupit|koupit (?:ihned|teď|nyní|hned)|kupuji|objednat|objednat (?:nyní|zboží)|předobjednat"),
    "sk": r"kúpiť|kúpiť (?:teraz|ihneď|hneď)|kupujem|objednať|objednať teraz|predobjednať",
    "hu": (
        r"megveszem|veszem|megrendelem|rendelés|rendelem|vásárlás|megvásárlás|vásárolok|megrendelés|"
        r"előrendelés"
    ),
    "ro": r"cumpără|cumpără (?:acum|online)|cumpara|cumpara acum|comandă|comandă acum|precomandă",
    "bg": r"купи|купи (?:сега|веднага|онлайн)|поръчай|поръчай сега|поръчка|бърза поръчка",
    "hr": r"kupi|kupi (?:odmah|sada|sad)|naruči|naruči (?:odmah|sada)|kupite|naručite",
    "sr": r"купи|купи (?:одмах|сада)|наручи|поручи|poruči|poruči odmah",
    "sl": r"kupi|kupi (?:zdaj|takoj)|naroči|naroči (?:zdaj|takoj)|nakup",
    "mk": r"купи|купи сега|нарачај",
    "sq": r"blej|blej tani|bli tani|porosit",
    "el": r"αγορά|αγορά τώρα|αγόρασε(?: το| τώρα)?|αγοράστε(?: τώρα)?|παραγγελία|αγορά με .{1,12}",
    "tr": r"satın al|hemen al|şimdi al|hemen satın al|şimdi satın al|sipariş ver|ön sipariş",
    "ru": (
        r"купить|купить (?:сейчас|онлайн|в (?:один|1) клик|в кредит|товар|сразу)|заказать|"
        r"заказать (?:сейчас|онлайн|товар)|предзаказ|оформить предзаказ|быстрый заказ|быстрая покупка"
    ),
    "uk": (
        r"купити|купити (?:зараз|онлайн|в (?:один|1) клік|товар)|замовити|замовити зараз|"
        r"передзамовлення|швидке замовлення"
    ),
    "be": r"купіць|заказаць|замовіць",
    "kk": r"сатып алу|тапсырыс беру",
    "az": r"indi al|satın al|sifariş et|almaq",
    "ka": r"ყიდვა|შეძენა|იყიდე",
    "hy": r"գնել|գնել հիմա|պատվիրել",
    "he": (
        r"קנה|קנה עכשיו|קני עכשיו|קנו עכשיו|לקנייה|לקניה|קניה|קנייה|רכישה|לרכישה|לרכישה מיידית|"
        r"רכוש עכשיו|הזמן|הזמן עכשיו|להזמנה"
    ),
    "ar": r"اشتر|اشتري|اشتر الآن|اشتري الآن|شراء|شراء الآن|اطلب الآن|اشترِ الآن",
    "fa": r"خرید|خرید کنید|خرید محصول|سفارش|ثبت سفارش",
    "hi": r"(?:अभी )?खरीदें|अभी ऑर्डर करें",
    "th": r"ซื้อ|ซื้อเลย|ซื้อทันที|ซื้อสินค้า|ซื้อตอนนี้|สั่งซื้อ|สั่งซื้อสินค้า|สั่งซื้อเลย|พรีออเดอร์",
    "vi": r"mua|mua (?:ngay|hàng|ngay bây giờ|online)|đặt (?:mua|hàng)|đặt (?:mua|hàng) ngay|chọn mua",
    "id": r"beli|beli (?:sekarang|langsung|online)|pesan sekarang|beli terus|pra-?pesan",
    "ko": (
        r"(?:바로 ?|즉시 ?|지금 ?|간편 ?)?(?:구매|구입|주문)(?:하기)?|"
        r"사기|예약 ?구매(?:하기)?"
    ),
    "ja": (
        r"(?:今すぐ|すぐに|ご)?(?:購入|買う|注文|予約購入|予約注文|お買い上げ)(?:する|手続きへ|"
        r"へ進む|はこちら)?|今すぐ買う|ご購入はこちら"
    ),
    "zh": (
        r"(?:立即|马上|馬上|直接|現在|现在|立刻|我要|点击|點擊)?(?:购买|購買|抢购|"
        r"搶購|下单|下單|订购|訂購|预购|預購)"
    ),
}

# Whole labels of a button that waits to buy: a size is to be chosen first, or nothing is left. On a link they
# would mean something else.
WAITING = {
    "en": r"add|(?:please )?(?:select|choose|pick) (?:a |your |the )?size|sold out|out of stock",
    "de": r"(?:bitte )?(?:deine |eine )?größe (?:aus)?wählen|ausverkauft|nicht auf lager",
    "fr": (
        r"(?:choisi(?:r|ssez)|sélectionne[rz]) (?:une|la|ma|votre) taille|épuisé|"
        r"rupture de stock|victime de son succès"
    ),
    "it": r"(?:seleziona|scegli) (?:la |una |la tua )?taglia|esaurito|non disponibile",
    "es": r"(?:selecciona|elige|escoge|seleccionar|elegir) (?:tu |una |la )?talla|agotado|sin stock",
    "pt": r"(?:seleciona|selecione|escolha|escolhe) (?:o |um |seu )?tamanho|esgotado|indisponível",
    "nl": r"(?:kies|selecteer) (?:je |een |uw )?maat|uitverkocht",
    "sv": r"välj (?:din )?storlek|slutsåld|slut i lager",
    "no": r"velg (?:din )?størrelse|utsolgt",
    "da": r"vælg (?:din )?størrelse|udsolgt",
    "fi": r"valitse koko|loppuunmyyty|loppu varastosta",
    "pl": r"wybierz rozmiar|wyprzedane|brak w magazynie",
    "cs": r"(?:vyberte|zvolte) velikost|vyprodáno",
    "sk": r"(?:vyberte|zvoľte) veľkosť|vypredané",
    "hu": r"(?:válassz|válasszon) méretet|elfogyott",
    "ro": r"(?:alege|selectează) mărimea|stoc epuizat",
    "el": r"επιλέξτε μέγεθος|εξαντλημένο",
    "tr": r"beden seç(?:in|iniz)?|tükendi",
    "ru": r"выбер(?:ите|и) размер|выбрать размер|нет в наличии",
    "uk": r"(?:оберіть|виберіть|обрати) розмір|немає в наявності",
    "ja": r"売り切れ|在庫切れ|sold out",
    "ko": r"품절|일시품절",
    "zh": r"售罄|缺货|缺貨|已售完",
}

# A label with one of these is about something else, whatever it says beside it.
NOT_BUYING = (
    r"\btickets?\b|wish ?list|wunschliste|merkliste|merkzettel|favou?rit|envies|souhaits|preferiti|desejos|"
    r"deseos|избранно|ulubion|oblíben|\bcompar|vergleich|registry|gift ?card|\bguide|how to|\bhelp|"
    r"\bterms|history|status|\btrack\b|\bsample|quote|calendar|\badded|\bviews?\b|\bshow\b|zum warenkorb|"
    r"zur kasse|checkout|kasse gehen|continue|weiter|voir|vai al|ver |перейти|оформ|your order|"
    r"my order|\bempty|\bremove|\bupdate|\bedit\b|why buy|\bsell\b|\btrade\b|newsletter|gift wrap|buy more|"
    r"liste de|lista de|order by|order status|mieten|\brent\b"
)

# For each language, beginnings of words of which one stands in every label that its patterns take.
STEMS = {
    "en": (
        "cart addtocart 2cart shoppingcart bag basket trolley tote order kit box shopping buy "
        "purch pre add size sold stock bid"
    ),
    "de": (
        "waren einkauf korb wagen tasche körbchen shopping kauf bestell vorbestell sichern "
        "zugreif bag größe ausverkauft lager bieten"
    ),
    "fr": "panier sac cadd chariot cabas command coffret achet achat précommand taille épuisé stock succès",
    "it": "carrello borsa cest shopping ordin shopper acquist compr preordin taglia esaurito disponibile",
    "es": (
        "carr cesta bols compr cómpr canasta pedido cesto quiero reserv pedir encarg "
        "preordenar talla agotado stock"
    ),
    "pt": "carr cesto cesta sacola saco compr encomend quero tamanho esgotado indisponível",
    "nl": "winkel wagen mand kopen koop bestel tas order preorder maat uitverkocht",
    "sv": "varukorg kund korg shopping kasse väska köp handla beställ förhandsboka storlek slut",
    "no": "handle kurv kjøp bestill forhåndsbestill størrelse utsolgt",
    "da": "indkøb kurv vogn taske pose køb bestil forudbestil størrelse udsolgt",
    "fi": "osto kori kassi osta kärry tilaa ennakkotilaa koko loppu",
    "is": "innkaupa körfu kerru kaupa panta",
    "et": "ostu korvi osta telli",
    "lv": "groz pirkt pasūtīt nopirkt",
    "lt": "krepšel pirkti užsakyti",
    "pl": "koszyk torb wózk kup zam rozmiar wyprzedan brak",
    "cs": "košík tašk vozík koupit kupuj objedn předobjedn vložit velikost vyprodán",
    "sk": "košík tašk vozík kúp kupuj objedn predobjedn veľkosť vypredan",
    "hu": "kosár bekosár megv megrendel vesz rendel vásár előrendel méret elfogyott",
    "ro": "coș coş cos comand cumpăr cumpar precomand mărime stoc",
    "bg": "колич кошниц купи поръч бърза",
    "hr": "košaric korp torb kolica kup naruč",
    "sr": "корп кошариц колиц купи наручи поручи poruči",
    "sl": "košarico voziček kupi naroč nakup",
    "mk": "кошниц кошничк колич купи нарача",
    "sq": "shport karrocë blej bli porosit",
    "el": "καλάθι αγορά αγόρασε αγοράστε παραγγελ μέγεθος εξαντλημ",
    "tr": "sepet satın al sipariş beden tükendi",
    "ru": "корзин заказ купить покупк предзаказ размер наличии",
    "uk": "кошик корзин купити замов передзамов розмір наявності",
    "be": "кошык купіць заказ замовіць",
    "kk": "себет сатып тапсырыс",
    "az": "səbət al satın sifariş",
    "ka": "კალათ ყიდვ შეძენ იყიდ",
    "hy": "զամբյուղ գնել պատվիր",
    "he": "לסל בסל לעגל קנה קני קנו לקני רכיש לרכיש רכוש הזמ להזמ",
    "ar": "السل سل للسل عرب العرب حقيب الحقيب اشتر شراء اطلب تسوق",
    "fa": "سبد خرید سفارش",
    "ur": "کارٹ",
    "hi": "कार्ट बैग खरीद ऑर्डर",
    "bn": "কার্ট ব্যাগ",
    "ta": "கார்ட்",
    "th": "ตะกร้า รถเข็น ถุง ซื้อ พรีออเดอร์",
    "vi": "giỏ túi mua đặt",
    "id": "keranjang troli bakul tas beg beli pesan prapesan",
    "tl": "cart bag",
    "ko": "장바구니 쇼핑백 카트 쇼핑카트 바스켓 구매 구입 주문 사기 품절",
    "ja": "カート かご カゴ 籠 バッグ バスケット 購入 買 注文 予約 売り切れ 在庫切れ",
    "zh": "购 購 下单 下單 订 訂 結帳 预 預 售罄 缺货 缺貨 已售完",
}
