"""Plots of the report, as SVG that takes the page's colours. Drawn by matplotlib."""

import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Stands for the text's colour, which the page chooses.
INK = "#010203"
# Distinct also for people who do not see red and green as others do (Okabe and Ito), on black and on white.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8a8a8a", "#b3a600")
MARKS = "osD^vPX*"

plt.rcParams.update({
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10, "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.grid": True, "grid.alpha": 0.2, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "svg.hashsalt": "silverpoint",
})


def svg(figure, told):
    """The figure's text; `told` says what it shows to those who cannot see it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg"):].replace(INK, "currentColor")
    return text.replace("<svg", f'<svg role="img" aria-label="{told}"', 1)


def colours(names):
    """The same for a name in every plot."""
    return {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}


def strokes(names):
    """Where there are more names than colours, those that come again are dashed."""
    return {name: "-" if at < len(COLOURS) else "--" for at, name in enumerate(names)}


def begun(names):
    """A figure of curves and the names' colours."""
    return *plt.subplots(figsize=(7, 3.8)), colours(names)


def ended(figure, axes, title, x, y, **legend):
    """The same for all of them: what grows is drawn by its logarithm."""
    axes.set(yscale="log", title=title, xlabel=x, ylabel=y)
    if len(axes.get_legend_handles_labels()[0]) > 6:
        # Many names would cover the curves.
        legend |= {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 4}
    axes.legend(fontsize=8, **({"ncols": 2} | legend))
    return svg(figure, title)


def lines(title, series, x, y, names, base=2):
    """One line a name: {name: [(x, y)]}. Zero has no logarithm: it stands at a half."""
    figure, axes, chosen = begun(names)
    drawn = strokes(names)
    for at, (name, points) in enumerate(series.items()):
        axes.plot([p[0] or 0.5 for p in points], [p[1] for p in points], marker=MARKS[at % len(MARKS)], markersize=4, linewidth=1.4, linestyle=drawn[name], color=chosen[name], label=name)
    axes.set_xscale("log", base=base)
    ticks = sorted({p[0] for points in series.values() for p in points})
    axes.set_xticks([tick or 0.5 for tick in ticks], [f"{tick:,}" for tick in ticks], rotation=0 if len(ticks) < 7 else 30)
    axes.minorticks_off()
    return ended(figure, axes, title, x, y)


def percentiles(title, series, names):
    """Curves of latency: {name: [(quantile, ns)]}; the axis is the logarithm of how many are slower."""
    figure, axes, chosen = begun(names)
    drawn = strokes(names)
    for name, points in series.items():
        points = [(1 - quantile, ns) for quantile, ns in points if 0 < quantile < 1]
        axes.plot([p[0] for p in points], [p[1] for p in points], linewidth=1.6, linestyle=drawn[name], color=chosen[name], label=name)
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xticks([0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5], ["50", "90", "99", "99.9", "99.99", "99.999"])
    return ended(figure, axes, title, "percentile", "ns")


def scatter(title, series, names):
    """Single calls over time: {name: [(number of the call, ns)]}."""
    figure, axes, chosen = begun(names)
    for name, points in series.items():
        axes.scatter([p[0] for p in points], [p[1] for p in points], s=5, alpha=0.6, linewidths=0, color=chosen[name], label=name)
    return ended(figure, axes, title, "number of the call in its thread", "ns", markerscale=2)


def bars(title, rows, unit):
    """One bar a name: [(name, value, whether it is ours)]."""
    figure, axes = plt.subplots(figsize=(7, 0.34 * len(rows) + 1.1))
    rows = rows[::-1]
    drawn = axes.barh([row[0] for row in rows], [row[1] for row in rows], color=[COLOURS[0] if row[2] else COLOURS[6] for row in rows])
    axes.bar_label(drawn, [f"{row[1]:,.3g}" if row[1] < 1000 else f"{row[1]:,.0f}" for row in rows], padding=3, fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set(title=title, xlabel=unit)
    axes.grid(axis="y", visible=False)
    return svg(figure, title)
