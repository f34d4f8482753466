// The page in Firefox: what is most likely to differ there. Everything else is tested in Chromium.

import assert from "node:assert/strict";
import { canvas, coloured, drawn, findSpan, goToLastRow, open, run, serveToFirefox, shownRecords, silverpoint, until, view } from "./harness.mjs";

let server;

/** A page on a server of its own: a token opens one browser. */
async function opened(file, hash) {
  server ??= await serveToFirefox(file);
  return open(server, hash);
}

export const tests = {
  "Firefox: the timeline draws, moves and shows details": async ({ file }) => {
    const page = await opened(file, "#timeline");
    assert.match(await page.evaluate(() => navigator.userAgent), /Firefox/);
    await drawn(page);
    await coloured(page, 13, "spans, names and the ruler");
    await coloured(page, 3, "records over time", ".overview canvas");
    const box = await page.locator(canvas).boundingBox();
    await page.mouse.move(box.x + 600, box.y + 200);
    await page.mouse.wheel(0, -400);
    await until("zoomed by the wheel", () => view(page) !== null);
    const zoomed = view(page);
    await page.keyboard.press("d", { delay: 150 });
    await until("moved by D", () => view(page) !== zoomed);
    await page.mouse.move(box.x + 500, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 800, box.y + 10, { steps: 5 });
    await page.mouse.up();
    await until("a range in the address", () => page.url().includes("range="));
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
    await until("everything", () => view(page) === null);
    await page.mouse.click(...(await findSpan(page, "span")));
    await page.waitForSelector(".details .facts-list");
    return page;
  },

  "Firefox: the table, a filter, statistics and SQL": async ({ file }) => {
    const page = await opened(file, "#records");
    await goToLastRow(page);
    const warnings = run(silverpoint, "cat", "-l", "warn", "--json", file).trim().split("\n").length;
    await page.fill(".filter input", "-l warn");
    await page.keyboard.press("Enter");
    await until("the warnings alone", async () => (await shownRecords(page)) === warnings);
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("3");
    await page.getByRole("table", { name: "Places" }).locator("tbody tr").first().waitFor();
    await page.keyboard.press("4");
    await page.fill("#panel-sql textarea", "select count(*) as n from records");
    await page.keyboard.press("Control+Enter");
    const records = run(silverpoint, "cat", "--count", file).trim();
    await until("the answer", async () => (await page.textContent("#panel-sql")).includes(records));
    return page;
  },
};
