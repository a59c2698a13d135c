"""What is said on buttons that do no harm, by language: data for `popups`.

Whole labels, in lower case; labels and words are folded alike before they meet. A label that is not here is
not pressed, however harmless it looks.
"""
# ruff: file-ignore[ambiguous-unicode-character-string] - the words are written in the letters of their languages

# "No": to cookies, letters, offers. The first choice.
REFUSE = {
    "en": (
        "reject all", "reject", "reject all cookies", "decline", "decline all", "refuse", "refuse all",
        "deny",
        "deny all", "no thanks", "no, thanks", "no thank you", "not now", "maybe later", "later", "skip",
        "dismiss", "only necessary", "necessary only", "only necessary cookies", "necessary cookies only",
        "essential only", "only essential cookies", "use necessary cookies only", "accept only necessary",
        "accept essential cookies", "continue without accepting", "disagree", "i decline", "opt out",
        "reject optional cookies", "reject non-essential",
    ),
    "de": (
        "ablehnen", "alle ablehnen", "alles ablehnen", "cookies ablehnen", "nein danke", "nein, danke",
        "nicht jetzt", "später", "nur notwendige", "nur notwendige cookies", "nur erforderliche",
        "nur erforderliche cookies", "nur essenzielle cookies", "nur essenzielle cookies akzeptieren",
        "nur technisch notwendige", "notwendige cookies", "weiter ohne zustimmung", "ohne zustimmung weiter",
        "ohne einwilligung fortfahren", "vielleicht später", "überspringen",
    ),
    "fr": (
        "refuser", "tout refuser", "refuser tout", "tout rejeter", "non merci", "non, merci", "plus tard",
        "pas maintenant", "continuer sans accepter", "uniquement les cookies nécessaires",
        "cookies nécessaires uniquement", "je refuse", "décliner", "ignorer",
    ),
    "es": (
        "rechazar", "rechazar todo", "rechazar todas", "rechazarlas todas", "rechazar cookies", "no gracias",
        "no, gracias", "ahora no", "más tarde", "solo necesarias", "solo las necesarias",
        "solo cookies necesarias", "continuar sin aceptar", "denegar", "omitir",
    ),
    "it": (
        "rifiuta", "rifiuta tutto", "rifiuta tutti", "rifiuto", "no grazie", "no, grazie", "non ora",
        "più tardi", "solo necessari", "solo i necessari", "solo cookie necessari", "solo cookie tecnici",
        "continua senza accettare", "nega", "salta",
    ),
    "pt": (
        "rejeitar", "rejeitar tudo", "rejeitar todos", "recusar", "recusar tudo", "recusar todos",
        "não obrigado", "não, obrigado", "agora não", "mais tarde", "apenas necessários",
        "apenas os necessários", "apenas cookies necessários", "continuar sem aceitar", "pular",
    ),
    "nl": (
        "weigeren", "alles weigeren", "afwijzen", "alles afwijzen", "nee bedankt", "nee, bedankt", "niet nu",
        "later", "alleen noodzakelijk", "alleen noodzakelijke cookies", "alleen functionele cookies",
        "doorgaan zonder te accepteren", "overslaan",
    ),
    "sv": (
        "avvisa", "avvisa alla", "neka", "neka alla", "nej tack", "nej, tack", "inte nu", "senare",
        "endast nödvändiga", "endast nödvändiga cookies", "bara nödvändiga", "godkänn endast nödvändiga",
        "hoppa över",
    ),
    "da": (
        "afvis", "afvis alle", "nej tak", "nej, tak", "ikke nu", "senere", "kun nødvendige",
        "kun nødvendige cookies", "tillad kun nødvendige", "spring over",
    ),
    "no": (
        "avvis", "avvis alle", "avslå", "avslå alle", "nei takk", "nei, takk", "ikke nå", "senere",
        "kun nødvendige", "bare nødvendige", "kun nødvendige informasjonskapsler", "hopp over",
    ),
    "fi": (
        "hylkää", "hylkää kaikki", "kieltäydy", "ei kiitos", "ei, kiitos", "ei nyt", "myöhemmin",
        "vain välttämättömät", "vain välttämättömät evästeet", "vain pakolliset", "ohita",
    ),
    "pl": (
        "odrzuć", "odrzuć wszystkie", "odrzuć wszystko", "odmów", "nie dziękuję", "nie, dziękuję",
        "nie teraz",
        "później", "tylko niezbędne", "tylko niezbędne pliki cookie", "tylko wymagane",
        "kontynuuj bez akceptacji", "pomiń",
    ),
    "cs": (
        "odmítnout", "odmítnout vše", "odmítnout všechny", "ne děkuji", "ne, děkuji", "teď ne", "později",
        "pouze nezbytné", "jen nezbytné", "pouze nezbytné cookies", "přijmout pouze nezbytné", "přeskočit",
    ),
    "tr": (
        "reddet", "tümünü reddet", "hepsini reddet", "hayır teşekkürler", "hayır, teşekkürler", "şimdi değil",
        "daha sonra", "yalnızca gerekli", "yalnızca zorunlu çerezler", "sadece gerekli çerezler",
        "kabul etmeden devam et", "atla",
    ),
    "ja": (
        "拒否", "すべて拒否", "すべて拒否する", "拒否する", "同意しない", "いいえ", "いいえ、結構です",
        "結構です", "後で", "あとで", "今はしない", "必須のみ", "必要なもののみ", "必須cookieのみ",
        "スキップ",
    ),
}  # fmt: skip

