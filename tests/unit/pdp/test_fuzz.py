"""Any bytes at all: no exception, and the same verdict for the same bytes."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.html.visible import visible_text
from crawler.pdp import POLICIES, judge, read_facts, read_page
from crawler.pdp.candidates import discover
from crawler.pdp.features import features
from crawler.pdp.structured_data import read_json

PIECES = (
    "<h1>", "</h1>", "<img src=x>", "<button>", "</button>", "Add to cart", "In den Warenkorb", "$19.99",
    "1.234,56 €", "<span class=price>", "<span itemprop=price content=9>",
    "<div itemscope itemtype=http://schema.org/Product>",
    "<div itemprop=offers itemscope itemtype=Offer>", '<script type="application/ld+json">',
    '{"@type": "Product", "offers": {"price": 1}, "name": ["a"]}',
    '{"@type": ["Product", 3], "offers": [[{"price": true}]], "brand": [[]], "image": {"url": {}}}',
    '{"@graph": [{"@type": "ProductGroup", "hasVariant": [1, null, {"offers": 7}]}]',
    '{"@type": "BreadcrumbList", "itemListElement": [{"item": [1]}, 2, {"name": {}}]},', "</script>",
    "<form action=/cart/add>", "<a href='/p/1'>", "<a href='http://[::1/x'>", "<base href='//'>",
    "<meta property=og:type content=article>", "<meta property=product:price:amount content='--'>",
    "<div typeof=schema:Product>", "<table><tr><td>", "<template>", "<div hidden>", "</div>", "<!--",
    "-->", "<![CDATA[", "\0", "&#x110000;", "İıﬁ",
)  # fmt: skip
FRAGMENTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=30).map("".join)
BODIES = st.one_of(st.binary(max_size=300), FRAGMENTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(
    body=BODIES,
    content_type=st.sampled_from(("", "text/html", "text/html; charset=shift_jis", "text/html; charset=x")),
)
def test_any_bytes(body: bytes, content_type: str) -> None:
    """Everything that can be asked of a page is answered, twice alike, and fits into JSON."""
    documents = []
    for _ in range(2):
        page = read_page(body, url="https://shop.example/p/1", content_type=content_type)
        facts = read_facts(page)
        verdicts = [judge(page, policy) for policy in POLICIES]
        assert all(verdict.is_pdp or verdict.reasons for verdict in verdicts)
        document = [features(page, verdict, facts) for verdict in verdicts]
        documents.append((json.dumps(document), visible_text(page.tree), discover(page)))
    assert documents[0] == documents[1]


@QUICK
@given(
    text=st.one_of(
        st.text(max_size=200), st.lists(st.sampled_from('{}[]",:;/*<!-->0e\\ '), max_size=60).map("".join)
    )
)
def test_any_json(text: str) -> None:
    """Whatever stands in a script is read or left."""
    assert isinstance(read_json(text), list)
