// What the tests share: traces, real servers, a browser, and waiting for conditions.

import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium, firefox } from "playwright-core";

const root = resolve(import.meta.dirname, "../../../../..");
const target = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug");
export const silverpoint = join(target, "silverpoint");
export const example = (name) => join(target, "examples", name);

/** For conditions: a loaded machine is slow, and a fault takes no longer than this. */
const DEADLINE_MS = 300_000;

export const folder = mkdtempSync(join(tmpdir(), "view-page-"));
const environment = { ...process.env, SILVERPOINT_DIR: folder, TZ: "Europe/Berlin" };
const children = [];
let [browser, otherBrowser] = [];

/** The last argument may be `{ input }`: what the program reads. One that ends unread would make writing it an error. */
export function run(program, ...words) {
  const more = typeof words.at(-1) === "object" ? words.pop() : {};
  return execFileSync(program, words, { env: environment, encoding: "utf8", maxBuffer: 1 << 28, stdio: [more.input === undefined ? "ignore" : "pipe", "pipe", "pipe"], ...more });
}

/** Starts a program that goes on until the end of the tests. The last argument may be `{ environment }`, what is different there. */
export function begin(program, ...words) {
  const more = typeof words.at(-1) === "object" ? words.pop().environment : {};
  const child = spawn(program, words, { env: { ...environment, ...more }, stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  return child;
}

/** What stands for the desktop's way to open a browser: it writes its argument into the file `path`. */
export function fakeBrowser() {
  const programs = join(folder, "programs");
  mkdirSync(programs, { recursive: true });
  const path = join(programs, "asked");
  writeFileSync(join(programs, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$*" >'${path}'\n`, { mode: 0o755 });
  return { path, environment: { PATH: `${programs}:${process.env.PATH}`, DISPLAY: ":0", XDG_RUNTIME_DIR: folder } };
}

export async function newContext() {
  browser ??= await chromium.launch({ timeout: DEADLINE_MS, executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  return browser.newContext({ viewport: { width: 1360, height: 800 }, colorScheme: "dark", timezoneId: "Europe/Berlin", hasTouch: true });
}

const firefoxPath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
export const hasFirefox = existsSync(firefoxPath);

/** The same in Firefox, as it is distributed: it is driven by WebDriver BiDi, and has neither touch nor permissions there. */
export async function newFirefoxContext() {
  if (!otherBrowser) {
    otherBrowser = await firefox.launch({ timeout: DEADLINE_MS, channel: "moz-firefox", executablePath: firefoxPath });
    // playwright-core asks for it in any case, and releases with long support do not know it.
    const session = otherBrowser._connection.toImpl(otherBrowser)._browserSession;
    const send = session.send.bind(session);
    session.send = (method, words) => (method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send(method, words));
  }
  return otherBrowser.newContext({ viewport: { width: 1360, height: 800 } });
}

/** A server of its own, and a context of the browser that has its cookie. */
export function serve(...words) {
  return served(begin(silverpoint, "view", "--no-open", ...words));
}

/** The same of a server that has been started. */
export async function served(child) {
  const address = await addressOf(child);
  const context = await newContext();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(address).origin });
  return entered(context, address, child);
}

/** The same in Firefox. */
export async function serveToFirefox(...words) {
  const child = begin(silverpoint, "view", "--no-open", ...words);
  return entered(await newFirefoxContext(), await addressOf(child), child);
}

async function addressOf(child) {
  return new Promise((found, failed) => {
    createInterface({ input: child.stdout }).once("line", found);
    child.once("exit", (code) => failed(new Error(`silverpoint view ended with ${code}`)));
  });
}

/** Exchanges the token of an address for the cookie. */
async function entered(context, address, child) {
  const first = await context.newPage();
  first.setDefaultTimeout(DEADLINE_MS);
  await first.goto(address);
  // A browser whose only page is closed on its way to another one ends.
  await first.waitForSelector("body[data-state]");
  await first.close();
  return { context, origin: new URL(address).origin, child };
}

/** A page of a server; what it writes on its console as an error is a failure of the test. */
export async function open({ context, origin }, hash = "") {
  return opened(context, `${origin}/${hash}`);
}

export async function opened(context, address) {
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  page.problems = [];
  // A test that provokes an error says beforehand which.
  page.isExpected = () => false;
  const problem = (text) => page.isExpected(text) || page.problems.push(text);
  page.on("pageerror", (error) => problem(error.message));
  page.on("console", (message) => message.type() === "error" && problem(`${message.text()} (${message.location().url})`));
  page.on("dialog", (dialog) => {
    problem(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  await page.waitForSelector("body[data-state=finished], body[data-state=waiting]");
  return page;
}

export async function until(what, condition) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${DEADLINE_MS / 1000} s: ${what}`);
    await new Promise((resume) => setTimeout(resume, 40));
  }
}

/** How many records the table says that it has. */
export const shownRecords = async (page) => Number((await page.textContent("#panel-records .bar span")).replace(/\D/g, ""));

/** Goes to the last row of the table by a key; gives its number. */
export async function goToLastRow(page) {
  const grid = page.getByRole("grid", { name: "Records" });
  await page.waitForSelector(".row .cell >> nth=5");
  const total = Number(await grid.getAttribute("aria-rowcount"));
  await grid.focus();
  await page.keyboard.press("End");
  await page.waitForSelector(`.row[aria-rowindex="${total}"][aria-selected=true]`);
  return total;
}

export const canvas = ".timeline canvas";

/** The picture shows what was asked for last. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
  await page.waitForSelector(`${canvas}[data-drawn=complete]`);
}

/** Moves over a track until there is a rectangle with this text in its tip; gives its place. */
export async function findSpan(page, text) {
  await drawn(page);
  const place = await page.locator(canvas).evaluate((element, name) => {
    const box = element.getBoundingClientRect();
    const tip = document.querySelector(".tip");
    for (let y = box.top + 34; y < box.bottom; y += 9) {
      for (let x = box.left + 204; x < box.right - 2; x += 3) {
        element.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, pointerId: 1 }));
        if (!tip.hidden && tip.textContent.includes(name)) return [x, y];
      }
    }
    return undefined;
  }, text);
  if (!place) throw new Error(`no rectangle of '${text}' in the timeline`);
  await page.mouse.move(...place);
  return place;
}

/** How many different colours a part of a canvas has. */
export async function coloursOf(page, selector = canvas) {
  return page.locator(selector).evaluate((element) => {
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4 * 7) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return seen.size;
  });
}

/** Waits until a part of a canvas has so many colours: an answer of its own or the next frame may bring them. */
export const coloured = (page, least, what, selector = canvas) => until(`${least} colours: ${what}`, async () => (await coloursOf(page, selector)) >= least);

/** The address as it is when the page has come to rest: it is written when nothing has changed for a moment, and timers of a page end in their order. */
export async function settled(page) {
  const hash = await page.evaluate(async () => {
    await new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)));
    await new Promise((resume) => setTimeout(resume, 200));
    return location.hash;
  });
  return new URLSearchParams(hash.split("?")[1] ?? "");
}

export const view = (page) => new URLSearchParams(new URL(page.url()).hash.split("?")[1] ?? "").get("view");

export async function finish() {
  await browser?.close();
  await otherBrowser?.close();
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? new Promise((ended) => child.once("exit", ended))));
  rmSync(folder, { recursive: true, force: true });
}
