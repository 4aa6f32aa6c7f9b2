// @ts-check
// One run, or several beside each other.
import { el, renew, table } from "./element.js";
import { ENDS_AT_ITSELF, counted, date, duration, endsAtItself, interval, number, percent } from "./words.js";
import { chart } from "./chart.js";
import { searchTree } from "./tree.js";
import { changes, code } from "./candidate.js";
import { candidates } from "./candidates.js";

/** @typedef {import("./source.js").View} View */

const DOING = { reading: "is being read", running: "running", paused: "paused", killed: "killed", over: "over", unreadable: "unreadable" };

/** @param {import("./source.js").Head} head */
export function state(head) {
  return el("span", { class: `doing ${head.doing}` }, DOING[/** @type {"over"} */ (head.doing)] ?? head.doing);
}

/** @param {import("./source.js").Head} head */
export function progress(head) {
  const share = Math.max(head.of_steps ? head.steps / head.of_steps : 0, head.of_seconds ? head.seconds / head.of_seconds : 0);
  const bound = head.of_steps ? `${head.steps} of ${counted(head.of_steps, "step")}` : head.of_seconds ? `${counted(head.steps, "step")}, ${duration(head.seconds)} of ${duration(head.of_seconds)}` : counted(head.steps, "step");
  const left = head.left_s === null ? "" : `, about ${duration(head.left_s)} left`;
  return el("span", { class: "progress" },
    share > 0 && head.doing !== "over" && el("progress", { max: 1, value: Math.min(1, share), "aria-label": "Progress" }), `${bound}${left}`);
}

/** Whether a run does not learn. @param {View} view */
const isControl = (view) => view.head.rate === 0;

/** What learning changed, from the probes. @param {View} view @param {View | null} control */
export function claim(view, control) {
  const unit = view.head.unit;
  const after = view.after;
  const [against, name] = control?.after ? [control.after, "in the control, which searched as long without learning"] : [view.before, "before"];
  if (isControl(view) || !after || !against) return null;
  const [a, b] = [after.speed, against.speed];
  const apart = a.low > b.high || a.high < b.low;
  const times = b.value > 0 ? a.value / b.value : null;
  return {
    times, apart,
    sentence: `After learning, an answer to the fixed prompts runs at ${interval(a)} ${unit} on average, failures counted as 0; ` +
      `${control?.after ? "" : "it was "}${interval(b)} ${name}. ` +
      (times === null ? "" : `That is ${number(times)} times as fast, and the 95 % intervals ${apart ? "are apart" : "overlap, so it may be chance"}.`),
  };
}

/** One sentence on what the page claims. @param {View} view @param {View | null} control */
function lead(view, control) {
  const { head } = view;
  const told = claim(view, control);
  if (told) return told.sentence;
  const best = view.best;
  if (head.steps === 0 && !view.before) return "Nothing is measured yet.";
  const found = best ? `Its best code runs at ${number(best.speed)} ${view.head.unit}.` : "No candidate is correct yet.";
  if (isControl(view)) return `This run searches without learning. ${found}`;
  return `${view.before ? "The probe after learning is not taken yet, so nothing is claimed about learning." : "This run has no probe, so nothing is claimed about learning."} ${found}`;
}

/** @param {View} view @param {View | null} control */
function tiles(view, control) {
  const { head, best } = view;
  /** @type {[string, string][]} */
  const shown = [];
  const told = claim(view, control);
  if (told?.times) shown.push([`${number(told.times)} ×`, `mean speed after learning, against ${control?.after ? "the control" : "before"}; intervals ${told.apart ? "are apart" : "overlap"}`]);
  if (best) {
    const confirmed = best.confirmed > 0;
    const spread = best.fresh ? ` (${number(best.fresh[0])} to ${number(best.fresh[1])})` : "";
    shown.push([`${number(best.speed)} ${head.unit}`, confirmed
      ? `best code: median of ${counted(best.confirmed, "fresh timing")}${spread}; ${number(best.seen)} when it was found${best.seen > best.speed ? ", the luckiest of many timings" : ""}`
      : "best code as timed when it was found; the run's end times it again"]);
    if (best.baseline_ratio !== null) shown.push([number(best.baseline_ratio), `times ${best.baseline}`]);
    if (best.peak_fraction !== null) shown.push([percent(best.peak_fraction), "of the machine's peak"]);
    if (head.seed_speed) shown.push([`${number(best.speed / head.seed_speed)} ×`, "the task's seed"]);
  }
  shown.push([head.answers.toLocaleString("en"), `answers judged in ${counted(head.steps, "step")}, ${duration(head.seconds)}`]);
  return el("div", { class: "cards" }, ...shown.map(([value, what]) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, what))));
}

