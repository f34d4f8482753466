// README's picture: the timeline of the demonstration's trace while both programs run, with the arguments of a record.
//
//   node picture.mjs TRACE PNG

import { drawn, finish, open, run, serve, silverpoint } from "./harness.mjs";

const [trace, png] = process.argv.slice(2);
/** What is shown around the record of the details. */
const [BEFORE_NS, AFTER_NS] = [62_000_000, 28_000_000];
const LONG_MS = 200;

try {
  const last = (...words) => run(silverpoint, "cat", "--json", ...words, trace).trim().split("\n").map((line) => JSON.parse(line));
  const ends = ["index_tree", "digest_tree"].map((name) => Date.parse(last("-p", name, "--tail", "1")[0].time));
  const until = new Date(Math.min(...ends) - LONG_MS).toISOString();
  // A file that was indexed: a value of a type of the program's own.
  const { time } = last("-p", "index_tree", "--until", until, "--tail", "200").findLast(({ kind, message }) => kind === "stream" && message.includes('first_include: "'));
  const server = await serve(trace);
  const size = { width: 1400, height: 720 };
  const page = await open(server);
  // Numbers of records and relative times are the server's.
  const found = await page.evaluate(async (wanted) => {
    const ask = async (path) => (await fetch(`/api/${path}`)).json();
    const { begin } = await ask("trace");
    const at = BigInt(Date.parse(`${wanted.slice(0, 19)}Z`)) * 1_000_000n + BigInt(wanted.slice(20, 29));
    const { rows } = await ask(`records?at=${at}&count=50`);
    const row = rows.find(({ process, kind }) => process === "index_tree" && kind === "stream");
    return { number: row.number, at: Number(BigInt(row.time) - BigInt(begin)) };
  }, time);
  await page.close();
  const shown = await open(server, `#timeline?view=${found.at - BEFORE_NS}~${found.at + AFTER_NS}&record=${found.number}`);
  await shown.setViewportSize(size);
  await shown.waitForSelector(".details .tree .leaf");
  await drawn(shown);
  await shown.screenshot({ path: png });
  if (shown.problems.length) throw new Error(shown.problems.join("; "));
  console.log(`${png}: record ${found.number} of ${trace}`);
} finally {
  await finish();
}
