// @ts-check
// The list of all candidates. Only the rows in sight exist, and they are asked for in parts, so a list of a hundred
// thousand scrolls like one of a hundred.
import { el } from "./element.js";
import { counted, number } from "./words.js";
import { place } from "./source.js";
import { badge } from "./candidate.js";

const HIGH = 32;
const PART = 200;
const SPARE = 8;
const LABELS = ["correct", "suspect", "wrong", "crashed", "timed-out", "not-compiled", "refused", "malformed"];
const ROLES = ["explore", "deepen", "improve", "repair"];
const HEADS = ["Verdict", "Speed", "Reward", "Step", "Stage", "Role", "Hash"];

/** @param {string} name @param {string} title @param {[string, string][]} options */
function choice(name, title, options) {
  return el("label", {}, title, el("select", { name }, ...options.map(([value, text]) => el("option", { value }, text))));
}

/**
 * @param {import("./source.js").Source} from
 * @param {string} run
 * @param {(at: string) => string} address
 */
export function candidates(from, run, address) {
  const same = (/** @type {string[]} */ values) => values.map((value) => /** @type {[string, string]} */ ([value, value]));
  const form = el("form", { class: "filter", role: "search", "aria-label": "Filter the candidates", submit: (/** @type {Event} */ event) => event.preventDefault() },
    choice("verdict", "Verdict", [["", "all"], ...same(LABELS)]),
    choice("role", "Role", [["", "all"], ...same(ROLES)]),
    choice("stage", "Stage", [["", "all"], ...same(["1", "2", "3", "4", "5", "6"])]),
    choice("order", "First", from.live ? [["newest", "newest"], ["fastest", "fastest"], ["rewarded", "best rewarded"]] : [["fastest", "fastest"], ["newest", "newest"], ["rewarded", "best rewarded"]]),
    el("label", {}, "Hash or words", el("input", { name: "words", type: "search", autocomplete: "off", spellcheck: "false" })));
  const count = el("p", { role: "status", class: "dim" });
  const space = el("div", { class: "space" });
  const grid = el("div", { class: "rows", role: "grid", tabindex: 0, "aria-label": "Candidates", "aria-colcount": HEADS.length },
    el("div", { role: "row", class: "row head", "aria-rowindex": 1 }, ...HEADS.map((head) => el("span", { role: "columnheader" }, head))), space);
  /** @type {Map<number, import("./source.js").Row[] | null>} */
  let parts = new Map();
  // What a part held before it is asked for again, so that nothing flickers.
  let before = parts;
  let total = 0;
  let turn = 0;
  let active = 0;

  /** @returns {import("./source.js").Filter} */
  function filter() {
    const data = new FormData(/** @type {HTMLFormElement} */ (form));
    const text = (/** @type {string} */ name) => String(data.get(name) ?? "");
    return { verdict: text("verdict"), stage: text("stage"), role: text("role"), words: text("words"), order: text("order") };
  }

  /** @param {number} part */
  async function load(part) {
    if (parts.has(part)) return;
    parts.set(part, null);
    const mine = turn;
    try {
      const told = await from.list(run, filter(), part * PART, PART);
      if (mine !== turn) return;
      parts.set(part, told.rows);
      total = told.total;
      const few = !from.live && told.all > total ? "; this file holds the fastest" : "";
      count.textContent = `${counted(total, "candidate")} of ${told.all.toLocaleString("en")}${few}`;
    } catch (error) {
      if (mine === turn) parts.delete(part);
      count.textContent = `The list cannot be read: ${error instanceof Error ? error.message : error}`;
      return;
    }
    paint();
  }

  /** @param {number} index @param {import("./source.js").Row | undefined} row */
  function line(index, row) {
    const cells = row ? [badge(row.label), number(row.speed), number(row.reward), row.step + 1, row.stage ?? "-", row.role, (row.hash ?? "-").slice(0, 12)] : HEADS.map(() => "…");
    return el("a", { role: "row", class: `row${index === active ? " active" : ""}`, id: `row-${index}`, tabindex: -1, "aria-rowindex": index + 2,
      href: row && address(place(row)), style: `top:${index * HIGH}px` }, ...cells.map((cell) => el("span", { role: "gridcell" }, cell)));
  }

  function paint() {
    const first = Math.max(0, Math.floor(grid.scrollTop / HIGH) - SPARE);
    const last = Math.min(total, Math.ceil((grid.scrollTop + grid.clientHeight) / HIGH) + SPARE);
    space.style.height = `${total * HIGH}px`;
    grid.setAttribute("aria-rowcount", String(total + 1));
    const rows = [];
    for (let index = first; index < last; index++) {
      const part = Math.floor(index / PART);
      if (!parts.has(part)) load(part);
      rows.push(line(index, (parts.get(part) ?? before.get(part))?.[index % PART]));
    }
    space.replaceChildren(...rows);
    if (active >= first && active < last) grid.setAttribute("aria-activedescendant", `row-${active}`);
    else grid.removeAttribute("aria-activedescendant");
  }

  function again() {
    turn += 1;
    before = parts;
    parts = new Map();
    load(Math.floor(grid.scrollTop / HIGH / PART));
  }

  let waiting = 0;
  function soon() {
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; paint(); });
  }
  grid.addEventListener("scroll", soon);
  let typing = 0;
  form.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => { active = 0; grid.scrollTop = 0; again(); }, 150);
  });
  grid.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(grid.clientHeight / HIGH) - 2);
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
    if (event.key === "Enter") /** @type {HTMLElement | null} */ (space.querySelector(`#row-${active}`))?.click();
    if (!(event.key in moves)) return;
    event.preventDefault();
    active = Math.max(0, Math.min(total - 1, moves[event.key]));
    const top = active * HIGH;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + 2 * HIGH > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + 2 * HIGH - grid.clientHeight;
    paint();
  });
  new ResizeObserver(soon).observe(grid);
  load(0);
  return { node: el("div", {}, form, count, grid), update: again };
}
