// Traces of kinds of their own: two files, very many threads, losses and waits, and a process that is killed while somebody looks.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { begin, canvas, coloured, drawn, example, fakeBrowser, folder, goToLastRow, newContext, open, opened, run, serve, served, shownRecords, silverpoint, until } from "./harness.mjs";

const api = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path);

/** All rectangles of the first rows of threads, as [marks, count]. */
async function instants(page) {
  const { begin, end } = await api(page, "/api/trace");
  const { tracks } = await api(page, "/api/tracks");
  const ids = tracks.filter(({ kind }) => kind === "thread").map(({ id }) => id);
  const lanes = await api(page, `/api/lanes?from=${begin}&to=${BigInt(end) + 1n}&width=1000&tracks=${ids.join(",")}`);
  return lanes.tracks.flatMap(({ instants }) => instants.marks.map((marks, at) => [marks, instants.count[at]]));
}

export const tests = {
  "two files are compared side by side": async () => {
    const files = [30, 70].map((records) => {
      const file = join(folder, `of-${records}.silver`);
      run(silverpoint, "run", "-q", "-o", file, "--", example("subject"), "spans", String(records));
      return file;
    });
    const page = await open(await serve(...files), "#statistics?part=compare");
    for (const [side, file] of [["A", "file:0"], ["B", "file:1"]]) await page.getByLabel(`What side ${side} has`).selectOption(file);
    const row = page.getByRole("table", { name: "Spans compared" }).locator("tbody tr").filter({ hasText: "subject.spans" });
    await until("the numbers of both files", async () => {
      const cells = await row.locator("td").allTextContents();
      return cells[2] === "30" && cells[3] === "70";
    });
    await until("both are in the address", () => /a=file%3A0/.test(page.url()) && /b=file%3A1/.test(page.url()));
    return page;
  },

  "a search of texts is cancelled": async ({ shop }) => {
    const page = await open(shop, "#records");
    let asked = 0;
    // A search that does not come to its end.
    await page.route("**/api/search*", async (route) => {
      asked++;
      const response = await route.fetch();
      const answer = await response.json();
      await route.fulfill({ response, json: { ...answer, progress: { ...answer.progress, state: "reading", fraction: 0.25 } } });
    });
    const search = page.getByRole("search").filter({ has: page.getByLabel("Find in the text of all records") });
    await search.getByRole("searchbox").fill("order");
    await page.keyboard.press("Enter");
    await search.getByText(/so far · 25 %$/).waitFor();
    await until("it is asked for again", () => asked > 1);
    await search.getByRole("button", { name: "End the search" }).click();
    await search.getByRole("button", { name: "End the search" }).waitFor({ state: "hidden" });
    assert.equal(await search.getByRole("status").textContent(), "");
    // One question may have been under way.
    const before = asked;
    await page.waitForTimeout(400);
    assert.ok(asked <= before + 1, "nobody asks any more");
    await page.unrouteAll({ behavior: "wait" });
    await page.keyboard.press("Escape");
    return page;
  },

  "losses and waits are marked where they were": async () => {
    const file = join(folder, "lossy.silver");
    const collector = begin(silverpoint, "run", "-q", "-o", file, "--", example("subject"), "steps", { environment: { SILVERPOINT_MEMORY: "2M" } });
    const lines = createInterface({ input: collector.stdout });
    await new Promise((ready) => lines.once("line", ready));
    const step = (words) => new Promise((done) => (lines.once("line", done), collector.stdin.write(`${words}\n`)));
    const reads = (pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "silverpoint";
    const readers = [collector.pid, ...readFileSync(`/proc/${collector.pid}/task/${collector.pid}/children`, "utf8").trim().split(" ")].filter(reads);
    const signal = (name) => readers.forEach((pid) => process.kill(Number(pid), name));
    const stats = () => JSON.parse(run(silverpoint, "stats", "--json", file));
    // More than the rings take, of which nobody reads anything for a moment: the thread waits.
    await until("a wait", async () => {
      signal("SIGSTOP");
      const done = step("count 120000");
      await new Promise((resume) => setTimeout(resume, 150));
      signal("SIGCONT");
      await done;
      return stats().stalls > 0;
    });
    // And until it does not wait any more, but loses records.
    await until("a loss", async () => {
      signal("SIGSTOP");
      await step("count 120000");
      signal("SIGCONT");
      return stats().lost > 0;
    });
    // The thread's next record that is not lost states the loss, and when it was.
    await until("a record behind the loss", async () => {
      await step("count 10");
      return run(silverpoint, "cat", "--json", "-q", "-n", "1000", file).includes('"kind":"loss"');
    });
    collector.stdin.end();
    await new Promise((ended) => collector.once("exit", ended));
    const page = await open(await serve(file));
    await drawn(page);
    const trouble = page.getByRole("button", { name: "What is missing or damaged" });
    assert.match(await trouble.textContent(), /lost · .* waits?/);
    // What is not read yet has counts of records alone.
    await until("both marks", async () => {
      const found = await instants(page);
      return [1, 2].every((mark) => found.some(([marks]) => marks & mark));
    });
    const reds = () => page.locator(canvas).evaluate((element) => {
      const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
      // Red as losses are, in the dark theme: much more of it than of the others.
      let red = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] > 180 && data[at + 1] < 110 && data[at + 2] < 120) red++;
      return red;
    });
    await until("red pixels", async () => (await reds()) > 20);
    await trouble.click();
    await page.getByRole("dialog", { name: "What is missing or damaged" }).getByText(/records lost/).first().waitFor();
    await page.keyboard.press("Escape");
    return page;
  },

  "a flow is followed from record to record, through threads, and a link to what it names": async () => {
    const [from, to] = [join(folder, "flow.jsonl"), join(folder, "flow.silver")];
    const line = (number, kind, tid, args) => ({ time: `2026-11-20T19:00:00.${String(number * 1_000_000).padStart(9, "0")}Z`, level: "info", kind, template: kind === "link" ? "follows" : "order", category: "shop", process: "shop", pid: 7, tid, thread: `thread ${tid}`, args });
    const lines = [
      line(0, "flow_begin", 10, { id: 41 }), line(1, "flow_begin", 10, { id: 42 }), line(2, "flow_step", 11, { id: 41 }),
      line(3, "flow_step", 11, { id: 42 }), line(4, "link", 11, { from: 41, to: 42 }), line(5, "flow_end", 12, { id: 42 }),
    ];
    writeFileSync(from, lines.map((one) => JSON.stringify(one)).join("\n"));
    run(silverpoint, "convert", from, to);
    const page = await open(await serve(to), "#records");
    await page.click(".row >> nth=1");
    const shown = (kind, number) => until(`${kind} ${number}`, async () => (await page.textContent(".details .headline")).toLowerCase().startsWith(`${kind} ${number}`));
    await shown("flow begin", 1);
    const next = page.getByRole("button", { name: "Next record with id = 42" });
    await next.click();
    await shown("flow step", 3);
    // The button has the focus still.
    await page.keyboard.press("Enter");
    await shown("flow end", 5);
    await next.click();
    await page.getByText("this is the last").waitFor();
    await page.getByRole("button", { name: "Previous record with id = 42" }).click();
    await shown("flow step", 3);
    // On the timeline, too.
    await page.locator(".details").getByText("In the timeline").click();
    await drawn(page);
    await next.click();
    await shown("flow end", 5);
    await page.keyboard.press("g");
    await page.click(".row >> nth=4");
    await shown("link", 4);
    await page.getByRole("button", { name: "Previous record with id = 41" }).click();
    await shown("flow step", 2);
    return page;
  },

  "a flow is followed among thousands of records of the same time": async () => {
    const [from, to] = [join(folder, "same-time.jsonl"), join(folder, "same-time.silver")];
    const line = (number) => JSON.stringify({ time: "2026-11-20T19:00:00.000000001Z", level: "info", kind: "flow_step", template: `step ${number}`, category: "shop", process: "shop", pid: 7, tid: 10, thread: "one", args: { id: 41 } });
    writeFileSync(from, Array.from({ length: 2_500 }, (_, number) => line(number)).join("\n"));
    run(silverpoint, "convert", from, to);
    const page = await open(await serve(to), "#records");
    await goToLastRow(page);
    await page.click(".row[aria-selected=true]");
    const headline = () => page.textContent(".details .headline");
    const shown = (number) => until(`flow step ${number}`, async () => (await headline()).toLowerCase().replace(/\D/g, "") === String(number));
    await shown(2_499);
    await page.getByRole("button", { name: "Previous record with id = 41" }).click();
    for (const number of [2_498, 2_497, 2_496]) {
      await shown(number);
      // The button of the record that is shown now has the focus as soon as that is shown.
      await page.keyboard.press("Enter");
    }
    await shown(2_495);
    const next = page.getByRole("button", { name: "Next record with id = 41" });
    for (const number of [2_496, 2_497, 2_498, 2_499]) {
      await next.click();
      await shown(number);
    }
    await next.click();
    await page.getByText("this is the last").waitFor();
    return page;
  },

  "ten thousand threads are shown, and the last one is reached": async () => {
    const [from, to] = [join(folder, "threads.jsonl"), join(folder, "threads.silver")];
    const line = (number) => JSON.stringify({ time: `2026-11-20T19:00:00.${String(number * 1000).padStart(9, "0")}Z`, level: "info", message: `of ${number}`, process: "many", pid: 7, tid: 1000 + number, thread: `thread ${number}` });
    writeFileSync(from, Array.from({ length: 10_000 }, (_, number) => line(number)).join("\n"));
    run(silverpoint, "convert", from, to);
    const page = await open(await serve(to));
    await until("all tracks", async () => (await api(page, "/api/tracks?count=1")).total === 10_000);
    await drawn(page);
    const box = await page.locator(canvas).boundingBox();
    const before = await page.locator(canvas).screenshot();
    await page.mouse.move(box.x + 50, box.y + 200);
    await page.mouse.wheel(0, 1e7);
    await drawn(page);
    await until("other threads", async () => !before.equals(await page.locator(canvas).screenshot()));
    await coloured(page, 4, "names and records of the last threads");
    const { tracks } = await api(page, "/api/tracks?from=9999&count=1");
    assert.equal(tracks[0].tid, 10_999);
    return page;
  },

  "a process that is killed while it is followed leaves its records, and the page says that it has ended": async () => {
    const program = begin(example("subject"), "tick", "5");
    await new Promise((ready) => createInterface({ input: program.stdout }).once("line", ready));
    run(silverpoint, "ctl", String(program.pid), "trace");
    const page = await open(await serve(String(program.pid)), "#records");
    const records = async () => Number((await api(page, "/api/trace")).progress.records);
    await until("records", async () => (await records()) > 20);
    program.kill("SIGKILL");
    await page.waitForSelector("body[data-state=finished]");
    const left = await records();
    assert.ok(left > 20);
    await until("the table has all of them", async () => (await shownRecords(page)) === left);
    await page.locator(".row").first().click();
    await page.waitForSelector(".details .facts-list");
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("4");
    await page.getByText(/^SQL reads trace files, not running programs/).waitFor();
    return page;
  },

  "where nothing more can be written, the page says so, and goes on": async () => {
    const program = begin(example("subject"), "tick", "5");
    await new Promise((ready) => createInterface({ input: program.stdout }).once("line", ready));
    run(silverpoint, "ctl", String(program.pid), "trace");
    // Rings that nobody collects are copied into a file, which may have 24 KiB here.
    const server = await served(begin("bash", "-c", 'ulimit -f 24; exec "$0" "$@"', silverpoint, "view", "--no-open", String(program.pid)));
    const page = await server.context.newPage();
    await page.goto(`${server.origin}/#records`);
    await page.waitForSelector("body[data-state=problem]");
    assert.match(await page.textContent(".bottom"), /File too large/);
    program.stdin.end();
    await page.locator(".row").first().click();
    await page.waitForSelector(".details .facts-list");
    await page.close();
  },

  "the browser is opened by a file that others cannot read": async ({ file }) => {
    const { path, environment } = fakeBrowser();
    const server = begin(silverpoint, "view", file, { environment });
    const address = await new Promise((found) => createInterface({ input: server.stdout }).once("line", found));
    const asked = await until("the browser is asked for", () => {
      try {
        return readFileSync(path, "utf8").trim();
      } catch {
        return "";
      }
    });
    assert.equal(statSync(asked).mode & 0o777, 0o600);
    assert.ok(!asked.includes(new URL(address).search), "the token is no argument");
    const context = await newContext();
    const page = await opened(context, pathToFileURL(asked).href);
    assert.equal(page.url().startsWith(new URL(address).origin), true);
    server.kill("SIGTERM");
    await until("the file has gone", () => !statSync(asked, { throwIfNoEntry: false }));
    return page;
  },
};
