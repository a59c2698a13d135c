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
        r"addtocart|^to ?(?:basket|cart|trolley)$"
    ),
    "de": (
        r"in (?:den |die |meinen |deinen |ihren )?(?:waren|einkaufs|shopping-?)?(?:korb|wagen|tasche|"
        r"körbchen)|in d\. warenkorb|(?:waren|einkaufs)(?:korb|wagen) (?:legen|hinzufügen|packen)"
    ),
    "fr": (
        r"(?:ajout(?:er?|ez)?|mettre|mettez|placer)(?: \S+){0,2}? (?:au|à|a|dans|en)(?: (?:le|la|mon|"
        r"votre|ma|shopping)){0,2} (?:panier|sac|bag|caddie|caddy|chariot|cabas|commande|coffret)|"
        r"ajout(?:er)? panier|^au panier$"
    ),
    "it": (
        r"(?:aggiung(?:i|ere)|metti|inserisci|inserire|mettere)(?: \S+){0,2}? (?:al|alla|allo|nel|nella|"
        r"a)(?: tuo| mio)? (?:carrello|borsa|cesto|cestino|shopping bag|ordine|shopper)|"
        r"aggiungi all'ordine|^nel carrello"
    ),
    "es": (
        r"(?:añad(?:ir|e|a)|agr[eé]g(?:ar|a|ue|alo|ala)|poner|meter|sumar|adicionar|incluir|"
        r"llevar)(?: \S+){0,2}? (?:al|a|en|a la|a mi|en el|en la|a tu)(?: la| mi| el| tu)? (?:carrito|"
        r"carro|cesta|bolsa|bolso|compra|canasta|pedido|cesto)|^a(?:l carrito| la cesta)$"
    ),
    "ca": (
        r"(?:afeg(?:eix|iu|ir)|posa(?:r|u)?)(?: \S+){0,2}? (?:al|a la|dins la|dins el)(?: meva| teva)? "
        r"(?:cistell|carret|bossa)\w*"
    ),
    "pt": (
        r"(?:adicion(?:ar|e)|inserir|colocar|incluir|por|pôr|juntar|coloque)(?: \S+){0,2}? (?:ao|no|na|à|a|"
        r"em)(?: meu| minha)? (?:carrinho|cesto|cesta|sacola|saco|compras|carro)"
    ),
    "nl": (
        r"(?:in|aan|naar)(?: mijn| je| de| den| het| jouw)? winkel(?:wagen(?:tje)?|mand(?:je)?|tas)|"
        r"in(?: mijn| je| de| het)? (?:wagen|mandje|mand)|"
        r"(?:voeg toe|toevoegen) aan (?:mand|tas)|in shopping ?bag"
    ),
    "sv": r"lägg(?: till)? i (?:varukorg|kundvagn|kundkorg|korg|shoppingbag|shopping bag|kasse|väska)\w*",
    "no": r"legg(?: til)? i (?:handlekurv|kurv|handlevogn|handlepose|handleveske)\w*|^til handlekurv$",
    "da": r"(?:læg|tilføj|kom|føj)(?: \S+)? (?:i|til) (?:indkøbs)?(?:kurv|vogn|taske|pose)\w*",
    "fi": r"(?:lisää|siirrä|laita|vie) (?:\S+ )?(?:osto\w*|kori|kassi|ostoskori|kärry)\w*|^ostoskoriin$",
    "is": r"(?:setja|bæta) (?:í|við) (?:innkaupa)?(?:körfu|kerru)\w*",
    "et": r"(?:lisa|pane) (?:ostu)?korvi|^ostukorvi$",
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
    "bg": (
        r"(?:добави|добавяне|постави|сложи)(?: \S+)? в (?:количка|кошница|кошниц)\w*|^в (?:количката|"
        r"кошницата)"
    ),
    "hr": r"(?:dodaj(?:te)?|stavi(?:te)?|ubaci)?(?: \S+)? ?u (?:košaricu|korpu|torbu|kolica)",
    "sr": r"(?:додај(?:те)?|стави)? ?у (?:корпу|кошарицу|колица)",
    "sl": r"v (?:nakupovalno )?(?:košarico|voziček)",
    "mk": r"(?:додади|додај|стави) во (?:кошничка|кошница|количка)\w*",
    "sq": r"shto(?:je)? në (?:shportë|karrocë)\w*",
    "el": r"στο (?:καλάθι|καλαθι)|προσθήκη σε καλάθι",
    "tr": r"sepet(?:e|ine|ime?)? (?:ekle|at)\w*",
    "ru": r"(?:добавить|положить|отложить|добавь|кинуть)? ?в (?:корзину|корзинку|заказ)|добавить к заказу",
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
        r"入れる|追加|商品)|買い物(?:かご|カゴ)[にへ]|カートイン|^カートへ$"
    ),
    "zh": (
        r"(?:加入|放入|添加到|加到|加進|加进|添加至|放進|放进|加至|新增至|"
        r"添加|加)\s?(?:到)?\s?(?:进货单|购物车|購物車|购物袋|購物袋|购物篮|購物籃|購物籠)"
    ),
}

