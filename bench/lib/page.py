"""The report's page: one file of HTML that needs nothing else."""

import html
import re

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --line: #d0d7de; --own: #0b63a5; --band: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0d1117; --line: #30363d; --own: #6cb6ff; --band: #161b22; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.2rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.7rem; margin: 0.4rem 0; } h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; } h3 { margin-top: 1.6rem; }
p.note, figcaption, dl { color: var(--soft); font-size: 0.9rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; } th:first-child, td:first-child { text-align: left; }
thead th { background: var(--band); } tr.own td { color: var(--own); font-weight: 600; }
table.prose th:last-child { text-align: left; } table.prose th, table.prose td { white-space: normal; } table.prose td:last-child { text-align: left; min-width: 12rem; }
table.brief td:last-child { min-width: 0; } table.prose td:first-child { min-width: 9rem; } table.brief td:first-child { min-width: 0; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; color: var(--ink); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { th, td { padding: 0.25rem 0.4rem; } body { padding: 0.8rem; } table.prose { font-size: 0.8rem; } table.prose th, table.prose td { padding: 0.25rem 0.15rem; white-space: normal; } table.prose:not(.brief) td:last-child { min-width: 13rem; } table.prose:not(.brief) td:first-child { min-width: 7rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; } }
"""


def escape(text):
    return html.escape(str(text))


def emphasised(text):
    """Escaped, and what stands between stars in italics."""
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", escape(text))


def coded(text):
    """Escaped, and what stands between grave accents as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def table(head, rows, own=(), prose=False, brief=False):
    """A table; rows whose first cell is in `own` stand out; with `prose` the last column is text, in which grave accents mark code; with `brief` too, but of a word or two."""
    kind = ' class="prose brief"' if brief else " class=prose" if prose else ""
    lines = [f'<div class="wide"><table{kind}><thead><tr>', *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
    for row in rows:
        cells = (f"<td>{coded(cell) if kind else escape(cell)}</td>" for cell in row)
        lines.append(f'<tr{" class=own" if row[0] in own else ""}>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody></table></div>"])


def figure(svg, caption):
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def facts(values):
    return "<dl>" + "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in values.items()) + "</dl>"


def page(title, parts):
    """The document; `parts` are HTML."""
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
            f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n")