# "Away with it", without a word on what it asked.
CLOSE = {
    "en": ("close", "close dialog", "close modal", "close popup", "close this dialog", "close banner",
           "close window", "×", "✕", "✖", "╳", "⨯", "x"),
    "de": ("schließen", "fenster schließen", "dialog schließen", "zumachen"),
    "fr": ("fermer", "fermer la fenêtre", "fermer la boîte de dialogue"),
    "es": ("cerrar", "cerrar ventana", "cerrar diálogo"),
    "it": ("chiudi", "chiudere", "chiudi finestra"),
    "pt": ("fechar", "fechar janela"),
    "nl": ("sluiten", "sluit", "venster sluiten"),
    "sv": ("stäng", "stäng fönstret"),
    "da": ("luk", "luk vindue"),
    "no": ("lukk", "lukk vindu"),
    "fi": ("sulje", "sulje ikkuna"),
    "pl": ("zamknij", "zamknij okno"),
    "cs": ("zavřít", "zavřít okno"),
    "tr": ("kapat", "pencereyi kapat"),
    "ja": ("閉じる", "とじる"),
}  # fmt: skip

# "Yes" to cookies: the last choice, where a banner offers no other.
ACCEPT = {
    "en": ("accept", "accept all", "accept cookies", "accept all cookies", "i accept", "agree", "i agree",
           "agree and close", "ok", "okay", "got it", "got it!", "i understand", "understood",
           "accept & close",
           "accept and close", "accept and continue"),
    "de": ("akzeptieren", "alle akzeptieren", "alles akzeptieren", "alle cookies akzeptieren", "zustimmen",
           "allen zustimmen", "einverstanden", "ich stimme zu", "verstanden", "annehmen", "alle annehmen"),
    "fr": ("accepter", "tout accepter", "j'accepte", "accepter et fermer", "accepter tout", "d'accord",
           "j'ai compris", "accepter les cookies"),
    "es": ("aceptar", "aceptar todo", "aceptar todas", "aceptar cookies", "acepto", "de acuerdo",
               "entendido"),
    "it": ("accetta", "accetta tutto", "accetta tutti", "accetto", "ho capito", "accetta i cookie"),
    "pt": ("aceitar", "aceitar tudo", "aceitar todos", "aceitar cookies", "aceito", "concordo", "entendi"),
    "nl": ("accepteren", "alles accepteren", "accepteer", "cookies accepteren", "akkoord", "ik ga akkoord",
           "begrepen"),
    "sv": ("acceptera", "acceptera alla", "godkänn", "godkänn alla", "jag förstår", "jag accepterar"),
    "da": ("accepter", "accepter alle", "acceptér alle", "godkend", "godkend alle", "forstået"),
    "no": ("godta", "godta alle", "aksepter", "aksepter alle", "jeg forstår", "jeg godtar"),
    "fi": ("hyväksy", "hyväksy kaikki", "hyväksyn", "selvä", "ymmärrän", "hyväksy evästeet"),
    "pl": ("akceptuję", "akceptuj", "akceptuj wszystkie", "zaakceptuj", "zaakceptuj wszystkie", "zgadzam się",
           "rozumiem", "akceptuję wszystkie"),
    "cs": ("přijmout", "přijmout vše", "přijmout všechny", "souhlasím", "rozumím", "povolit vše"),
    "tr": ("kabul et", "tümünü kabul et", "hepsini kabul et", "kabul ediyorum", "tamam", "anladım"),
    "ja": ("同意する", "すべて同意", "すべて受け入れる", "同意して閉じる", "承諾", "わかりました", "了解"),
}  # fmt: skip