BUY = {
    "en": (
        r"buy|buy (?:it )?(?:now|online|this|here|today|item|product|new|direct|from .{1,20}|"
        r"for .{1,20})|buy .{0,24}? now|purchase(?: now)?|pre[- ]?order(?: (?:now|today|here|yours))?|order|"
        r"order (?:now|online|it|this|here|today)|order this item|add to \S+ cart|"
        r"1-click buy|buy with .{1,20}|add to shopping|place (?:a |your )?bid|bid now|buy (?:this|"
        r"the) .{1,20}|"
        r"buy (?:in (?:one|1) click|securely|used|digital .{1,20}|\d{1,2})|click (?:here )?to (?:buy|order)|"
        r"order (?:this )?(?:product|item)|back ?-?order(?: now)?|i want this|get (?:it|yours)(?: now|"
        r" here| today)?|"
        r"available for pre-?order"
    ),
    "de": (
        r"(?:jetzt |sofort[ -]|direkt |online |hier |gleich )?(?:kaufen|(?:vor|mit)?bestellen)|"
        r"kostenpflichtig bestellen|jetzt (?:bieten|zugreifen|sichern)|in die bestellliste"
    ),
    "fr": (
        r"acheter|acheter (?:maintenant|ce produit|cet article|en ligne|en 1 clic)|"
        r"j[e']? ?(?:l')?achète|commander|"
        r"je (?:commande|craque|le veux)|"
        r"commander (?:maintenant|cet article)|précommander|pré-commander|achat (?:immédiat|rapide|"
        r"express)|acheter .{1,12}"
    ),
    "it": (
        r"acquista|acquista (?:ora|subito|adesso|online)|compra|compra (?:ora|subito|adesso|online)|"
        r"ordina|ordina (?:ora|subito)|preordina|acquista .{1,12}|(?:acquista|compra)lo(?: subito|"
        r" ora)?|lo voglio"
    ),
    "es": (
        r"comprar|comprar (?:ahora|ya|online|este producto)|¡?cómpralo(?: ya| ahora)?!?|lo compro|compra ya|"
        r"compra ahora|lo quiero|pedir|pedir ahora|encargar|preordenar"
    ),
    "ca": r"compra(?:r)?(?: ara| ja)?|encarrega(?:r)?",
    "pt": (
        r"comprar|comprar (?:agora|já|online|produto|com .{1,12})|eu quero|compre agora|encomendar|"
        r"pré-encomendar|"
        r"quero comprar"
    ),
    "nl": (
        r"(?:nu |direct |online )?(?:kopen|bestellen)|(?:koop|bestel)(?: nu| direct)?|"
        r"ik wil (?:bestellen|dit)|pre-?order nu|in bestelling"
    ),
    "sv": r"köp|köp (?:nu|direkt|online|här)|handla(?: nu)?|beställ|beställ nu|förhandsboka|förboka",
    "no": r"kjøp|kjøp (?:nå|online)|bestill|bestill nå|forhåndsbestill",
    "da": r"køb|køb (?:nu|online|her)|bestil|bestil nu|forudbestil",
    "fi": r"osta|osta (?:nyt|heti|tuote)|tilaa|tilaa (?:nyt|heti)|ennakkotilaa",
    "is": r"kaupa|kaupa núna|panta",
    "et": r"osta|osta kohe|telli|telli kohe|ostan",
    "lv": r"pirkt|pirkt tagad|pasūtīt|nopirkt",
    "lt": r"pirkti|pirkti dabar|užsakyti|pirkti prekę",
    "pl": r"kup|kup (?:teraz|online|produkt)|kupuję|kupuj|zamów|zamów teraz|zamawiam|kup i zapłać",
    "cs": (
        r"koupit|koupit (?:ihned|teď|nyní|hned)|(?:hned|ihned) koupit|kupuji|objednat|"
        r"objednat (?:nyní|zboží)|předobjednat"
    ),
    "sk": r"kúpiť|kúpiť (?:teraz|ihneď|hneď)|kupujem|objednať|objednať teraz|predobjednať",
    "hu": (
        r"(?:most )?megveszem|veszem|megrendelem|rendelés|rendelem|vásárlás|megvásárlás|vásárolok|"
        r"megrendelés|"
        r"előrendelés"
    ),
    "ro": r"cumpără|cumpără (?:acum|online)|cumpara|cumpara acum|comandă|comandă acum|precomandă",
    "bg": r"купи|купи (?:сега|веднага|онлайн)|поръчай|поръчай сега|поръчка|бърза поръчка",
    "hr": r"kupi|kupi (?:odmah|sada|sad)|naruči|naruči (?:odmah|sada)|kupite|naručite",
    "sr": r"купи|купи (?:одмах|сада)|наручи|поручи|poruči|poruči odmah",
    "sl": r"kupi|kupi (?:zdaj|takoj)|naroči|naroči (?:zdaj|takoj)|nakup",
    "mk": r"купи|купи сега|нарачај",
    "sq": r"blej|blej tani|bli tani|porosit",
    "el": r"αγορά|αγορά τώρα|αγόρασ[εέ](?: το| τώρα)?|αγοράστε(?: τώρα)?|παραγγελία|αγορά με .{1,12}",
    "tr": r"satın al|hemen al|şimdi al|hemen satın al|şimdi satın al|sipariş ver|ön sipariş",
    "ru": (
        r"купить|купить (?:сейчас|онлайн|в (?:один|1) клик|в кредит|товар|сразу)|заказать|"
        r"купить (?:этот товар|в рассрочку)|хочу купить|заказ(?:ать)? в (?:один|1) клик|"
        r"заказать (?:сейчас|онлайн|товар)|предзаказ|оформить предзаказ|быстрый заказ|быстрая покупка"
    ),
    "uk": (
        r"купити|купити (?:зараз|онлайн|в (?:один|1) клік|товар)|замовити|замовити зараз|"
        r"передзамовлення|швидке замовлення|придбати"
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
        r"(?:立即|马上|馬上|直接|現在|现在|立刻|我要|点击|點擊|搶先)?(?:购买|購買|抢购|"
        r"搶購|下单|下單|订购|訂購|预购|預購|预订|預訂)|我要[买買]"
    ),
}

