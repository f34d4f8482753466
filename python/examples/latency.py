# %% [markdown]
# # How long did each file take?
#
# The spans of a trace as a histogram: by default those of the trace that `make demo` records. Runs as a script (`python latency.py TRACE [PNG] [SPAN]`), and
# cell by cell where `# %%` means a cell (VS Code, Spyder, PyCharm, jupytext).

# %%
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import silverpoint

path = sys.argv[1] if len(sys.argv) > 1 else "demo.silver"
image = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "latency.png")
name = sys.argv[3] if len(sys.argv) > 3 else "index.file"

# %% [markdown]
# Which processes are in the trace, and which spans? A name, how often, and how long altogether.

# %%
trace = silverpoint.open(path)
for process, pid in trace.processes:
    print(f"{process}[{pid}]: {trace.count(process=pid):,} records")

totals: dict[str, tuple[int, int]] = {}
durations: dict[str, list[int]] = {}
for span in trace.spans():
    count, total = totals.get(span.name, (0, 0))
    totals[span.name] = count + 1, total + (span.duration_ns or 0)
    if span.name == name and span.duration_ns is not None:
        durations.setdefault(f"{span.process}[{span.pid}]", []).append(span.duration_ns)
for span_name, (count, total) in sorted(totals.items(), key=lambda item: -item[1][1]):
    print(f"{count:>8,} {total / 1e9:>8.3f} s  {span_name}")
if not durations:
    sys.exit(f"{path}: no span is called {name!r}")

# %% [markdown]
# Latencies span orders of magnitude: the bins grow with them.

# %%
everything = np.concatenate([np.array(values, dtype=float) for values in durations.values()]) / 1000
everything = everything[everything > 0]
bins = np.geomspace(everything.min(), everything.max() * 1.0001, 80)
figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
for label, values in durations.items():
    axes.hist(np.array(values) / 1000, bins=bins, histtype="stepfilled", alpha=0.55, label=f"{label}: {len(values):,} spans")
for percent, style in [(50, "-"), (90, "--"), (99, ":")]:
    at = float(np.percentile(everything, percent))
    unit = f"{at:.0f} µs" if at < 1000 else f"{at / 1000:.1f} ms"
    axes.axvline(at, color="0.25", linestyle=style, linewidth=1.2, label=f"{percent} % below {unit}")
axes.set_xscale("log")
axes.set_xlabel("duration of a span, µs")
axes.set_ylabel("spans")
axes.set_title(f"{name}: {len(everything):,} spans")
axes.grid(alpha=0.25)
axes.legend(frameon=False)
figure.savefig(image, dpi=110)
print(f"{image}: {image.stat().st_size // 1024} KiB")

# %% [markdown]
# The slowest ones, with what they were about.

# %%
slowest = sorted(trace.spans(), key=lambda span: span.duration_ns or 0 if span.name == name else -1, reverse=True)
for span in slowest[:5]:
    print(f"{(span.duration_ns or 0) / 1e6:>9.3f} ms  {span.args}")