/** @param {View[]} views */
function probes(views) {
  /** @type {import("./element.js").Part[][]} */
  const rows = [];
  let isMarked = false;
  for (const view of views) {
    for (const [when, probe] of /** @type {[string, any][]} */ ([["before", view.before], ["after", view.after]])) {
      if (!probe) continue;
      isMarked ||= [probe.correct, probe.speed, probe.best].some(endsAtItself);
      rows.push([`${views.length > 1 ? `${view.head.name}, ` : ""}${when}`, String(view.head.rate), String(probe.answers), interval(probe.correct, percent), `${interval(probe.speed)} ${view.head.unit}`, `${interval(probe.best)} ${view.head.unit}`]);
    }
  }
  if (rows.length === 0) return null;
  return el("section", {}, el("h2", {}, "Probe"),
    el("p", { class: "dim" }, "The same prompts of every stage, answered with the same random draws before and after the run at the training temperature. Failures count as 0. In brackets: 95 % bootstrap intervals."),
    table("Probe", ["", "learning rate", "answers", "correct", "mean speed", "mean of each stage's best"], rows),
    isMarked && el("p", { class: "dim" }, ENDS_AT_ITSELF));
}

/** The figures that compare runs, and where their numbers are.
 * @type {{title: string, unit: string, of: string, low?: string, high?: string, share?: boolean, note?: string}[]} */
const COMPARED = [
  { title: "Mean reward", unit: "reward", of: "reward", low: "reward_low", high: "reward_high", note: "shaded: 95 % interval of the mean" },
  { title: "Mean speed", unit: "", of: "speed", note: "failures count 0" },
  { title: "Best so far", unit: "", of: "best" },
  { title: "Correct", unit: "of answers", of: "correct", share: true },
  { title: "Distinct candidates", unit: "of candidates", of: "distinct", share: true },
  { title: "Entropy of the policy", unit: "nats per token", of: "entropy" },
  { title: "KL divergence from the reference", unit: "nats per token", of: "kl" },
];

/** @param {View[]} views @param {typeof COMPARED[0]} what */
function lines(views, what) {
  const units = [...new Set(views.map((view) => view.head.unit))];
  const unit = what.unit || (units.length === 1 ? units[0] : "in each run's own unit");
  return {
    title: what.title, unit, note: what.note, share: what.share,
    lines: views.map((view, at) => ({
      name: view.head.name + (isControl(view) ? " (no learning)" : ""), colour: `s${at % 8}`, dashed: isControl(view) && views.length > 1, xs: view.curves.step,
      ys: view.curves[what.of], low: what.low && view.curves[what.low], high: what.high && view.curves[what.high],
    })).filter((line) => line.ys.some((/** @type {any} */ y) => y !== null)),
  };
}

/** @param {View} view @param {string} title @param {string} unit @param {Record<string, number[]>} columns
 * @param {string[]} order @param {Record<string, string>} colours @param {boolean} share */
function layers(view, title, unit, columns, order, colours, share) {
  const named = order.filter((name) => columns[name]);
  return { title, unit, share, xs: view.curves.step, layers: named.map((name) => ({ name, colour: colours[name] ?? name, ys: columns[name] })) };
}

const VERDICTS = ["correct", "suspect", "wrong", "crashed", "timed-out", "not-compiled", "refused", "malformed", "masked"];

/** Charts in a grid, made once and fed again. */
function charts() {
  /** @type {Map<string, ReturnType<typeof chart>>} */
  const made = new Map();
  const grid = el("div", { class: "grid" });
  const empty = el("p", { class: "dim" }, "No step has finished yet.");
  return {
    node: el("div", {}, empty, grid),
    /** @param {any[]} figures */
    update(figures) {
      const shown = figures.filter((figure) => figure.lines ? figure.lines.length > 0 : figure.layers.length > 0 && figure.xs.length > 0);
      empty.hidden = shown.length > 0;
      for (const figure of shown) {
        if (!made.has(figure.title)) made.set(figure.title, chart());
        const one = made.get(figure.title);
        if (one && one.node.parentNode !== grid) grid.append(one.node);
        one?.update(figure);
      }
      for (const [title, one] of made) if (!shown.some((figure) => figure.title === title)) one.node.remove();
    },
  };
}

