"""The frame of the HTML report: its head with the style, and its foot. Nothing of it is fetched from elsewhere."""

from __future__ import annotations

from typing import Final

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --mild: #9a6700; --faulty: #8250df; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.result { font-size: 1.2rem; font-weight: 600; padding: .5rem .8rem; border-left: .4rem solid; }
.good { border-color: var(--good); } .bad { border-color: var(--bad); } .mild { border-color: var(--mild); }
.faulty { border-color: var(--faulty); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
details { margin: .4rem 0; } .clause { border-left: .3rem solid; padding-left: .7rem; }
.clause.bad { border-color: var(--bad); } .clause.mild { border-color: var(--mild); }
summary { cursor: pointer; } summary small { opacity: .65; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); border-radius: .3rem; font-size: .85rem; }
pre mark { background: #cf222e33; color: inherit; outline: 1px solid var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
code { font-size: .9em; overflow-wrap: anywhere; } td code { overflow-wrap: normal; }
[id] { scroll-margin-top: 3rem; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin: 0 0 .3rem; } }
@media print {
  body { max-width: none; } pre { overflow: visible; white-space: pre-wrap; overflow-wrap: anywhere; }
  details::details-content { content-visibility: visible; height: auto; }
}
""".replace("{", "{{").replace("}", "}}")

#: Takes the title, which is HTML already.
HEAD: Final = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Gateway conformance: {{title}}</title>
<style>{_STYLE}</style>
</head>
<body>"""

FOOT: Final = """<p><small>Made from report.jsonl, which holds every verdict with its evidence.</small></p>
</body>
</html>
"""
