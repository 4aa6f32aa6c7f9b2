// @ts-check
// Where the page's data come from: a server, or this file.

/**
 * @typedef {{name: string, task: string, model: string, doing: string, status: string, steps: number,
 *   of_steps: number, seconds: number, of_seconds: number, left_s: number | null, answers: number, unit: string,
 *   seed_speed: number | null, best: number | null, rate: number, seed: number, setting: string, warnings: number,
 *   began_s: number, last_s: number}} Head
 * @typedef {{step: number, group: number, member: number, hash: string | null, label: string | null,
 *   speed: number | null, reward: number | null, stage: number | null, role: string, parent: string | null}} Row
 * @typedef {{verdict: string, stage: string, role: string, words: string, order: string}} Filter
 * @typedef {{total: number, all: number, rows: Row[]}} Listing
 * @typedef {Record<string, any>} View
 * @typedef {{heads: () => Promise<Head[]>, view: (run: string) => Promise<View>,
 *   list: (run: string, filter: Filter, from: number, count: number) => Promise<Listing>,
 *   detail: (run: string, at: string) => Promise<Record<string, any> | null>,
 *   fleet: () => Promise<any>, pooled: any[], live: boolean,
 *   follow: (changed: (heads: Head[]) => void, linked: (is: boolean) => void) => void}} Source
 */

/** @param {{step: number, group: number, member: number}} row */
export function place(row) {
  return `${row.step}-${row.group}-${row.member}`;
}

/** @param {string} path @param {Record<string, string | number>} query */
async function ask(path, query = {}) {
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
  const answer = await fetch(`data/${path}?${text}`);
  if (answer.status === 404) return null;
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ?? answer.statusText);
  return told;
}

/** @returns {Source} */
function live() {
  return {
    live: true,
    pooled: [],
    heads: () => ask("runs"),
    view: (run) => ask("run", { run }),
    list: (run, filter, from, count) => ask("candidates", { run, ...filter, from, count }),
    detail: (run, at) => ask("candidate", { run, at }),
    fleet: () => ask("fleet"),
    follow(changed, linked) {
      // The browser connects again by itself, and every connection begins with all runs.
      const events = new EventSource("events");
      events.addEventListener("runs", (event) => changed(JSON.parse(event.data)));
      events.addEventListener("open", () => linked(true));
      events.addEventListener("error", () => linked(false));
    },
  };
}

/** @param {Row} row @param {Filter} filter */
function suits(row, filter) {
  return (!filter.verdict || row.label === filter.verdict) &&
    (!filter.stage || String(row.stage) === filter.stage) &&
    (!filter.role || row.role === filter.role) &&
    (!filter.words || (row.hash ?? "").startsWith(filter.words.toLowerCase()));
}

/** @param {{runs: {view: View, listing: Listing, details: Record<string, any>[]}[], pooled: any[]}} kept
 * @returns {Source} */
function frozen(kept) {
  const named = (/** @type {string} */ run) => kept.runs.find((one) => one.view.head.name === run);
  /** @type {Record<string, (a: Row, b: Row) => number>} */
  const orders = {
    newest: (a, b) => b.step - a.step || b.group - a.group || b.member - a.member,
    fastest: (a, b) => (b.speed ?? -1) - (a.speed ?? -1),
    rewarded: (a, b) => (b.reward ?? -1) - (a.reward ?? -1),
  };
  return {
    live: false,
    pooled: kept.pooled,
    heads: async () => kept.runs.map((run) => run.view.head),
    view: async (run) => /** @type {View} */ (named(run)?.view),
    async list(run, filter, from, count) {
      const listing = named(run)?.listing ?? { all: 0, rows: [] };
      const rows = listing.rows.filter((row) => suits(row, filter)).sort(orders[filter.order] ?? orders.fastest);
      return { total: rows.length, all: listing.all, rows: rows.slice(from, from + count) };
    },
    detail: async (run, at) => named(run)?.details.find((one) => one.hash === at || place(/** @type {any} */ (one)) === at) ?? null,
    fleet: async () => null,
    follow() {},
  };
}

export function source() {
  const kept = document.getElementById("kept");
  return kept ? frozen(JSON.parse(kept.textContent ?? "")) : live();
}