# Whole labels of a button that waits to buy: a size is to be chosen first, or nothing is left. On a link they
# would mean something else.
WAITING = {
    "en": (
        r"add|add item|(?:please )?(?:select|choose|pick) (?:a |an |your |the )?"
        r"(?:size|colou?r|options?|style|variant|model|quantity)s?|sold out(?: online)?|"
        r"(?:temporarily |currently )?(?:out of stock|unavailable)|not available|"
        r"(?:personali[sz]e|customi[sz]e)(?: it| now)?|i'?ll take it"
    ),
    "de": (
        r"(?:bitte )?(?:deine |eine )?(?:größe|variante|farbe|ausführung) (?:aus)?wählen|ausverkauft|"
        r"nicht auf lager|(?:derzeit |momentan )?nicht (?:verfügbar|lieferbar)|hinzufügen"
    ),
    "fr": (
        r"(?:choisi(?:r|ssez)|sélectionne[rz]) (?:une|la|ma|votre) (?:taille|couleur|option)|épuisé|"
        r"rupture de stock|victime de son succès|ajouter|(?:actuellement )?indisponible"
    ),
    "it": (
        r"(?:seleziona|scegli) (?:la |una |il |un |la tua )?(?:taglia|colore|opzione|misura)|esaurito|"
        r"non disponibile|aggiungi"
    ),
    "es": (
        r"(?:selecciona|elige|escoge|seleccionar|elegir) (?:tu |una |la |el |un )?(?:talla|color|opción|"
        r"opciones)|agotado|sin stock|no disponible|añadir|agregar"
    ),
    "pt": (
        r"(?:seleciona|selecione|escolha|escolhe) (?:o |um |seu |a |uma )?(?:tamanho|cor|opção)|esgotado|"
        r"indisponível|adicionar"
    ),
    "nl": (
        r"(?:kies|selecteer) (?:je |een |uw )?(?:maat|kleur|optie)|uitverkocht|niet op voorraad|"
        r"toevoegen|voeg toe"
    ),
    "sv": r"välj (?:din )?(?:storlek|färg)|slutsåld|slut i lager|lägg till",
    "no": r"velg (?:din )?(?:størrelse|farge)|utsolgt|legg til|ikke på lager",
    "da": r"vælg (?:din )?(?:størrelse|farve)|udsolgt|tilføj|ikke på lager",
    "fi": r"valitse (?:koko|väri)|loppuunmyyty|loppu varastosta|lisää",
    "pl": r"wybierz (?:rozmiar|kolor|wariant)|wyprzedane|brak w magazynie|niedostępny|dodaj",
    "cs": r"(?:vyberte|zvolte) (?:velikost|variantu|barvu)|vyprodáno|není skladem|přidat",
    "sk": r"(?:vyberte|zvoľte) (?:veľkosť|variant|farbu)|vypredané|pridať",
    "hu": r"(?:válassz|válasszon) (?:méretet|színt)|elfogyott|nincs (?:raktáron|készleten)",
    "ro": r"(?:alege|selectează) (?:mărimea|culoarea|o opțiune)|stoc epuizat|indisponibil|adaugă|adauga",
    "bg": r"избери размер|изчерпан(?:о|а)?|няма наличност|добави",
    "el": r"επιλέξτε (?:μέγεθος|χρώμα)|εξαντλημένο|εξαντλήθηκε|προσθήκη",
    "tr": r"beden seç(?:in|iniz)?|tükendi|stokta yok",
    "ru": (r"(?:выбер(?:ите|и)|выбрать) (?:размер|цвет|вариант)|нет в наличии|добавить"),
    "uk": r"(?:оберіть|виберіть|обрати) (?:розмір|колір)|немає в наявності|додати",
    "ja": r"売り切れ|在庫切れ|sold out|サイズを選択(?:する)?|選択してください",
    "ko": r"품절|일시품절",
    "zh": r"售罄|缺货|缺貨|已售完|请选择.{0,6}",
}