# "I am old enough".
AGE = {
    "en": ("yes", "i am over 18", "i'm over 18", "yes, i am over 18", "i am 18 or older", "i'm 18 or older",
           "yes, i am 18 or older", "over 18", "18+", "i am 18+", "i am of legal age", "i am over 21",
           "i am 21 or older", "i'm 21 or older", "yes, i'm over 21", "enter", "enter site", "yes, enter"),
    "de": ("ja", "ja, ich bin über 18", "ich bin über 18", "ich bin 18 oder älter", "ich bin volljährig",
           "ja, ich bin volljährig", "ja, ich bin 18", "eintreten", "ich bin mindestens 18"),
    "fr": ("oui", "j'ai plus de 18 ans", "oui, j'ai plus de 18 ans", "j'ai 18 ans ou plus", "entrer",
           "je suis majeur"),
    "es": ("sí", "soy mayor de edad", "soy mayor de 18", "sí, soy mayor de edad", "tengo más de 18 años",
           "entrar"),
    "it": ("sì", "ho più di 18 anni", "sì, ho più di 18 anni", "sono maggiorenne", "entra"),
    "pt": ("sim", "tenho mais de 18 anos", "sou maior de idade", "sim, sou maior de idade", "entrar"),
    "nl": ("ja", "ik ben 18 of ouder", "ik ben 18+", "ja, ik ben 18 of ouder"),
    "sv": ("ja", "jag är över 18", "jag är över 18 år", "ja, jag är över 18 år", "jag är 18 år eller äldre"),
    "da": ("ja", "jeg er over 18", "jeg er over 18 år", "ja, jeg er over 18 år"),
    "no": ("ja", "jeg er over 18", "jeg er over 18 år", "ja, jeg er over 18 år"),
    "fi": ("kyllä", "olen yli 18", "olen yli 18-vuotias", "olen täysi-ikäinen"),
    "pl": ("tak", "mam ukończone 18 lat", "tak, mam ukończone 18 lat", "mam 18 lat", "jestem pełnoletni",
           "wejdź"),
    "cs": ("ano", "je mi více než 18 let", "je mi 18 let", "ano, je mi více než 18 let", "vstoupit"),
    "tr": ("evet", "18 yaşından büyüğüm", "evet, 18 yaşından büyüğüm"),
    "ja": ("はい", "18歳以上です", "20歳以上です", "はい、20歳以上です", "入場する"),
}  # fmt: skip

