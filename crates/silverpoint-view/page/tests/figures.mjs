// Statistics and SQL.

import assert from "node:assert/strict";
import { coloursOf, open, until } from "./harness.mjs";

export const tests = {
  "statistics have latencies and places, are sorted, and lead to records": async ({ shop }) => {
    const page = await open(shop, "#statistics");
    const spans = page.getByRole("table", { name: "Spans" });
    await spans.getByRole("row").nth(1).waitFor();
    const names = () => spans.locator("tbody tr td:first-child").allTextContents();
    assert.ok((await names()).includes("span"));
    await spans.getByRole("button", { name: "Name" }).click();
    assert.deepEqual(await names(), [...(await names())].sort());
    await spans.getByRole("button", { name: "Name" }).click();
    assert.deepEqual(await names(), [...(await names())].sort().reverse());
    assert.ok((await coloursOf(page, ".spark >> nth=0")) >= 2, "the distribution");
    await page.getByRole("table", { name: "Places" }).locator("tbody tr").first().click();
    await until("the filter of the place", async () => /^--file .*:\d+$/.test(await page.inputValue(".filter input")));
    await page.waitForSelector("#panel-records:not([hidden]) .row");
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
