// Every test, in a real browser on real servers. Arguments: parts of names of tests. The last line counts.

import { join } from "node:path";
import { example, finish, folder, hasFirefox, run, serve, silverpoint } from "./harness.mjs";
import * as figures from "./figures.mjs";
import * as firefox from "./firefox.mjs";
import * as hostile from "./hostile.mjs";
import * as live from "./live.mjs";
import * as records from "./records.mjs";
import * as sources from "./sources.mjs";
import * as timeline from "./timeline.mjs";
import { units } from "./units.mjs";

const wanted = process.argv.slice(2);
const select = (tests) => Object.entries(tests).filter(([name]) => !wanted.length || wanted.some((part) => name.includes(part)));

const file = join(folder, "shop.silver");
let [passed, failed, skipped] = [0, 0, 0];
const check = async (name, test) => {
  const began = performance.now();
  try {
    const page = await test();
    if (page?.problems.length) throw new Error(`the page's console: ${page.problems.join("; ")}`);
    await page?.close();
    passed++;
    console.log(`ok   ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
};

try {
  for (const [name, test] of select(units)) await check(name, test);
  const inBrowser = select({ ...timeline.tests, ...records.tests, ...figures.tests, ...hostile.tests, ...live.tests, ...sources.tests });
  const inFirefox = select(firefox.tests);
  if (inBrowser.length || inFirefox.length) {
    run(silverpoint, "run", "-q", "-o", file, "--filter", "trace", "--", example("shop"), "60", { input: "\n" });
    const shop = await serve(file);
    for (const [name, test] of inBrowser) await check(name, () => test({ shop, file }));
    for (const [name, test] of inFirefox) {
      if (hasFirefox) {
        await check(name, () => test({ file }));
      } else {
        skipped++;
        console.log(`SKIPPED ${name}: no firefox-esr (scripts/setup viewer)`);
      }
    }
  }
} finally {
  await finish();
}
console.log(`view: ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed || !passed ? 1 : 0;
