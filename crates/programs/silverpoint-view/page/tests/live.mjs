// Programs that run while somebody looks: their sites are switched from the page.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { begin, example, open, run, serve, silverpoint, until } from "./harness.mjs";

const records = async (page) => page.evaluate(async () => Number((await (await fetch("/api/trace")).json()).progress.records));

/** No record comes any more: two answers are equal, and a program that goes on would have written a hundred in between. */
async function isSilent(page) {
  const before = await records(page);
  await page.waitForTimeout(500);
  return (await records(page)) === before;
}

export const tests = {
  "sites of a running program are switched on and off": async () => {
    const program = begin(example("subject"), "tick", "5");
    await new Promise((ready) => createInterface({ input: program.stdout }).once("line", ready));
    const server = await serve(String(program.pid));
    const page = await open(server, "#statistics?part=switches");
    const place = page.getByRole("table", { name: "Switches" }).getByRole("row", { name: /tick/ });
    const box = place.getByRole("checkbox");
    assert.equal(await box.isChecked(), false);
    assert.equal(await records(page), 0);
    await box.click();
    await until("records come", async () => (await records(page)) > 20);
    const present = () => run(silverpoint, "ctl", String(program.pid));
    assert.match(present(), /subject\.rs:\d+=on/);
    await until("the box says so", () => box.isChecked());
    await box.click();
    await until("the directive", () => /subject\.rs:\d+=off/.test(present()));
    await until("no record comes", () => isSilent(page));
    // By its directives.
    const directives = page.getByRole("textbox", { name: /^Directives of subject/ });
    page.isExpected = (text) => text.includes("400");
    await directives.fill("loud");
    await directives.press("Enter");
    await page.locator(".note.bad", { hasText: "column 1" }).waitFor();
    await directives.fill("clock=info");
    await directives.press("Enter");
    await until("the box follows", () => box.isChecked());
    // In the details of a record, while the table is at rest.
    await box.click();
    await until("the directive", () => /=off/.test(present()));
    await until("no record comes", () => isSilent(page));
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("2");
    await page.locator(".row", { hasText: "tick" }).first().click();
    const press = page.locator(".details").getByText(/^Switch (on|off)$/);
    await press.waitFor();
    await until("it is off", async () => (await press.textContent()) === "Switch on");
    const before = await records(page);
    await press.click();
    await until("it is on", async () => (await press.textContent()) === "Switch off");
    await until("records come again", async () => (await records(page)) > before);
    // The program ends; the page says so.
    program.stdin.end();
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("3");
    await page.getByText("No program that is shown here is running.").waitFor();
    return page;
  },
};
