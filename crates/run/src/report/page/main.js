// @ts-check
// Which page is shown, and when it is filled again.
import { el, renew } from "./element.js";
import { date, number } from "./words.js";
import { source } from "./source.js";
import { sheet } from "./candidate.js";
import { comparison, progress, runPage, state } from "./run.js";

/** No page is filled more often than this. */
const PACE = 1000;
/** Fleets are asked less often. */
const FLEET = 5000;

const from = source();
const page = /** @type {HTMLElement} */ (document.getElementById("page"));
const where = /** @type {HTMLElement} */ (document.getElementById("where"));
const link = /** @type {HTMLElement} */ (document.getElementById("link"));
const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("candidate"));

/** @type {import("./source.js").Head[]} */
let heads = [];
/** @type {{key: string, node: HTMLElement, fill: () => Promise<void>} | null} */
let shown = null;
/** @type {any} */
let fleet = null;
let fleetAt = -FLEET;

const toRun = (/** @type {string} */ run) => `#/run/${encodeURIComponent(run)}`;
const toCandidate = (/** @type {string} */ run, /** @type {string} */ at) => `${toRun(run)}/${at}`;

/** The parts of the address behind the hash. */
function route() {
  const [kind, name, at] = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  return { kind: kind || "runs", name: name ?? "", at: at ?? "" };
}

/** The fleet as it was told last. Where its server does not answer, asking takes long, and no page of a run waits for that. */
function lastFleet() {
  if (from.live && performance.now() - fleetAt >= FLEET) {
    fleetAt = Infinity;
    from.fleet().catch((/** @type {unknown} */ error) => ({ problem: error instanceof Error ? error.message : String(error) })).then((told) => {
      fleetAt = performance.now();
      const isNew = JSON.stringify(told) !== JSON.stringify(fleet);
      fleet = told;
      if (isNew) soon();
    });
  }
  return fleet;
}

function list() {
  const body = el("tbody");
  const form = el("form", { submit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const names = new FormData(/** @type {HTMLFormElement} */ (form)).getAll("run").map((name) => encodeURIComponent(String(name)));
    if (names.length > 0) location.hash = `#/compare/${encodeURIComponent(names.join(","))}`;
  } }, el("div", { class: "scroll" }, el("table", { class: "runs" }, el("caption", { class: "unseen" }, "Runs"),
    el("thead", {}, el("tr", {}, ...["", "Run", "Now", "Progress", "Best", "Answers", "Warnings", "Began"].map((head) => el("th", { scope: "col" }, head)))), body)),
  el("button", {}, "Compare the chosen runs"));
  const note = el("p", { class: "dim" });
  const node = el("div", {}, el("h1", {}, "Runs"), note, form);
  return { key: "runs", node, async fill() {
    note.textContent = heads.length === 0 ? "There is no run here yet. This page shows one as soon as it begins." : "";
    form.hidden = heads.length === 0;
    const chosen = new Set(new FormData(/** @type {HTMLFormElement} */ (form)).getAll("run"));
    const focused = document.activeElement?.id;
    renew(body, JSON.stringify(heads), () => heads.map((head, at) => el("tr", {},
      el("td", {}, el("input", { type: "checkbox", name: "run", value: head.name, id: `choose-${at}`, checked: chosen.has(head.name), "aria-label": `Choose ${head.name}` })),
      el("th", { scope: "row" }, el("a", { href: toRun(head.name), id: `run-${at}` }, head.name), el("small", {}, `${head.model} on ${head.task}${head.rate === 0 && head.task ? ", no learning" : ""}`)),
      el("td", {}, state(head), el("small", {}, head.status)), el("td", {}, progress(head)),
      el("td", {}, `${number(head.best)} ${head.best === null ? "" : head.unit}`), el("td", {}, head.answers.toLocaleString("en")), el("td", {}, head.warnings), el("td", {}, date(head.began_s)))));
    if (focused) document.getElementById(focused)?.focus();
  } };
}

/** @param {string} run */
function one(run) {
  const byHash = (/** @type {string} */ hash) => toCandidate(run, hash);
  const made = runPage(from, run, (at) => toCandidate(run, at), byHash);
  return { key: `run ${run}`, node: made.node, async fill() {
    const view = await from.view(run);
    if (!view) throw new Error(`There is no run ${run} here.`);
    const kin = heads.filter((head) => head.name !== run && head.setting === view.head.setting && head.rate === 0 && view.head.rate !== 0);
    const same = kin.filter((head) => head.seed === view.head.seed);
    const controls = await Promise.all((same.length > 0 ? same : kin).slice(0, 3).map((head) => from.view(head.name)));
    made.update(view, controls, lastFleet());
  } };
}

