// What needs no browser: the line of the filter, times, and the scale.

import assert from "node:assert/strict";
import { join } from "node:path";
import { build } from "esbuild";

async function load(path) {
  const { outputFiles } = await build({ entryPoints: [join(import.meta.dirname, "../src", path)], bundle: true, write: false, format: "esm", target: "node20" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

export const units = {
  "a filter line is changed by clicks and stays what cat takes": async () => {
    const { and, has, parse, format, toggle } = await load("filter/line.ts");
    assert.equal(toggle("", "-l", "warn"), "-l warn");
    assert.equal(toggle("-l warn", "-l", "error"), "-l error");
    assert.equal(toggle("--level warn", "-l", "warn"), "");
    assert.equal(toggle("id=7", "-c", "a b"), "-c 'a b' -w id=7");
    assert.equal(toggle("-c 'a b' -w id=7", "-c", "a b"), "id=7");
    assert.equal(toggle("-c a -c b", "-c", "a"), "-c b");
    assert.equal(toggle("", "-c", `it's "x"\\`), `-c "it's \\"x\\"\\\\"`);
    assert.ok(has(`-c "it's \\"x\\"\\\\"`, "-c", `it's "x"\\`));
    assert.equal(and("", "id", 7), "id=7");
    assert.equal(and("id=7", "user", 'a"b'), 'id=7 and user="a\\"b"');
    assert.equal(and("a=1 or b=2", "id", 7), "(a=1 or b=2) and id=7");
    assert.equal(and("id=7", "id", 7), "id=7");
    for (const line of ["-l warn -c net -w 'id=7 and px>3.5'", "--file x.cpp:3 --since 2026-11-20T19:02:11Z"]) {
      assert.deepEqual(parse(format(parse(line))), parse(line));
    }
  },

  "durations and times are readable at every size": async () => {
    const { Clock, digitsOf, duration, roundStep } = await load("time.ts");
    const texts = [[0, "0 ns"], [7, "7 ns"], [1234, "1.23 µs"], [12_345_678, "12.3 ms"], [1.5e9, "1.50 s"], [62.5e9, "1 min 2.5 s"], [3725e9, "1 h 2 min"], [-5e6, "−5.00 ms"]];
    for (const [value, text] of texts) assert.equal(duration(value), text);
    const clock = new Clock(1_764_257_405_123_456_789n);
    clock.zone = "utc";
    assert.equal(clock.text(0), "15:30:05.123456789");
    assert.equal(clock.full(1e9), "2025-11-27 15:30:06.123456789 UTC");
    assert.equal(clock.relative(clock.wall(12_345)), 12_345);
    clock.zone = "relative";
    assert.equal(clock.text(61.5e9, 1), "1:01.5");
    assert.equal(clock.text(-1.5e9, 1), "−1.5");
    for (const least of [3, 70, 4e5, 6e9, 1.1e10, 2e12]) assert.ok(roundStep(least) >= least);
    assert.equal(digitsOf(2e6), 3);
    assert.equal(digitsOf(1), 9);
  },

  "a zoom keeps the place under the pointer, and some of the trace in sight": async () => {
    const { Scale } = await load("timeline/scale.ts");
    const whole = [0, 1e9];
    const scale = new Scale([2e8, 6e8], 200, 1000);
    const at = scale.time(450);
    const zoomed = new Scale(scale.zoomed(0.5, 450, whole), 200, 1000);
    assert.ok(Math.abs(zoomed.time(450) - at) < 1);
    assert.ok(Math.abs(zoomed.perPixel - scale.perPixel / 2) < 1e-6);
    const [from, to] = scale.panned(1e6, whole);
    assert.ok(from < whole[1] && to - from === 4e8);
    assert.ok(scale.zoomed(1e-30, 450, whole)[1] > scale.zoomed(1e-30, 450, whole)[0]);
    for (const { times, step } of [scale.marks(110), zoomed.marks(110)]) {
      assert.ok(times.length > 2 && times.every((time) => Math.abs(time / step - Math.round(time / step)) < 1e-6));
    }
  },

  "a result is plotted over numbers in order, or over words": async () => {
    const { extent, seriesOf } = await load("chart.ts");
    assert.deepEqual(seriesOf(["t", "w", "n"], [["3", "a", "1"], ["1", "b", "2.5"], [null, "c", "4"]], 10), { x: [1, 3], y: [2.5, 1], label: "n by t" });
    assert.deepEqual(seriesOf(["w", "n"], [["a", "1"], ["b", null], ["c", "9"]], 2).x, ["a", "b"]);
    assert.equal(seriesOf(["w", "v"], [["a", "x"], ["b", "y"]], 10), undefined);
    assert.deepEqual(extent([5, NaN, 3]), [0, 5]);
    assert.deepEqual(extent([]), [0, 1]);
  },

  "a flame graph is as wide as what is within it": async () => {
    const { widths } = await load("flame.ts");
    // root, process, a span of 10 with two within it, of which one has more time than is known around it.
    const answer = { parent: [0, 0, 1, 2, 2], count: [0, 0, 1, 2, 3], time: [0, 0, 10, 4, 9] };
    const byTime = widths(answer, true);
    assert.deepEqual(byTime.width, [13, 13, 13, 4, 9]);
    assert.deepEqual(byTime.children[2], [4, 3]);
    assert.deepEqual(widths(answer, false).width, [6, 6, 6, 2, 3]);
  },

  "places of two builds are paired by name, and lines tell equal names apart": async () => {
    const { change, paired } = await load("compare.ts");
    const item = (name, line, file = "src/a.cpp") => ({ name, line, file, category: "c" });
    const lines = (a, b) => paired(a, b).map(({ a, b }) => `${a?.line ?? "-"} ${b?.line ?? "-"}`);
    assert.deepEqual(lines([item("x", 1), item("x", 5), item("y", 7)], [item("x", 5), item("x", 2, "/other/src/a.cpp"), item("z", 9)]), ["1 2", "5 5", "7 -", "- 9"]);
    assert.equal(change(10, 15), 0.5);
    assert.equal(change(0, 1), Infinity);
    assert.equal(change(0, 0), 0);
  },
};