# A label with one of these is about something else, whatever it says beside it.
NOT_BUYING = (
    r"\btickets?\b|wish ?list|wunschliste|merkliste|merkzettel|favou?rit|envies|souhaits|preferiti|desejos|"
    r"deseos|избранно|ulubion|oblíben|\bcompar|vergleich|registry|gift ?card|\bguide|how to|\bhelp|"
    r"\bterms|history|status|\btrack\b|\bsample|quote|calendar|\badded|\bviews?\b|\bshow\b|"
    r"zum warenkorb(?! hinzu)|"
    r"zur kasse|check ?out|kasse gehen|continue|weiter|voir|vai al|ver |перейти|оформ|your order|"
    r"(?:fechar|finalizar|concluir|terminar|tramitar|realizar|completar|hacer) (?:o |el |la |mi |"
    r"meu )?(?:pedido|compra)|"
    r"(?:passer|valider|finaliser) (?:la |ma |votre |une )?commande|procedi|concludi|completa l'ordine|"
    r"afrekenen|naar (?:de )?kassa|till kassan|til kassen|kassalle|(?:przejdz|idz) do|do kasy|"
    r"zloz zamowienie|"
    r"k pokladne|do pokladny|penztar|finalizeaza|vezi cosul|odeme|sepete git|レジに進む|"
    r"ご購入手続き|去结算|結帳|结算|주문서|"
    r"my order|\bempty|\bremove|\bupdate|\bedit\b|why buy|\bsell\b|\btrade\b|newsletter|gift wrap|buy more|"
    r"shopping ?list|einkaufs(?:liste|zettel)|boodschappenlijst|lista della spesa|handleliste|inkopslista|"
    r"liste de|lista de|order by|order status|mieten|\brent\b"
)

