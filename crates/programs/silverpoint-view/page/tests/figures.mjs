// Statistics and SQL.

import assert from "node:assert/strict";
import { coloured, open, until } from "./harness.mjs";

export const tests = {
  "statistics have latencies and places, are sorted, and lead to records": async ({ shop }) => {
    const page = await open(shop, "#statistics");
    const spans = page.getByRole("table", { name: "Spans" });
    await spans.getByRole("row").nth(1).waitFor();
    const names = () => spans.locator("tbody tr td:first-child").allTextContents();
    await until("the span", async () => (await names()).includes("span"));
    const ordered = (order) => until("the order", async () => {
      const found = await names();
      return found.join("\n") === order([...found].sort()).join("\n");
    });
    await spans.getByRole("button", { name: "Name" }).click();
    await ordered((sorted) => sorted);
    await spans.getByRole("button", { name: "Name" }).click();
    await ordered((sorted) => sorted.reverse());
    await coloured(page, 2, "the distribution", ".spark >> nth=0");
    await page.getByRole("table", { name: "Counters" }).getByRole("img").first().waitFor();
    await coloured(page, 2, "the values of a counter", ".spark.wide >> nth=0");
    await page.getByRole("table", { name: "Places" }).locator("tbody tr").first().click();
    await until("the filter of the place", async () => /^--file .*:\d+$/.test(await page.inputValue(".filter input")));
    await page.waitForSelector("#panel-records:not([hidden]) .row");
    return page;
  },

  "a flame graph of all and of a range, by time and by count": async ({ shop }) => {
    const page = await open(shop, "#statistics?part=flame");
    const canvas = page.locator("canvas.flame[data-drawn=finished]");
    await canvas.waitFor();
    const boxes = async () => Number(await canvas.getAttribute("data-boxes"));
    const all = await boxes();
    assert.ok(all >= 3, "all, the process, and its spans");
    await coloured(page, 3, "spans", "canvas.flame");
    const about = () => page.locator("#panel-statistics").getByRole("status").textContent();
    assert.match(await about(), /^whole trace/);
    await page.getByRole("button", { name: "Widths are numbers" }).click();
    await until("records that have no duration, too", async () => /by count/.test(await canvas.getAttribute("aria-label")) && (await boxes()) > all);
    // The second row has the process: a click on it makes it the whole width, and the tip names it.
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 5, box.y + 27);
    await page.getByText(/^shop \d+.* % of all$/).waitFor();
    await page.mouse.click(box.x + 5, box.y + 27);
    await until("the process alone", async () => /of shop/.test(await canvas.getAttribute("aria-label")));
    const strip = await page.locator(".overview canvas").boundingBox();
    await page.mouse.move(strip.x + strip.width * 0.3, strip.y + 20);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.8, strip.y + 20, { steps: 4 });
    await page.mouse.up();
    await until("the range", async () => /^selected range/.test(await about()));
    await canvas.waitFor();
    return page;
  },

  "two ranges are compared": async ({ shop }) => {
    const page = await open(shop, "#statistics?part=compare");
    const spans = page.getByRole("table", { name: "Spans compared" });
    await spans.locator("tbody tr").first().waitFor();
    await until("everything on both sides", async () => {
      const same = await spans.locator("tbody tr").first().locator("td").allTextContents();
      return same[2] === same[3] && same[6] === "0.0 %";
    });
    const strip = await page.locator(".overview canvas").boundingBox();
    await page.mouse.move(strip.x + 2, strip.y + 20);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.5, strip.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Side B is the selected range" }).click();
    const records = async () => spans.page().getByRole("table", { name: "Places compared" }).locator("tbody tr").evaluateAll((rows) => rows.map((row) => [row.children[2].textContent, row.children[3].textContent].map((text) => Number(text.replaceAll(",", "")))));
    await until("fewer records in the range", async () => {
      const list = await records();
      return list.length > 0 && list.every(([a, b]) => b <= a) && list.some(([a, b]) => b < a);
    });
    await until("the address has it", () => /[?&]b=\d+%7E\d+/.test(page.url()));
    return page;
  },

  "SQL answers, refuses, and is cancelled": async ({ shop }) => {
    const page = await open(shop, "#sql");
    const query = async (text) => {
      await page.fill("textarea", text);
      await page.keyboard.press("Control+Enter");
    };
    const state = () => page.textContent("#panel-sql [role=status]");
    await query("select level, count(*) as n, null as missing from records group by level order by n desc");
    await until("its rows", async () => /rows in/.test(await state()) && !/running/.test(await state()));
    const result = page.getByRole("table", { name: "Result" });
    assert.deepEqual(await result.locator("th").allTextContents(), ["level", "n", "missing"]);
    assert.ok((await result.textContent()).includes("warn"));
    const plot = page.getByRole("button", { name: "Show the rows as a plot" });
    await plot.click();
    await page.getByRole("img", { name: "n by level" }).waitFor();
    await coloured(page, 3, "bars and their words", ".chart");
    await plot.click();
    await result.waitFor();
    await query("select nothing from nowhere");
    await until("the mistake", async () => /nowhere/.test(await state()));
    await query("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n");
    const cancel = page.getByRole("button", { name: "End the query" });
    await until("it runs", () => cancel.isEnabled());
    await cancel.click();
    await until("it has ended", () => cancel.isDisabled());
    await page.click("#panel-sql .tables .link >> text=records");
    assert.ok((await page.inputValue("textarea")).endsWith("records"));
    return page;
  },
};