/** @param {View} view @param {(hash: string) => string} byHash */
function bestCode(view, byHash) {
  const { best, head } = view;
  if (!best) return [el("p", { class: "dim" }, "No candidate is correct yet.")];
  const speed = (/** @type {any} */ one) => (one.speed === null ? one.label ?? "masked" : `${number(one.speed)} ${head.unit}`);
  const step = (/** @type {any} */ one) => el("li", { style: `border-left-color:var(--${one.label ?? "masked"})` },
    el("a", { href: byHash(one.hash) }, el("b", {}, speed(one))), `${one.role}${one.stage ? `, stage ${one.stage}` : ""}, step ${one.step + 1}`);
  const folded = (/** @type {string} */ title, /** @type {any} */ lines) => el("details", {}, el("summary", {}, title), changes(lines, title));
  return [
    el("p", {}, `Found in step ${best.step + 1}. ${best.features}`),
    el("h3", {}, "From the seed to the best"),
    el("ol", { class: "path" }, el("li", { style: "border-left-color:var(--ink)" }, el("b", {}, head.seed_speed ? `${number(head.seed_speed)} ${head.unit}` : "seed"), "the task's seed"), ...best.lineage.map(step)),
    el("h3", {}, "Source"), best.detail && code(best.detail.pieces),
    best.detail && folded("What changed from its parent", best.detail.changes),
    folded("What changed from the seed", best.from_seed),
  ];
}

/** @param {View} view */
function warnings(view) {
  const items = view.warnings.map((/** @type {[number, string]} */ [step, text]) => el("li", {}, `step ${step + 1}: ${text}`));
  if (view.disturbed !== null) items.unshift(el("li", {}, `${percent(view.disturbed)} of the timings were taken while other processes disturbed the machine.`));
  if (items.length === 0) return [el("p", { class: "dim" }, "None.")];
  const last = items.slice(-20);
  return [el("ul", { class: "warn" }, ...last), items.length > 20 && el("details", {}, el("summary", {}, `${items.length - 20} earlier ones`), el("ul", { class: "warn" }, ...items.slice(0, -20)))];
}

/** @param {any} fleet */
function workers(fleet) {
  if (!fleet) return null;
  const rows = (fleet.workers ?? []).map((/** @type {any} */ worker) => Object.values(worker).map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))));
  const head = Object.keys(fleet.workers?.[0] ?? { worker: "" }).map((key) => key.replaceAll("_", " "));
  const notes = [fleet.problem, ...(fleet.keeper?.notes ?? [])].filter((note) => note);
  return el("section", {}, el("h2", {}, "Fleet"),
    el("p", { class: "dim" }, fleet.problem ? `${fleet.name ?? "The fleet"} does not answer.` :
      `${fleet.name}: ${counted(rows.length, "worker")}, ${counted(fleet.queued, "group")} waiting or judged, ${counted(fleet.waiting, "answer")} not taken yet`),
    rows.length > 0 && table("Workers", head, rows), notes.length > 0 && el("ul", { class: "warn" }, ...notes.map((note) => el("li", {}, typeof note === "string" ? note : JSON.stringify(note)))));
}

/** The columns of a table of facts, one for each run. @param {View[]} views */
function facts(views) {
  const first = views[0]?.facts ?? [];
  return table("Summary", ["", ...views.map((view) => view.head.name)], first.map((/** @type {[string, string]} */ [name], /** @type {number} */ at) => [name, ...views.map((view) => view.facts[at]?.[1] ?? "-")]));
}

/** @param {View} view */
function origin(view) {
  const { head } = view;
  return el("section", {}, el("h2", {}, "How it was made"),
    table("How it was made", [], [["began", date(head.began_s)], ["last event", date(head.last_s)], ["seed", String(head.seed)], ["command", el("code", {}, view.command)], ["hotloop", `${view.version} wrote this page`], ...view.machine]),
    el("details", {}, el("summary", {}, "run.toml"), el("pre", { tabindex: 0 }, view.config)));
}

/** A run's page. It is made once, and `update` fills it.
 * @param {import("./source.js").Source} from @param {string} run
 * @param {(at: string) => string} address @param {(hash: string) => string} byHash */
