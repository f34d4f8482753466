"""The table of docs/budgets.md: every budget beside what the last run has measured."""

from .report import text

BEGIN, END = "<!-- measured: written by bench/run -->\n", "<!-- end of what was measured -->\n"


def table(document):
    """Rows with a budget, missed ones first."""
    rows = sorted((row for row in document["rows"] if row["limit"] is not None), key=lambda row: not row["verdict"].startswith("MISS"))
    about = document["machine"]
    missed = sum(row["verdict"].startswith("MISS") for row in rows)
    lines = [f"{document['size']} run at {about['time']}, commit {about['commit']}, {about['cpu']}, {about['cores']} cores: {len(rows) - missed} met, {missed} missed. "
             "A verdict with `?`: the budget lies within the interval.", ""]
    lines += [f"**Noisy: {warning}.**\n" for warning in document["noise"]["warnings"]]
    lines += ["| what | of | measured | budget | verdict |", "|---|---|---|---|---|"]
    for row in rows:
        interval = f" ({text(row['low'])} to {text(row['high'])})" if row["low"] is not None else ""
        lines.append(f"| {row['part']}: {row['what']} | {row['facility']} | {text(row['compared'])} {row['unit']}{interval} | "
                     f"{'≥' if row['at_least'] else '≤'} {row['limit']:g} | {row['verdict']} |")
    return "\n".join(lines) + "\n"


def renewed(page, document):
    """The page with the table of this run in place of the one before."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no place for what was measured")
    return f"{before}{BEGIN}\n{table(document)}\n{END}{after}"
