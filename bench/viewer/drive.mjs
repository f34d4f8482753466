// Opens a page of `silverpoint view` in a browser, and times the first picture and steps of zooming and scrolling.
//
//   node drive.mjs first PROGRAM FILE           from the start of the server to the picture of the whole range
//   node drive.mjs steps PROGRAM FILE STEPS     steps while records are being read, and the same when all are
//
// Prints one line of JSON.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../crates/programs/silverpoint-view/page/", import.meta.url));
const { chromium } = require("playwright-core");
const [mode, program, file, count = "0"] = process.argv.slice(2);

const DEADLINE_MS = 400_000;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1360, height: 800 } });
const page = await context.newPage();
page.setDefaultTimeout(DEADLINE_MS);
// The browser is running: what is timed is the server and its page.
await page.goto("about:blank");

const began = performance.now();
// It also ends when this one is killed, and keeps no large file open.
const server = spawn(program, ["view", "--no-open", "--idle", "60s", file], { stdio: ["pipe", "pipe", "inherit"] });
process.on("exit", () => server.kill("SIGTERM"));
const address = await new Promise((found, failed) => {
  createInterface({ input: server.stdout }).once("line", found);
  server.once("exit", (code) => failed(new Error(`silverpoint view ended with ${code}`)));
});
const listening = performance.now() - began;
await page.goto(address);
await page.waitForSelector(".timeline canvas[data-drawn=complete]");
await page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
const first = performance.now() - began;

const get = (path) => page.evaluate(async (path) => (await fetch(path)).json(), path);
const summary = await get("/api/trace");
const found = { listening, first, read: Number(summary.progress.records), seconds: Number(BigInt(summary.end) - BigInt(summary.begin)) / 1e9 };

/** One step after the other, each timed until the picture shows what it asked for. */
const steps = (count, seed) =>
  page.evaluate(
    async ([count, seed]) => {
      const canvas = document.querySelector(".timeline canvas");
      const box = canvas.getBoundingClientRect();
      const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
      const frame = () => new Promise((resume) => requestAnimationFrame(resume));
      const times = [];
      for (let step = 0; step < count; step++) {
        const [x, y] = [box.left + 220 + random() * (box.width - 240), box.top + 60];
        // Twelve steps in, four to the side, twelve out, four up and down.
        const phase = step % 32;
        const move = phase < 12 ? { deltaY: -240 } : phase < 16 ? { deltaX: 400 } : phase < 28 ? { deltaY: 240 } : { deltaX: -300 };
        const began = performance.now();
        canvas.dispatchEvent(new WheelEvent("wheel", { ...move, clientX: x, clientY: y, bubbles: true, cancelable: true }));
        do await frame();
        while (canvas.dataset.drawn !== "complete" && performance.now() - began < 20_000);
        times.push(performance.now() - began);
      }
      return times;
    },
    [count, seed],
  );

/** Jumps in the table of all records, each timed until its first rows are there. */
const jumps = async (count) => {
  await page.keyboard.press("2");
  await page.waitForSelector("#panel-records:not([hidden]) .row");
  return page.evaluate(async (count) => {
    let seed = 7;
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    const total = Number((await (await fetch("/api/trace")).json()).progress.records);
    const times = [];
    for (let step = 0; step < count; step++) {
      const from = Math.floor(random() * Math.max(1, total - 200));
      const began = performance.now();
      const { rows } = await (await fetch(`/api/records?from=${from}&count=100`)).json();
      times.push(performance.now() - began);
      if (rows[0]?.number !== String(from)) throw new Error(`record ${from} is not there`);
    }
    return times;
  }, count);
};

const memory = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]) * 1024;
if (mode === "steps") {
  found.reading = await steps(Number(count), 1);
  found.readWhileStepping = Number((await get("/api/trace")).progress.records);
  const until = performance.now() + DEADLINE_MS;
  for (;;) {
    const { progress, stalls, lost } = await get("/api/trace");
    // Waits are records, too, but not of the program's making.
    Object.assign(found, { records: Number(progress.records) - Number(stalls), lost: Number(lost) });
    if (progress.state === "finished") break;
    if (progress.problem || performance.now() > until) throw new Error(`the file is not read: ${JSON.stringify(progress)}`);
    await new Promise((resume) => setTimeout(resume, 500));
  }
  found.whole = performance.now() - began;
  await page.keyboard.press("0");
  found.finished = await steps(Number(count), 2);
  found.jumps = await jumps(Number(count));
}
found.memory = memory();
console.log(JSON.stringify(found));
await browser.close();
server.kill("SIGTERM");
await new Promise((ended) => server.once("exit", ended));
