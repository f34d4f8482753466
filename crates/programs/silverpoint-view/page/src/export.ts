// A range as one file: the page with the records inside. It opens from the disk and needs no server.

import { get, Refused, type Facets, type Lanes, type RecordAnswer, type Site, type Statistics, type Summary, type TrackAnswer } from "./api.ts";
import { save } from "./dom.ts";
import { format, parse } from "./filter/line.ts";
import { note } from "./note.ts";
import { DATA, type Exported } from "./offline.ts";
import type { Store } from "./state.ts";
import { bytes, count } from "./time.ts";
import { pages, type Trace } from "./trace.ts";
import { rfc3339 } from "./records/records.ts";

/** More records are not exported; the server gives exact rectangles of no more. */
const MOST_RECORDS = 20_000;
/** Characters of the records. */
const MOST_TEXT = 32 << 20;
const MOST_TRACKS = 2000;
const MOST_SITES = 20_000;
const TRACKS_AT_ONCE = 200;
const PAUSE_MS = 200;

/** What is exported: the selected range, or what the timeline shows, or everything. */
function lineOf(trace: Trace, store: Store): string {
  const { range, view, tab, filter } = store.state;
  const wanted = range ?? (tab === "timeline" ? view : undefined);
  if (!wanted) return filter;
  const rest = parse(filter).filter(({ name }) => name !== "--since" && name !== "--until");
  const time = (at: number) => rfc3339(trace.clock.wall(at));
  return format([{ name: "--since", value: time(wanted[0]) }, { name: "--until", value: time(wanted[1]) }, ...rest]);
}

async function collect(filter: string): Promise<Exported> {
  let summary = await get<Summary>("trace", { filter });
  while (summary.progress.state === "reading") {
    note(`Reading: ${count(Number(summary.progress.records))} records so far`);
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    summary = await get<Summary>("trace", { filter });
    tooMany(summary);
  }
  tooMany(summary);
  const total = Number(summary.progress.records);
  if (!total || summary.begin === null || summary.end === null) throw new Error("There is no record to export.");
  const records: RecordAnswer[] = [];
  let size = 0;
  while (records.length < total) {
    const answer = await get<{ rows: RecordAnswer[] }>("records", { filter, from: records.length, count: 500, values: 1 });
    if (!answer.rows.length) break;
    records.push(...answer.rows);
    size += JSON.stringify(answer.rows).length;
    if (size > MOST_TEXT) throw new Error(`The records are larger than ${bytes(MOST_TEXT)} (${count(records.length)} of ${count(total)} fit): select a shorter range, or filter.`);
    note(`Exporting: ${count(records.length)} of ${count(total)} records`);
  }
  const signal = new AbortController().signal;
  const tracks = await pages<TrackAnswer>("tracks", "tracks", filter, MOST_TRACKS, signal);
  const sites = await pages<Site>("sites", "sites", filter, MOST_SITES, signal);
  const lanes: Lanes["tracks"] = [];
  for (let at = 0; at < tracks.length; at += TRACKS_AT_ONCE) {
    const ids = tracks.slice(at, at + TRACKS_AT_ONCE).map(({ id }) => id).join(",");
    lanes.push(...(await get<Lanes>("lanes", { filter, from: summary.begin, to: BigInt(summary.end) + 1n, width: 1, exact: 1, tracks: ids })).tracks);
  }
  return {
    filter,
    summary: { ...summary, live: false, can: ["records"], messages_more: 0 },
    tracks,
    sites,
    records,
    lanes: { from: summary.begin, tracks: lanes },
    facets: await get<Facets>("facets", { filter }),
    statistics: await get<Statistics>("stats", { filter, count: 500 }),
  };
}

function tooMany(summary: Summary): void {
  const total = Number(summary.progress.records);
  if (total > MOST_RECORDS) throw new Error(`An export has at most ${count(MOST_RECORDS)} records, and these are ${summary.progress.state === "reading" ? "more" : count(total)}: select a shorter range, or filter.`);
}

/** The file: everything in it is allowed by one number that only this file has, and texts of the trace are data. */
export function compose(page: { html: string; css: string; js: string }, data: Exported, nonce: string): string {
  // Nothing within a script element may look like its end, or like a comment of HTML.
  const safe = (json: string) => json.replaceAll("<", "\\u003c");
  const script = (code: string) => code.replace(/<(?=\/script|!--|script)/gi, "\\x3c");
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const put = (html: string, what: string, instead: string) => {
    if (!html.includes(what)) throw new Error(`The page has no ${what}`);
    return html.replace(what, () => instead);
  };
  let html = put(page.html, '<meta charset="utf-8">', `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
  // The code comes last: it has the texts that are looked for.
  html = put(html, "</body>", `<script type="application/json" id="${DATA}">${safe(JSON.stringify(data))}</script>\n</body>`);
  html = put(html, '<link rel="stylesheet" href="app.css">', `<style nonce="${nonce}">${page.css.replaceAll("</", "<\\/")}</style>`);
  // A module runs when the page is there, the data behind it included.
  return put(html, '<script type="module" src="app.js"></script>', `<script type="module" nonce="${nonce}">${script(page.js)}</script>`);
}

let isRunning = false;

export async function exportRange(trace: Trace, store: Store): Promise<void> {
  if (isRunning) return;
  isRunning = true;
  try {
    const data = await collect(lineOf(trace, store));
    const [html, css, js] = await Promise.all(["/", "/app.css", "/app.js"].map(async (path) => (await fetch(path, { credentials: "same-origin" })).text()));
    const random = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const file = compose({ html: html!, css: css!, js: js! }, data, random);
    save(new Blob([file], { type: "text/html" }), `${data.summary.title.replace(/[^\w.-]+/g, "_").slice(0, 80) || "trace"}.html`);
    note(`${count(data.records.length)} records exported, ${bytes(file.length)}`);
  } catch (error) {
    note(error instanceof Refused && error.code === "gone" ? "The file has changed meanwhile; open it again." : error instanceof Error ? error.message : String(error), true);
  } finally {
    isRunning = false;
  }
}
