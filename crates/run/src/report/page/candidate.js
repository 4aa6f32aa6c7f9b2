// @ts-check
// One candidate: verdict, timing, what changed from its parent, prompt and answer.
import { el, table } from "./element.js";
import { cut, duration, number, percent, visible } from "./words.js";
import { place } from "./source.js";

/** @param {string | null | undefined} label */
export function badge(label) {
  return el("span", { class: "badge" }, el("i", { style: `background:var(--${label ?? "masked"})` }), label ?? "masked");
}

/** A source in coloured pieces. @param {[string, string][]} pieces */
export function code(pieces) {
  return el("pre", { tabindex: 0, role: "region", "aria-label": "Source" },
    ...pieces.map(([kind, text]) => (kind ? el("span", { class: kind }, visible(text)) : visible(text))));
}

/** @param {[string, string][]} lines @param {string} what */
export function changes(lines, what) {
  const kinds = { "+": "add", "-": "del", "@": "skip", " ": "" };
  const told = { "+": "added", "-": "removed" };
  return el("pre", { class: "diff", tabindex: 0, role: "region", "aria-label": what },
    ...lines.map(([kind, text]) => el("div", { class: kinds[/** @type {"+"} */ (kind)] || null },
      kind in told && el("span", { class: "unseen" }, `${told[/** @type {"+"} */ (kind)]}: `),
      kind === "@" ? `  … ${text}` : `${kind} ${visible(text)}`)));
}

/** @param {Record<string, any>} one @param {string} unit */
export function timing(one, unit) {
  const measured = one.measured;
  if (!measured) return null;
  const { timing: times, baseline } = measured;
  /** @type {[string, string][]} */
  const rows = [["speed", `${number(one.speed)} ${unit}`], ["seconds a call", duration(measured.seconds)]];
  if (baseline) rows.push([`of ${baseline.name}`, number(one.baseline_ratio)]);
  if (one.peak_fraction !== null) rows.push(["of the machine's peak", percent(one.peak_fraction)]);
  rows.push(["fastest, median run", `${duration(times.min_s)}, ${duration(times.median_s)}`],
    ["spread of the runs", percent(times.cv)],
    ["runs, quiet ones", `${times.samples}, ${times.kept}${times.quiet ? "" : " (too few: other processes disturbed it)"}`],
    ["largest error", number(measured.checks.error)]);
  if (one.fresh.length > 0) rows.push(["fresh timings at the end", one.fresh.map((/** @type {number | null} */ speed) => (speed === null ? "failed" : number(speed))).join(", ")]);
  return table("Timing", [], rows);
}

/** @param {Record<string, any>} one @param {string} unit @param {(at: string) => string} address
 * @param {(hash: string) => string} byHash */
export function sheet(one, unit, address, byHash) {
  const asked = `${one.role}${one.stage ? `, stage ${one.stage}` : ""}, step ${one.step + 1}, group ${one.group + 1}, answer ${one.member + 1}`;
  const folded = (/** @type {string} */ title, /** @type {Node | null} */ content, open = false) =>
    content && el("details", open ? { open: true } : {}, el("summary", {}, title), content);
  return el("div", {},
    el("p", {}, badge(one.label), `, ${asked}, ${one.tokens} tokens`),
    el("p", { class: "dim" }, "Reward ", number(one.reward), ", advantage ", number(one.advantage), ". Made from ",
      one.parent ? el("a", { href: byHash(one.parent) }, one.parent.slice(0, 12)) : "the task's seed", "."),
    one.why && el("pre", { class: "why" }, cut(one.why)),
    timing(one, unit),
    one.pieces.length > 0 && folded("What changed from its parent", changes(one.changes, "What changed from its parent"), true),
    one.pieces.length > 0 && folded("Source", code(one.pieces), true),
    one.children.length > 0 && folded(`Made from it, correct ones (${one.children.length})`, el("ul", {},
      ...one.children.map((/** @type {any} */ child) => el("li", {}, el("a", { href: address(place(child)) }, `${number(child.speed)} ${unit}, ${child.role}, step ${child.step + 1}`))))),
    one.prompt !== null && folded("Prompt", el("pre", { class: "wrap", tabindex: 0 }, cut(one.prompt))),
    one.answer !== null && folded("Answer", el("pre", { class: "wrap", tabindex: 0 }, cut(one.answer))));
}
