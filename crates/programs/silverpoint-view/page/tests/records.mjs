import assert from "node:assert/strict";
import { goToLastRow, open, run, shownRecords, silverpoint, until } from "./harness.mjs";

export const tests = {
  "the table reaches its last row, by keys and by its scrollbar": async ({ shop }) => {
    const page = await open(shop, "#records");
    const total = await goToLastRow(page);
    await page.keyboard.press("Home");
    await page.waitForSelector(`.row[aria-rowindex="1"][aria-selected=true]`);
    const bar = await page.locator(".scroll").boundingBox();
    await page.mouse.move(bar.x + 5, bar.y + 10);
    await page.mouse.down();
    await page.mouse.move(bar.x + 5, bar.y + bar.height, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector(`.row[aria-rowindex="${total}"]`);
    await page.mouse.move(bar.x - 300, bar.y + 200);
    await page.mouse.wheel(0, -1e6);
    await page.waitForSelector(`.row[aria-rowindex="1"]`);
    return page;
  },

  "any argument is a column": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.fill(".filter input", "point.x=7");
    await page.keyboard.press("Enter");
    await until("few records", async () => (await shownRecords(page)) > 0 && (await shownRecords(page)) < 10);
    await page.click("text=Columns");
    await page.fill("dialog input[type=text]", "point.x");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "point.x" }).waitFor();
    const at = (await page.locator("[role=columnheader]").allTextContents()).indexOf("point.x");
    await until("its value", async () => (await page.locator(".row >> nth=0").locator(".cell").nth(at).textContent()) === "7");
    assert.ok(page.url().includes("column=point.x") || (await until("the address", () => page.url().includes("column=point.x"))));
    return page;
  },

  "a facet filters, and again it does not": async ({ shop, file }) => {
    const page = await open(shop, "#records");
    const warnings = run(silverpoint, "cat", "-l", "warn", "--json", file).trim().split("\n").length;
    const facet = page.locator(".facet", { hasText: "warn" });
    await facet.click();
    await until("the filter", async () => (await page.inputValue(".filter input")) === "-l warn");
    await until("the warnings alone", async () => (await shownRecords(page)) === warnings);
    await until("the facet is pressed", async () => (await facet.getAttribute("aria-pressed")) === "true");
    await facet.click();
    await until("all records", async () => (await shownRecords(page)) > warnings);
    assert.equal(await page.inputValue(".filter input"), "");
    return page;
  },

  "values of an argument are counted, and filter": async ({ shop, file }) => {
    const page = await open(shop, "#records");
    await page.getByRole("textbox", { name: "Count the values of an argument" }).fill("point.x");
    await page.keyboard.press("Enter");
    // All are equally frequent: they stand in the order of their texts.
    const value = page.getByTitle(/^point\.x = 1: /);
    await value.waitFor();
    await page.getByText(/^\d+ more values$/).waitFor();
    const wanted = run(silverpoint, "cat", "--json", "-w", "point.x=1", file).trim().split("\n").length;
    await until("all are counted", async () => (await value.locator(".amount").textContent()) === String(wanted));
    await value.click();
    await until("the condition", async () => (await page.inputValue(".filter input")) === "point.x=1");
    await until("its records", async () => (await shownRecords(page)) === wanted);
    return page;
  },

  "a text is found in all records, next and previous": async ({ shop, file }) => {
    const page = await open(shop, "#records");
    const lines = run(silverpoint, "cat", "--json", file).trim().split("\n").map((line) => JSON.parse(line));
    const { message } = lines.find(({ level }) => level === "warn");
    const many = lines.filter((line) => line.message.toLowerCase().includes(message.toLowerCase())).length;
    const input = page.getByRole("searchbox", { name: "Find in the text" });
    await input.fill(message.toUpperCase());
    await input.press("Enter");
    const state = () => page.locator("#panel-records .search [role=status]").textContent();
    await until("the first", async () => (await state()) === `1 of ${many}`);
    const selected = page.locator(".row[aria-selected=true]");
    await until("its row", async () => (await selected.count()) === 1 && (await selected.textContent()).includes(message));
    if (many > 1) {
      await input.press("Enter");
      await until("the second", async () => (await state()) === `2 of ${many}`);
      await input.press("Shift+Enter");
      await until("the first again", async () => (await state()) === `1 of ${many}`);
    }
    await input.fill("no such text anywhere");
    await input.press("Enter");
    await until("nothing", async () => (await state()) === "no record has it");
    return page;
  },

  "the filter completes, and says what is wrong": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.keyboard.press("/");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.type("--lev");
    await until("what begins so", async () => (await page.getByRole("option").allTextContents())[0]?.includes("--level"));
    await page.keyboard.press("Tab");
    await until("the completion", async () => (await page.inputValue(".filter input")).startsWith("--level"));
    page.isExpected = (text) => text.includes("400");
    await page.fill(".filter input", "-l loud");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".filter.wrong");
    assert.match(await page.locator(".filter input").getAttribute("title"), /loud/);
    return page;
  },

  "a brushed range moves the table and becomes a filter": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.waitForSelector(".row .cell >> nth=5");
    const all = await shownRecords(page);
    const strip = await page.locator(".overview canvas").boundingBox();
    // From before the middle to the end, wherever in time the records are.
    await page.mouse.move(strip.x + strip.width * 0.4, strip.y + 20);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width - 1, strip.y + 20, { steps: 6 });
    await page.mouse.up();
    await page.waitForSelector(".row.inside");
    await page.click("text=Filter to range");
    await until("since and until in the filter", async () => /--since .*--until /.test(await page.inputValue(".filter input")));
    await until("fewer records", async () => (await shownRecords(page)) < all);
    return page;
  },

  "rows are copied as text and as JSON": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.click(".row >> nth=2");
    await page.click(".row >> nth=5", { modifiers: ["Shift"] });
    await page.click("#panel-records >> text=Copy text");
    const clip = () => page.evaluate(() => navigator.clipboard.readText());
    await until("four lines", async () => (await clip()).split("\n").length === 4);
    await page.click("#panel-records >> text=Copy JSON");
    await until("four objects", async () => (await clip()).startsWith("{"));
    const records = (await clip()).split("\n").map((line) => JSON.parse(line));
    assert.equal(records.length, 4);
    assert.ok(records.every((record) => record.process === "shop" && /^\d{4}-.*Z$/.test(record.time)));
    assert.ok(records.some((record) => record.args));
    return page;
  },

  "from the table to the timeline and back": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.click(".row >> nth=7");
    await page.waitForSelector(".details .facts-list");
    const number = new URLSearchParams((await until("the record in the address", () => page.url().split("?")[1]))).get("record");
    await page.locator(".details").getByText("In the timeline").click();
    await page.waitForSelector("#panel-timeline:not([hidden])");
    await page.keyboard.press("g");
    await page.waitForSelector(`#row-${number}[aria-selected=true]`);
    await page.keyboard.press("j");
    await page.waitForSelector(`#row-${Number(number) + 1}[aria-selected=true]`);
    await page.keyboard.press("Escape");
    await page.waitForSelector(".details", { state: "hidden" });
    return page;
  },

  "a value in the details becomes a condition": async ({ shop }) => {
    const page = await open(shop, "#records");
    await page.fill(".filter input", "point.x=7");
    await page.keyboard.press("Enter");
    await until("few records", async () => (await shownRecords(page)) > 0 && (await shownRecords(page)) < 10);
    await page.click(".row >> nth=0");
    const leaf = page.locator(".details .leaf", { hasText: "y: " }).first();
    await leaf.hover();
    await leaf.getByRole("button", { name: /Show only records/ }).click();
    await until("both conditions", async () => /point\.x=7 and point\.y=3\.5/.test(await page.inputValue(".filter input")));
    await until("the record", async () => (await shownRecords(page)) === 1);
    return page;
  },
};