# "I stay where I am".
STAY = {
    "en": ("stay", "stay here", "stay on this site", "stay on this page", "continue", "continue here",
           "continue to site", "continue shopping", "keep shopping", "keep browsing", "no, stay here"),
    "de": ("hier bleiben", "auf dieser seite bleiben", "bleiben", "fortfahren", "weiter einkaufen", "weiter"),
    "fr": ("rester", "rester ici", "rester sur ce site", "continuer", "continuer ici"),
    "es": ("quedarse", "quedarme aquí", "permanecer aquí", "continuar", "continuar aquí"),
    "it": ("resta", "resta qui", "rimani", "rimani qui", "continua", "continua qui"),
    "pt": ("ficar", "ficar aqui", "permanecer", "continuar", "continuar aqui"),
    "nl": ("blijven", "blijf hier", "hier blijven", "doorgaan", "verder winkelen"),
    "sv": ("stanna", "stanna kvar", "stanna här", "fortsätt"),
    "da": ("bliv", "bliv her", "fortsæt"),
    "no": ("bli", "bli her", "fortsett"),
    "fi": ("pysy", "pysy täällä", "jatka"),
    "pl": ("zostań", "zostań tutaj", "pozostań", "kontynuuj"),
    "cs": ("zůstat", "zůstat zde", "pokračovat"),
    "tr": ("kal", "burada kal", "bu sitede kal", "devam et"),
    "ja": ("このまま", "このサイトに残る", "続ける", "このまま続ける"),
}  # fmt: skip

# Never pressed, whatever else the label says; parts of words.
NEVER = (
    "buy", "purchase", "checkout", "check out", "order", "add to", "basket", "cart", "pay", "subscribe",
    "sign up", "sign me up", "register", "join", "notif", "push", "download", "install", "log in", "login",
    "allow", "enable", "kaufen", "bestellen", "warenkorb", "zur kasse", "anmelden", "abonnieren",
    "registrieren", "benachrichtig", "acheter", "commander", "panier", "inscri", "abonner", "autoriser",
    "comprar", "pedido", "carrito", "suscrib", "registr", "permitir", "acquista", "compra", "carrello",
    "iscriv", "consenti notifiche", "carrinho", "inscrev", "assinar", "kopen", "bestel", "winkelwagen",
    "inschrijv", "aanmeld", "köp", "beställ", "varukorg", "prenumerera", "køb", "kurv", "tilmeld", "kjøp",
    "handlekurv", "meld deg på", "osta", "tilaa", "ostoskori", "kup teraz", "zamów", "koszyk", "zapisz się",
    "koupit", "objednat", "košík", "přihlásit", "satın al", "sipariş", "sepet", "abone ol", "bildirim",
    "購入", "注文", "カート", "登録", "通知",
)  # fmt: skip

# What a popup is about, by parts of its words, names and classes.
TOPICS = {
    "cookie": ("cookie", "consent", "gdpr", "dsgvo", "rgpd", "datenschutz", "privacy", "privatsph",
               "evästeet",
               "kapsler", "çerez", "クッキー", "ccpa", "tcf"),
    "newsletter": ("newsletter", "subscribe", "mailing", "e-mail", "email", "% off", "percent off", "rabatt",
                   "gutschein", "réduction", "descuento", "sconto", "desconto", "korting", "メール"),
    "age": ("age-gate", "agegate", "age gate", "age verification", "over 18", "18 years", "legal age",
               "volljährig",
            "über 18", "18 jahre", "18 ans", "majeur", "mayor de edad", "18 anni", "maggiorenne", "18 anos",
            "18 jaar", "18 år", "18 lat", "18 let", "18 yaş", "歳以上", "yli 18", "over 21", "21 or older"),
    "geo": ("country", "region", "location", "ship to", "shipping to", "delivering to", "store-switch",
               "geoip",
            "geo-", "land ausw", "lieferland", "pays", "país", "paese", "kraj", "ülke", "your area"),
}  # fmt: skip
