"""The shops' looks: one style sheet, two colours a shop."""

from __future__ import annotations

_SHEET = """
:root{--accent:%s;--paper:%s;--ink:#26231f;--line:#ddd6c9;--soft:#6f675b}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 Georgia,'Iowan Old Style',serif}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.wrap{max-width:1120px;margin:0 auto;padding:0 24px}
.top{border-bottom:1px solid var(--line);background:#fff}
.top .wrap{display:flex;gap:28px;align-items:center;min-height:76px;flex-wrap:wrap}
.sign{font-size:26px;letter-spacing:.02em;color:var(--ink)}
.top nav{display:flex;gap:20px;flex-wrap:wrap;flex:1}
.top nav a,.tools a{font:15px/1.4 system-ui,sans-serif;color:var(--ink)}
.tools{display:flex;gap:16px;align-items:center}
.tools input{border:1px solid var(--line);border-radius:99px;padding:7px 14px;font:inherit;font-size:14px}
.crumbs{font:14px/1.4 system-ui,sans-serif;color:var(--soft);margin:22px 0 0}
.crumbs a::after{content:'/';margin:0 8px;color:var(--line)}
.banner{padding:64px 0 56px;border-bottom:1px solid var(--line)}
.banner p{font-size:34px;line-height:1.25;max-width:22em;margin:0}
h1{font-weight:400;font-size:36px;line-height:1.2;margin:22px 0 10px}
h2{font-weight:400;font-size:25px;margin:44px 0 14px}
h3{font-weight:400;font-size:18px;line-height:1.35;margin:12px 0 2px}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:30px 24px}
ul.grid{padding:0;margin:0;list-style:none}
.tile img,.shelf img{width:100%%;height:auto;display:block;border-radius:4px;background:#fff}
.tile .price{font-size:16px}.tile .more{font:14px/1 system-ui,sans-serif}
.price{color:var(--accent);font-size:27px;margin:6px 0}
.tax{font:13px/1 system-ui,sans-serif;color:var(--soft);margin-left:8px}
.product{display:grid;grid-template-columns:minmax(0,1.1fr) minmax(0,1fr);gap:52px;margin-top:12px}
.gallery img{width:100%%;height:auto;border-radius:4px;background:#fff;display:block}
.thumbs{display:flex;gap:12px;margin-top:12px}.thumbs img{width:92px}
.buy-button{display:inline-block;border:0;border-radius:4px;background:var(--accent);color:#fff;cursor:pointer;
font:600 16px/1 system-ui,sans-serif;padding:15px 30px}
.buy-button[disabled]{background:#b9b2a6;cursor:default}
.tile .buy-button{padding:10px 16px;font-size:14px;margin-top:8px}
.stock{font:14px/1.4 system-ui,sans-serif;color:var(--soft)}
form.buy{margin:18px 0;display:flex;gap:14px;align-items:center}
form.buy input[type=number]{width:70px;padding:13px 10px;
border:1px solid var(--line);border-radius:4px;font:inherit}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 22px;
border-top:1px solid var(--line);padding-top:18px}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0}
.prose{max-width:42em}
.review{border-top:1px solid var(--line);padding:14px 0;max-width:42em}.review b{font-weight:600}
footer{margin-top:72px;border-top:1px solid var(--line);background:#fff;padding:30px 0;
font:15px/1.6 system-ui,sans-serif}
footer ul{display:flex;gap:22px;flex-wrap:wrap;list-style:none;padding:0}
@media(max-width:760px){.product{grid-template-columns:1fr;gap:24px}.banner p{font-size:26px}}
"""


def style_sheet(accent: str, paper: str) -> str:
    """The style sheet in a shop's two colours."""
    return _SHEET.strip() % (accent, paper)
