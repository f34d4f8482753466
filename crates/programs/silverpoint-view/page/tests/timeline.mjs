import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { canvas, coloured, drawn, findSpan, open, run, settled, silverpoint, until, view } from "./harness.mjs";

export const tests = {
  "the summary counts every record, and the timeline draws": async ({ shop, file }) => {
    const page = await open(shop);
    const records = run(silverpoint, "cat", "--json", file).trim().split("\n").length;
    await until("the number of records", async () => (await page.textContent(".overview .facts")).startsWith(`${records.toLocaleString("en-GB")} records`));
    assert.equal(await page.title(), "shop.silver – Silverpoint");
    await drawn(page);
    await coloured(page, 13, "spans, names and the ruler");
    await coloured(page, 3, "records over time", ".overview canvas");
    return page;
  },

  "wheel, drag, keys and two fingers move the view": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    let length = Infinity;
    let shown = null;
    const changed = async (what, action, condition) => {
      const before = { length, shown };
      await action();
      await until(what, async () => {
        shown = (await settled(page)).get("view");
        const [from, to] = shown?.split("~").map(Number) ?? [0, Infinity];
        length = to - from;
        return shown !== before.shown && condition(before.length);
      });
    };
    await page.mouse.move(700, 300);
    await changed("zoomed by the wheel", () => page.mouse.wheel(0, -600), () => length < Infinity);
    await changed("zoomed in by W", () => page.keyboard.press("w", { delay: 150 }), (before) => length < before);
    await changed("zoomed out by S", () => page.keyboard.press("s", { delay: 150 }), (before) => length > before);
    const same = (before) => Math.abs(length - before) <= 2;
    await changed("later by D", () => page.keyboard.press("d", { delay: 150 }), same);
    await changed("earlier by A", () => page.keyboard.press("a", { delay: 150 }), same);
    await changed("dragged", async () => {
      await page.mouse.down();
      await page.mouse.move(600, 300, { steps: 5 });
      await page.mouse.up();
    }, same);
    const touch = await touching(page);
    await changed("two fingers", async () => {
      await touch("touchStart", [[600, 400], [700, 400]]);
      for (let step = 10; step <= 100; step += 10) await touch("touchMove", [[600 - step, 400], [700 + step, 400]]);
      await touch("touchEnd", []);
    }, (before) => length < before);
    await page.keyboard.press("0");
    await until("everything", () => view(page) === null);
    return page;
  },

  "Shift and drag select a range, F shows it, Escape ends it": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    await page.keyboard.down("Shift");
    await page.mouse.move(500, 400);
    await page.mouse.down();
    await page.mouse.move(800, 400, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await until("a range in the address", () => page.url().includes("range="));
    await page.keyboard.press("f");
    await until("the view of the range", () => view(page) !== null);
    await page.keyboard.press("Escape");
    await until("no range", () => !page.url().includes("range="));
    return page;
  },

  "on the scale a finger selects a range, and two zoom instead": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    const touch = await touching(page);
    const y = (await page.locator(canvas).boundingBox()).y + 12;
    const range = () => new URLSearchParams(new URL(page.url()).hash.split("?")[1] ?? "").get("range");
    await touch("touchStart", [[500, y]]);
    for (let x = 520; x <= 700; x += 20) await touch("touchMove", [[x, y]]);
    await touch("touchEnd", []);
    const address = await settled(page);
    const selected = address.get("range");
    assert.ok(selected);
    assert.equal(address.get("view"), null);
    await until("its address", () => range() === selected);
    await touch("touchStart", [[600, y]]);
    for (let x = 610; x <= 650; x += 10) await touch("touchMove", [[x, y]]);
    await until("another range", () => range() !== selected);
    await touch("touchStart", [[650, y], [750, y]]);
    await until("the range before", () => range() === selected);
    for (let step = 10; step <= 100; step += 10) await touch("touchMove", [[650 - step, y], [750 + step, y]]);
    await touch("touchEnd", []);
    await until("a shorter view", () => view(page) !== null);
    assert.equal(range(), selected);
    return page;
  },

  "a click on a span shows arguments, context and the spans around; links are followed": async ({ shop }) => {
    const page = await open(shop, "#timeline");
    const [number] = await numberOf(page, (row) => row.kind === "event" && row.message.startsWith("within"));
    await page.goto(`${new URL(page.url()).origin}/#timeline?record=${number}`);
    await page.waitForSelector(".details .tree .leaf");
    // The spans around come with an answer of their own.
    await until("the spans around", async () => (await page.textContent(".details")).includes("Spans around"));
    const text = await page.textContent(".details");
    for (const part of ["request", "share", "inner", "shop.rs:"]) assert.ok(text.includes(part), part);
    await page.click(".details .relative .link >> nth=0");
    await until("the span around", async () => /^Span/i.test(await page.textContent(".details .headline")));
    await until("the spans within it", async () => (await page.textContent(".details")).includes("Spans within"));
    // And by the mouse.
    await page.keyboard.press("Escape");
    await page.waitForSelector(".details", { state: "hidden" });
    const place = await findSpan(page, "span");
    await page.mouse.click(...place);
    await page.waitForSelector(".details .facts-list");
    assert.ok(page.url().includes("#timeline"));
    return page;
  },

  "the search goes to the next and the previous match": async ({ shop }) => {
    const page = await open(shop);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("generic");
    await until("how many match", async () => /records of \d+ places/.test(await page.textContent(".search")));
    const at = async (number) => until(`match ${number}`, async () => (await page.textContent(".search span")).startsWith(`${number} of `));
    await page.keyboard.press("Enter");
    await at(1);
    await page.keyboard.press("Enter");
    await at(2);
    await page.keyboard.press("Shift+Enter");
    await at(1);
    await until("the details of the match", async () => (await page.textContent(".details")).includes("generic"));
    return page;
  },

  "an address brings everything back": async ({ shop }) => {
    const page = await open(shop, "#records?filter=-l+warn&zone=utc&column=%40time&column=%40message&record=3");
    await until("the filter", async () => (await page.inputValue(".filter input")) === "-l warn");
    assert.equal(await page.inputValue("select"), "utc");
    assert.deepEqual(await page.locator("[role=columnheader]").allTextContents(), ["Time", "Message"]);
    return page;
  },

  "times are local, UTC, or since the beginning": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    const shows = async (zone, text) => {
      await page.selectOption("select", zone);
      await page.mouse.move(700, 500);
      await page.mouse.move(701, 500);
      await until(zone, async () => text.test(await page.textContent(".bottom")));
    };
    await shows("local", /\+0[12]:00/);
    await shows("utc", /UTC/);
    await shows("relative", /since the beginning/);
    return page;
  },

  "tracks are found by a word, and rectangles by keys": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    await page.keyboard.press("t");
    await page.keyboard.type("counter");
    const about = () => page.textContent("#panel-timeline .bar > [role=status]");
    await until("the others are hidden", async () => /^\d+ tracks hidden/.test(await about()));
    await until("the address has it", () => page.url().includes("tracks=counter"));
    await page.keyboard.press("Escape");
    await until("all are there", async () => !(await about()).includes("hidden"));
    await drawn(page);
    await page.keyboard.press(".");
    await page.waitForSelector(".details .facts-list");
    await until("a record in the address", () => /record=\d+/.test(page.url()));
    const number = () => /record=(\d+)/.exec(page.url())?.[1];
    const one = number();
    await page.keyboard.press(".");
    await until("the next", () => number() && number() !== one);
    await page.keyboard.press(",");
    await until("the one before", () => number() === one);
    return page;
  },

  "what is not known yet is said, and details come by themselves": async ({ shop }) => {
    const page = await open(shop);
    // What was asked for before is no answer that counts.
    await drawn(page);
    await page.waitForSelector(`${canvas}[data-detail=full]`);
    let answers = 0;
    // As of a file of which half has been read, and whose picture takes a while.
    await page.route("**/api/lanes?*", async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      answers++;
      if (answers < 3) Object.assign(answer, { refining: true, merged_ns: "1000000" });
      const half = Number(BigInt(answer.to) - BigInt(answer.from)) / 2;
      for (const track of answer.tracks) if (track.points) Object.assign(track, { unread_from: half, points: { at: [], min: [], max: [], last: [], count: [] } });
      await route.fulfill({ response, json: answer });
    });
    const about = () => page.textContent("#panel-timeline .bar > [role=status]");
    await page.mouse.move(900, 300);
    await page.mouse.wheel(0, -400);
    await until("full detail", async () => {
      return answers >= 3 && (await page.locator(canvas).getAttribute("data-detail")) === "full";
    });
    assert.equal(answers, 3);
    assert.equal(await about(), "grey: not read yet");
    await findSpan(page, "not read yet");
    await page.unrouteAll({ behavior: "wait" });
    return page;
  },

  "the picture can be saved": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=PNG")]);
    const bytes = readFileSync(await download.path());
    assert.deepEqual([...bytes.subarray(1, 4)], [...Buffer.from("PNG")]);
    return page;
  },

  "dark and light, help, and what a screen reader gets": async ({ shop }) => {
    const page = await open(shop);
    await drawn(page);
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await back();
    await page.getByRole("button", { name: "Dark or light" }).click();
    assert.notEqual(await back(), dark);
    await page.getByRole("button", { name: "Dark or light" }).click();
    assert.equal(await back(), dark);
    await page.locator(canvas).focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("2");
    const grid = page.getByRole("grid", { name: "Records" });
    await grid.getByRole("row").nth(3).waitFor();
    assert.ok((await grid.getByRole("columnheader").allTextContents()).includes("Message"));
    assert.ok(Number(await grid.getAttribute("aria-rowcount")) > 100);
    assert.equal(await page.getByRole("tab", { name: "Records" }).getAttribute("aria-selected"), "true");
    return page;
  },
};

/** Sends touches, each with the places of all fingers that are down. */
async function touching(page) {
  const session = await page.context().newCDPSession(page);
  return (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
}

/** Number of the first record that satisfies a condition, and the record. */
export async function numberOf(page, condition) {
  const rows = await page.evaluate(async () => (await (await fetch("/api/records?from=0&count=500")).json()).rows);
  const row = rows.find(condition);
  assert.ok(row, "a record like this in the trace");
  return [row.number, row];
}
