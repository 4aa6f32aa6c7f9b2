// @ts-check
// The list of all candidates. Only the rows in sight exist, and they are asked for in parts, so a list of a hundred
// thousand scrolls like one of a hundred.
import { el } from "./element.js";
import { counted, number } from "./words.js";
import { place } from "./source.js";

const HIGH = 32;
const PART = 200;
const SPARE = 8;
const LABELS = ["correct", "suspect", "wrong", "crashed", "timed-out", "not-compiled", "refused", "malformed"];
const ROLES = ["explore", "deepen", "improve", "repair"];
const HEADS = ["Verdict", "Speed", "Reward", "Step", "Stage", "Role", "Hash"];

/** @typedef {{node: HTMLElement, dot: HTMLElement, words: Text[], index: number, row: import("./source.js").Row | undefined}} Line */

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
  let shown = -1;
  let told = "";
  // How high the list is in sight, as the browser told last.
  let high = 0;
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
      const list = await from.list(run, filter(), part * PART, PART);
      if (mine !== turn) return;
      parts.set(part, list.rows);
      total = list.total;
      const few = !from.live && list.all > total ? "; this file holds the fastest" : "";
      told = `${counted(total, "candidate")} of ${list.all.toLocaleString("en")}${few}`;
    } catch (error) {
      if (mine !== turn) return;
      parts.delete(part);
      count.textContent = `The list cannot be read: ${error instanceof Error ? error.message : error}`;
      return;
    }
    soon();
  }

  /** The lines that exist. A line out of sight is filled anew for one that comes into sight. @type {Line[]} */
  const lines = [];

  /** @returns {Line} */
  function line() {
    const dot = el("i");
    const words = HEADS.map(() => document.createTextNode(""));
    const cells = words.map((text, at) => (at ? el("span", { role: "gridcell" }, text) : el("span", { role: "gridcell" }, el("span", { class: "badge" }, dot, text))));
    return { node: el("a", { role: "row", class: "row", tabindex: -1 }, ...cells), dot, words, index: -1, row: undefined };
  }

  /** @param {Line} line @param {number} index @param {import("./source.js").Row | undefined} row */
  function put(line, index, row) {
    const { node, dot, words } = line;
    if (!node.isConnected) space.append(node);
    node.classList.toggle("active", index === active);
    if (line.index === index && line.row === row) return;
    [line.index, line.row] = [index, row];
    node.id = `row-${index}`;
    node.setAttribute("aria-rowindex", String(index + 2));
    node.style.transform = `translateY(${index * HIGH}px)`;
    if (row) node.setAttribute("href", address(place(row)));
    else node.removeAttribute("href");
    dot.style.background = row ? `var(--${row.label ?? "masked"})` : "none";
    const texts = row ? [row.label ?? "masked", number(row.speed), number(row.reward), row.step + 1, row.stage ?? "-", row.role, (row.hash ?? "-").slice(0, 12)] : HEADS.map(() => "…");
    texts.forEach((text, at) => { if (words[at].data !== String(text)) words[at].data = String(text); });
  }

  /** Shows what is in sight. It reads the scroll position first: after a change of the page, that would lay the page out twice. */
  function paint() {
    const top = grid.scrollTop;
    const first = Math.max(0, Math.floor(top / HIGH) - SPARE);
    const last = Math.min(total, Math.ceil((top + high) / HIGH) + SPARE);
    if (count.textContent !== told) count.textContent = told;
    if (shown !== total) {
      shown = total;
      space.style.height = `${total * HIGH}px`;
      grid.setAttribute("aria-rowcount", String(total + 1));
    }
    while (lines.length < last - first) lines.push(line());
    for (let index = first; index < last; index++) {
      const part = Math.floor(index / PART);
      if (!parts.has(part)) load(part);
      put(lines[index % lines.length], index, (parts.get(part) ?? before.get(part))?.[index % PART]);
    }
    for (const { node, index } of lines) if (index < first || index >= last) node.remove();
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
    const page = Math.max(1, Math.floor(high / HIGH) - 2);
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
    if (event.key === "Enter") /** @type {HTMLElement | null} */ (space.querySelector(`#row-${active}`))?.click();
    if (!(event.key in moves)) return;
    event.preventDefault();
    active = Math.max(0, Math.min(total - 1, moves[event.key]));
    const top = active * HIGH;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + 2 * HIGH > grid.scrollTop + high) grid.scrollTop = top + 2 * HIGH - high;
    paint();
  });
  new ResizeObserver(([grid]) => { high = grid.contentRect.height; soon(); }).observe(grid);
  load(0);
  return { node: el("div", {}, form, count, grid), update: again };
}
