// Texts that would be HTML, a program or a flood; and records that come while somebody looks.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { begin, example, findSpan, folder, newContext, open, opened, run, serve, shownRecords, silverpoint, until } from "./harness.mjs";

const HTML = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script><style>*{display:none}</style>`;

/** A trace in which every text is hostile. */
function hostileTrace() {
  const to = join(folder, "hostile.silver");
  if (existsSync(to)) return to;
  const records = [];
  const time = (number) => `2026-11-20T19:00:00.${String(number * 1000).padStart(9, "0")}Z`;
  for (let number = 0; number < 300; number++) {
    const common = { process: HTML, pid: 7, tid: 8 + (number % 20), thread: `${HTML}${number % 20}`, category: HTML, file: `${HTML}.cpp`, line: 1 + (number % 3), function: HTML };
    records.push({ time: time(number), level: "warn", kind: "event", name: HTML, message: `${HTML} ${number}`, template: HTML, args: { [HTML]: HTML, list: [HTML, "\u202e\u0000\u001b[31m", "a".repeat(3000)] }, context: { [HTML]: HTML }, ...common });
  }
  const from = join(folder, "hostile.jsonl");
  writeFileSync(from, records.map((record) => JSON.stringify(record)).join("\n"));
  run(silverpoint, "convert", from, to);
  return to;
}

export const tests = {
  "nothing of a trace is taken as HTML": async () => {
    const server = await serve(hostileTrace());
    const page = await open(server);
    const place = await findSpan(page, "<img src=x");
    await page.mouse.click(...place);
    await page.waitForSelector(".details .tree .leaf");
    assert.ok((await page.textContent(".details")).includes("onerror="));
    for (const tab of ["2", "3", "4"]) {
      await page.keyboard.press("Escape");
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press(tab);
      await until("the tab is filled", async () => (await page.locator("main .panel:visible").textContent()).length > 20);
    }
    await page.keyboard.press("2");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("2");
    await page.locator(".facets section", { has: page.getByText("Category", { exact: true }) }).locator(".facet").first().click();
    await until("the filter", async () => /-c .*onerror\?/.test(await page.inputValue(".filter input")));
    await page.waitForSelector(".row");
    assert.equal(await page.locator("main img, main script, main style").count(), 0);
    assert.equal(await page.title(), "hostile.silver – Silverpoint");
    assert.deepEqual(page.problems, []);
    return page;
  },

  "an exported range opens from the disk, and nothing in it is taken as HTML": async () => {
    const server = await serve(hostileTrace());
    const page = await open(server);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the selected range" }).click();
    const file = join(folder, "exported.html");
    await (await download).saveAs(file);
    await page.close();
    const html = readFileSync(file, "utf8");
    assert.match(html, /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-[0-9a-f]{32}'/);
    assert.ok(!html.includes("<img src=x") && !html.includes("</script><script>document"), "texts are data");
    // No server and no cookie: a context of its own without a network.
    const context = await newContext();
    await context.setOffline(true);
    const saved = await opened(context, pathToFileURL(file).href);
    await until("its records", async () => (await saved.textContent(".overview .facts")).startsWith("300 records"));
    const place = await findSpan(saved, "<img src=x");
    await saved.mouse.click(...place);
    await saved.waitForSelector(".details .tree .leaf");
    assert.ok((await saved.textContent(".details")).includes("onerror="));
    for (const tab of ["2", "3"]) {
      await saved.evaluate(() => document.activeElement?.blur());
      await saved.keyboard.press(tab);
      await until("the tab is filled", async () => (await saved.locator("main .panel:visible").textContent()).includes("onerror="));
    }
    assert.equal(await saved.locator("main img, main script, main style").count(), 0);
    assert.equal(await saved.title(), "hostile.silver – Silverpoint");
    return saved;
  },

  "a range that is too large is not exported, and the page says so": async () => {
    const file = join(folder, "many.silver");
    run(silverpoint, "run", "-q", "-o", file, "--", example("subject"), "count", "20001");
    const page = await open(await serve(file));
    await page.getByRole("button", { name: "Save the selected range" }).click();
    await page.locator(".note.bad", { hasText: "at most 20,000 records" }).waitFor();
    return page;
  },

  "live records come, the table stays where it is, follows again, and pauses": async () => {
    const file = join(folder, "live.silver");
    const program = begin(silverpoint, "run", "-q", "-o", file, "--", example("subject"), "tick", "5");
    await until("the file has records", () => {
      try {
        return run(silverpoint, "cat", "--json", "--tail", "1", file).length > 0;
      } catch {
        return false;
      }
    });
    const server = await serve("--follow", file);
    const page = await open(server, "#records");
    const first = async () => Number(await page.locator(".row").first().getAttribute("aria-rowindex"));
    await until("more than a screen", async () => (await shownRecords(page)) > 80);
    const follow = page.getByRole("button", { name: "Follow new records (L)" });
    await until("it follows", async () => (await follow.getAttribute("aria-pressed")) === "true" && (await first()) > 40);
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, -400);
    await until("it stays", async () => (await follow.getAttribute("aria-pressed")) === "false");
    let stays = -1;
    await until("it is drawn", async () => stays === (stays = await first()));
    const before = await shownRecords(page);
    await until("new records", async () => (await shownRecords(page)) > before + 20);
    assert.equal(await first(), stays);
    await page.getByText(/new$/).click();
    await until("at the end again", async () => (await first()) > stays);
    await page.click("text=Pause");
    const known = () => page.evaluate(async () => Number((await (await fetch("/api/trace")).json()).progress.records));
    let paused;
    // One answer may be under way. A page that goes on asks several times while so many records come.
    await until("it rests", async () => {
      paused = await shownRecords(page);
      const now = await known();
      await until("more records", async () => (await known()) > now + 200);
      return (await shownRecords(page)) === paused;
    });
    await page.click("text=Resume");
    await until("it goes on", async () => (await shownRecords(page)) > paused);
    program.stdin.end();
    return page;
  },
};