# For each language, beginnings of words of which one stands in every label that its patterns take.
STEMS = {
    "en": (
        "cart addtocart 2cart shoppingcart bag basket trolley tote order kit box shopping buy "
        "purch pre add size sold stock bid back want get select choose pick colo option unavailable "
        "available personal custom take"
    ),
    "de": (
        "waren einkauf korb wagen tasche körbchen shopping kauf bestell vorbestell sichern "
        "zugreif bag größe ausverkauft lager bieten mitbestell sofort variante farbe ausführung "
        "verfügbar lieferbar hinzufügen"
    ),
    "fr": (
        "panier sac bag cadd chariot cabas command coffret achet achat précommand taille épuisé stock succès "
        "craque veux j'achète l'achète ajouter indisponible "
        "couleur option"
    ),
    "it": (
        "carrello borsa cest shopping ordin all'ordine shopper acquist compr preordin taglia esaurito "
        "disponibile voglio aggiungi colore opzione misura"
    ),
    "es": (
        "carr cesta bols compr cómpr canasta pedido cesto quiero reserv pedir encarg "
        "preordenar talla agotado stock color opci disponible añadir agregar"
    ),
    "ca": "cistell carret bossa compra encarrega",
    "pt": (
        "carr cesto cesta sacola saco compr encomend quero tamanho esgotado indisponível cor opção adicionar"
    ),
    "nl": (
        "winkel wagen mand kopen koop bestel tas order preorder "
        "maat uitverkocht ik shopping kleur optie voorraad toevoegen voeg bestelling"
    ),
    "sv": (
        "varukorg kund korg shopping kasse väska köp "
        "handla beställ förhandsboka förboka storlek slut färg lägg"
    ),
    "no": "handle kurv kjøp bestill forhåndsbestill størrelse utsolgt farge legg lager",
    "da": "indkøb kurv vogn taske pose køb bestil forudbestil størrelse udsolgt farve tilføj lager",
    "fi": "osto kori kassi osta kärry tilaa ennakkotilaa koko loppu väri lisää",
    "is": "innkaupa körfu kerru kaupa panta",
    "et": "ostu korvi osta telli",
    "lv": "groz pirkt pasūtīt nopirkt",
    "lt": "krepšel pirkti užsakyti",
    "pl": "koszyk torb wózk kup zam rozmiar wyprzedan brak kolor wariant niedostępny dodaj",
    "cs": (
        "košík tašk vozík koupit kupuj objedn předobjedn "
        "vložit velikost vyprodán variantu barvu skladem přidat"
    ),
    "sk": "košík tašk vozík kúp kupuj objedn predobjedn veľkosť vypredan variant farbu pridať",
    "hu": "kosár bekosár megv megrendel vesz rendel vásár előrendel méret elfogyott színt raktáron készleten",
    "ro": "coș coş cos comand cumpăr cumpar precomand mărime stoc culoarea opțiune indisponibil adaug",
    "bg": "колич кошниц купи поръч бърза размер изчерпан наличност добави",
    "hr": "košaric korp torb kolica kup naruč",
    "sr": "корп кошариц колиц купи наручи поручи poruči",
    "sl": "košarico voziček kupi naroč nakup",
    "mk": "кошниц кошничк колич купи нарача",
    "sq": "shport karrocë blej bli porosit",
    "el": "καλάθι αγορά αγόρασε αγοράστε παραγγελ μέγεθος εξαντλ χρώμα προσθήκη",
    "tr": "sepet satın al sipariş beden tükendi stokta",
    "ru": "корзин заказ купить покупк предзаказ размер наличии цвет вариант добавить заказать",
    "uk": "кошик корзин купити замов передзамов розмір наявності придбати колір додати наявність",
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
    "ja": "カート かご カゴ 籠 バッグ バスケット 購入 買 注文 予約 売り切れ 在庫切れ 選択 sold",
    "zh": "购 購 下单 下單 订 訂 結帳 预 預 售罄 缺货 缺貨 已售完 货 貨 买 買 预 預 请选择",
}
