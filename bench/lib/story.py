"""What the report says, as a page, as Markdown and for programs: first of all where others are better, then what was not run, the sources' tables, and each part of the suite."""

from . import absent, checked, conditions, figures, sections, setups, tables
from . import better as comparing
from . import page as html

COMMANDS = {"latest": "bench/run --part drivers --part reading --part header"}
# How figures came about, in a few words; README.md has the rest.
ORDER = "what stands in one table ran in one go, each figure in processes of its own, in random order"


def missing(found):
    """[(what, why)] of all that was not run: what the parts say, and what no machine like this can."""
    said = [tuple(one.split(": ", 1)) if ": " in one else (one, "") for data in found.values() for one in (*data.get("missing", ()), *data.get("problems", ()))]
    return [*absent.here(), *dict.fromkeys(said)]


def gathered(found):
    """(sections as HTML, where others are better)."""
    better = comparing.Better()
    return [part for name, make in sections.ALL if name in found for part in make(found[name], better)], better


def source_tables(found):
    """[(title, rows)] of the five tables, each row the cells of tables.HEAD."""
    return [(title, [line.cells() for line in make(found)]) for title, make in tables.TABLES.items()]


# ---- the page ----


def page(found):
    """The whole document."""
    parts, better = gathered(found)
    first = next(iter(found.values()))["machine"]
    whole = {key: value for key, value in first.items() if key not in ("commit", "time")}
    unmeasured = [name for name, _ in sections.ALL if name not in found]
    head = ["<h1>Silverpoint, measured</h1>", f"<p>Every figure is of one machine ({html.escape(whole.get('cpu', ''))}, {whole.get('cores', '?')} cores); {ORDER}. A run whose output is not what was called does not "
            "count; how each row is known to be whole stands beside it. The sources' figures are others', of other machines and other years: only ratios compare.</p>",
            f"<p>{html.escape(conditions.said(found))}</p>"]
    if unmeasured:
        head.append(f'<p class="note">Not measured yet: {html.escape(", ".join(unmeasured))}.</p>')
    head += ["<h2>Where others are better</h2>", f"<p>{html.escape(better.summary())}</p>", f"<p class=note>{html.emphasised(comparing.VERDICTS)}</p>" if better.rows else ""]
    where = None
    for group in better.grouped():
        head += [] if group.where == where else [f"<h3>{html.escape(group.where)}</h3>"]
        head += [html.table(comparing.HEAD, group.rows, brief=True), f"<p>Why: {html.coded(group.why)}.</p>"]
        where = group.where
    head += ["<h2>Not run here</h2>", html.table(("what", "why"), missing(found), prose=True)]
    head.append(f"<h2>The sources' tables</h2><p>{html.emphasised(tables.EXPLAINED)} Checked: {html.emphasised(checked.MEANING)}</p>")
    for title, rows in source_tables(found):
        head += [f"<h3>{html.escape(title)}</h3>", html.table(tables.HEAD, rows, prose=True) if rows else "<p>Not measured yet.</p>"]
    foot = ["<h2>The machine, and what made these figures</h2>", html.facts(whole), html.table(conditions.HEAD, conditions.rows(found, COMMANDS), prose=True)]
    return html.page("Silverpoint, measured", head + parts + foot)


# ---- Markdown ----


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)]


def markdown(found):
    """The same in short: what others do better, what was not run, the sources' tables, how all are set up; the parts have pages of their own."""
    _, better = gathered(found)
    lines = ["# Silverpoint, measured", "", "The page with all plots is [report.html](report.html); figures and their spreads are in [report.json](report.json).", ""]
    machine = next(iter(found.values()))["machine"]
    lines += [f"{ORDER[0].upper()}{ORDER[1:]}.", "", conditions.said(found), "", "## Where others are better", "", better.summary()]
    lines += ["", comparing.VERDICTS] if better.rows else []
    where = None
    for group in better.grouped():
        lines += [] if group.where == where else ["", f"### {group.where}"]
        where = group.where
        lines += ["", *_table(comparing.HEAD, group.rows), "", f"Why: {group.why}."]
    lines += ["", "## Not run here", "", *_table(("what", "why"), missing(found))]
    lines += ["", "## The sources' tables", "", f"{tables.EXPLAINED} Checked: {checked.MEANING}"]
    for title, rows in source_tables(found):
        lines += ["", f"### {title}", "", *(_table(tables.HEAD, rows) if rows else ["Not measured yet."])]
    lines += ["", "## Tracepoints beside today's loggers", "", *_table(*tables.modern(found))]
    lines += ["", "## How they are set up", ""]
    for name, _ in sections.ALL:
        if name in found and (rows := setups.rows(name, found[name])):
            lines += [f"### {name}", "", *(f"{line}\n" for line in setups.notes(name)), *_table(setups.HEAD, rows), ""]
    lines += ["## The machine, and what made these figures", "", *(f"- {key}: {value}" for key, value in machine.items() if key not in ("commit", "time")), "",
              *_table(conditions.HEAD, conditions.rows(found, COMMANDS)), ""]
    lines += ["## Each part", "", *(f"- [{name}]({name}.md)" for name, _ in sections.ALL if name in found)]
    return "\n".join(lines) + "\n"


# ---- for programs ----


def document(found):
    """The same for programs, and for a later comparison."""
    _, better = gathered(found)
    return {"schema": 1, "machines": {name: data["machine"] for name, data in found.items()},
            "circumstances": figures.circumstances(found), "compared": better.looked, "better": [vars(loss) for loss in better.rows], "missing": [{"what": what, "why": why} for what, why in missing(found)],
            "tables": {title: [dict(zip(tables.HEAD, row, strict=True)) for row in rows] for title, rows in source_tables(found)},
            "figures": figures.as_rows(figures.of(found))}