export function runPage(from, run, address, byHash) {
  const parts = Object.fromEntries(["top", "probe", "best", "warn", "fleet", "rest"].map((name) => [name, el("div")]));
  const [curves, shares, seconds] = [charts(), charts(), charts()];
  const tree = searchTree(address);
  const list = candidates(from, run, address);
  let listed = "";
  const node = el("div", {}, parts.top, parts.probe,
    el("section", {}, el("h2", {}, "Learning"), curves.node),
    el("section", {}, el("h2", {}, "Verdicts"), shares.node),
    el("section", {}, el("h2", {}, "Where the seconds go"), seconds.node),
    el("section", {}, el("h2", {}, "Warnings"), parts.warn), parts.fleet,
    el("section", {}, el("h2", {}, "Search tree"), tree.node),
    el("section", {}, el("h2", {}, "Best code"), parts.best),
    el("section", {}, el("h2", {}, "Candidates"), list.node), parts.rest);
  return {
    node,
    /** @param {View} view @param {View[]} controls @param {any} fleet */
    update(view, controls, fleet) {
      const { head } = view;
      const control = controls[0] ?? null;
      const views = [view, ...controls];
      renew(parts.top, JSON.stringify([head, view.after, control?.after]), () => [
        el("h1", {}, `${head.model} ${isControl(view) ? "searches" : "learns"} ${head.task}`),
        el("p", { class: "lead" }, lead(view, control)),
        el("p", { class: "now" }, state(head), ` ${head.name}: ${head.status}. `, progress(head)),
        tiles(view, control)]);
      renew(parts.probe, JSON.stringify([views.map((one) => [one.before, one.after]), view.reviewer]), () => [probes(views),
        view.practised.length > 0 && el("section", {}, el("h2", {}, "Practised tasks"), table("Practised tasks", view.practised_head, view.practised)),
        view.reviewer && el("section", {}, el("h2", {}, "Reviewer"), el("p", {}, view.reviewer.lead), table("Reviewer", view.reviewer.head, view.reviewer.rows),
          el("details", {}, el("summary", {}, "Calibration"), table("Calibration", view.reviewer.bins_head, view.reviewer.bins)))]);
      curves.update(COMPARED.map((what) => lines(views, what)));
      shares.update([layers(view, "Share of verdicts", "of answers", view.curves.verdicts, [...VERDICTS].reverse(), {}, true)]);
      seconds.update([
        layers(view, "Policy", "seconds per step", view.curves.policy, ["sampling", "updating", "waiting", "other"], {}, false),
        layers(view, "Bench", "seconds per step", view.curves.bench, ["judging", "waiting"], { judging: "correct" }, false)]);
      tree.update(view.tree, head.unit, view.best?.hash ?? null);
      renew(parts.best, JSON.stringify(view.best), () => bestCode(view, byHash));
      renew(parts.warn, JSON.stringify([view.warnings.length, view.disturbed]), () => warnings(view));
      renew(parts.fleet, JSON.stringify(fleet), () => [workers(fleet)]);
      renew(parts.rest, JSON.stringify([view.facts, head.last_s]), () => [el("section", {}, el("h2", {}, "Summary"), facts(views)), origin(view)]);
      const key = `${head.steps} ${head.answers}`;
      if (listed && listed !== key) list.update();
      listed = key;
    },
  };
}

/** Several runs beside each other. @param {any[]} pooled */
export function comparison(pooled) {
  const [top, rest] = [el("div"), el("div")];
  const curves = charts();
  return {
    node: el("div", {}, top, el("section", {}, el("h2", {}, "Learning"), curves.node), rest),
    /** @param {View[]} views @param {(run: string) => string} link */
    update(views, link) {
      renew(top, JSON.stringify(views.map((view) => [view.head, view.after])), () => {
        const learned = views.find((view) => !isControl(view));
        const control = views.find((view) => isControl(view) && view.head.setting === learned?.head.setting) ?? null;
        return [el("h1", {}, `${counted(views.length, "run")} compared`),
          learned && el("p", { class: "lead" }, `${learned.head.name}: `, lead(learned, control)),
          el("ul", { class: "now" }, ...views.map((view) => el("li", {}, state(view.head), " ", el("a", { href: link(view.head.name) }, view.head.name), `: ${view.head.status}. `, progress(view.head)))),
          learned && tiles(learned, control), probes(views),
          pooled.length > 0 && el("section", {}, el("h2", {}, "Seeds together"), table("Seeds together", ["", "correct before", "correct after", "mean speed before", "mean speed after"],
            pooled.map((one) => [one.name, interval(one.before?.correct, percent), interval(one.after?.correct, percent), `${interval(one.before?.speed)} ${one.unit}`, `${interval(one.after?.speed)} ${one.unit}`])))];
      });
      curves.update(COMPARED.map((what) => lines(views, what)));
      renew(rest, JSON.stringify(views.map((view) => view.facts)), () => [el("section", {}, el("h2", {}, "Summary"), facts(views)), ...views.slice(0, 1).map(origin)]);
    },
  };
}