/** @param {string} names */
function several(names) {
  const wanted = names.split(",").map(decodeURIComponent);
  const made = comparison(from.pooled);
  return { key: `compare ${names}`, node: made.node, async fill() {
    const views = (await Promise.all(wanted.map((name) => from.view(name)))).filter((view) => view);
    made.update(views, toRun);
  } };
}

function page_of() {
  const { kind, name } = route();
  if (kind === "run") return shown?.key === `run ${name}` ? shown : one(name);
  const key = kind === "compare" ? `compare ${name}` : "runs";
  if (shown?.key === key) return shown;
  if (kind === "compare") return several(name);
  if (!from.live) return heads.length === 1 ? one(heads[0].name) : several(heads.map((head) => encodeURIComponent(head.name)).join(","));
  return list();
}

/** @param {string} run @param {string} at A place, or the hash of a candidate */
async function open(run, at) {
  const head = heads.find((one) => one.name === run);
  const close = el("button", { click: () => dialog.close() }, "Close");
  const body = el("div", { "aria-busy": "true" });
  dialog.dataset.at = at;
  dialog.replaceChildren(el("h2", { id: "candidate-title" }, "Candidate"), close, body);
  if (!dialog.open) dialog.showModal();
  close.focus();
  try {
    const told = await from.detail(run, at);
    body.replaceChildren(told ? sheet(told, head?.unit ?? "", (place) => toCandidate(run, place), (hash) => toCandidate(run, hash))
      : el("p", {}, from.live ? "There is no such candidate." : "This file does not hold that candidate's code. `hotloop watch` shows all of them."));
  } catch (error) {
    body.replaceChildren(el("p", { class: "warn" }, `It cannot be read: ${error instanceof Error ? error.message : error}`));
  }
  body.removeAttribute("aria-busy");
}

let filling = false;
let again = false;
let timer = 0;
let filledAt = 0;

/** Fills the page, never twice at once. */
async function fill() {
  if (!shown) return;
  if (filling) { again = true; return; }
  filling = true;
  const mine = shown;
  try {
    await mine.fill();
    page.removeAttribute("data-problem");
  } catch (error) {
    page.setAttribute("data-problem", "");
    const text = `The page cannot be filled: ${error instanceof Error ? error.message : error}`;
    if (link.textContent !== text) link.textContent = text;
  }
  page.setAttribute("aria-busy", "false");
  if (!filledAt) performance.mark("filled");
  filledAt = performance.now();
  filling = false;
  if (again || mine !== shown) { again = false; soon(); }
}

function soon() {
  if (timer) return;
  timer = setTimeout(() => { timer = 0; fill(); }, Math.max(0, PACE - (performance.now() - filledAt)));
}

function go() {
  const { kind, name, at } = route();
  const next = page_of();
  if (next !== shown) {
    shown = next;
    page.replaceChildren(next.node);
    page.setAttribute("aria-busy", "true");
    const title = kind === "run" ? name : kind === "compare" ? "comparison" : "";
    renew(where, kind + name, () => title ? [" / ", title] : []);
    if (from.live) document.title = title ? `${title} - hotloop` : "hotloop";
    filledAt = 0;
    fill();
  }
  if (kind === "run" && at) open(name, at);
  else if (dialog.open) dialog.close();
}

// The skip link must not change the address, which names the page.
document.getElementById("skip")?.addEventListener("click", (event) => { event.preventDefault(); page.focus(); });
// The event comes after the deed. By then the address may name another candidate.
dialog.addEventListener("close", () => {
  const { kind, name, at } = route();
  if (kind === "run" && at && at === dialog.dataset.at && !dialog.open) history.replaceState(null, "", toRun(name));
});
window.addEventListener("hashchange", go);

async function start() {
  heads = (await from.heads()) ?? [];
  go();
  from.follow((told) => {
    const now = JSON.stringify(told);
    if (now === JSON.stringify(heads)) return;
    heads = told;
    soon();
  }, (is) => {
    link.textContent = is ? "" : "no connection to the server; what you see is the last state";
  });
}
start();
