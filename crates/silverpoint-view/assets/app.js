// The summary of a trace and its first records.
"use strict";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

function show(id, text) {
  document.getElementById(id).textContent = text;
}

async function ask(path) {
  const response = await fetch(path);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Nanoseconds since 1970 as text, without losing digits. */
function time(text) {
  const ns = BigInt(text);
  const second = ns >= 0n ? ns / 1000000000n : (ns - 999999999n) / 1000000000n;
  const date = new Date(Number(second) * 1000);
  const day = isNaN(date) ? `${second} s` : date.toISOString().slice(0, 19).replace("T", " ");
  return `${day}.${String(ns - second * 1000000000n).padStart(9, "0")}`;
}

function row(record) {
  const line = document.createElement("tr");
  for (const text of [time(record.time), LEVELS[record.level], record.thread, record.category, record.message]) {
    line.appendChild(document.createElement("td")).textContent = text;
  }
  return line;
}

async function main() {
  const summary = await ask("/api/trace");
  document.title = `${summary.title} – Silverpoint`;
  show("title", summary.title);
  const { records, state, problem } = summary.progress;
  const lost = summary.lost === "0" ? "" : `, ${summary.lost} lost`;
  show("summary", problem ?? `${records} records${lost}, ${summary.tracks} tracks, ${summary.sites} sites (${state})`);
  const messages = summary.messages.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  });
  document.getElementById("messages").replaceChildren(...messages);
  const { rows } = await ask("/api/records?from=0&count=200");
  document.getElementById("records").replaceChildren(...rows.map(row));
  if (state !== "finished") setTimeout(run, state === "reading" ? 200 : 500);
}

function run() {
  main().catch((error) => show("summary", String(error.message ?? error)));
}

run();
