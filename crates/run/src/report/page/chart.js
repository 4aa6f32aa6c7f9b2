// @ts-check
// Figures: lines with intervals, and shares stacked over steps. A figure is drawn for the width that it has, can be read
// with the arrow keys, and is a table for those who prefer one.
import { draw, el, renew, table } from "./element.js";
import { number, percent } from "./words.js";

/**
 * @typedef {{name: string, colour: string, dashed?: boolean, xs: number[], ys: (number | null)[],
 *   low?: (number | null)[], high?: (number | null)[]}} Line
 * @typedef {{title: string, unit: string, note?: string, lines?: Line[], share?: boolean,
 *   xs?: number[], layers?: {name: string, colour: string, ys: number[]}[]}} Figure
 */

const HEIGHT = 230;
const EDGE = { left: 52, right: 12, top: 8, bottom: 30 };

/** Round numbers from `low` to `high`. @param {number} low @param {number} high @param {number} most */
function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/** @param {Figure} figure */
function bounds(figure) {
  const xs = figure.layers ? figure.xs ?? [] : (figure.lines ?? []).flatMap((line) => line.xs);
  const sums = (figure.xs ?? []).map((_, at) => (figure.layers ?? []).reduce((sum, layer) => sum + layer.ys[at], 0));
  const ys = figure.layers ? sums : (figure.lines ?? []).flatMap((line) => [...line.ys, ...(line.low ?? []), ...(line.high ?? [])]);
  const known = /** @type {number[]} */ (ys.filter((y) => y !== null && Number.isFinite(y)));
  const most = (/** @type {number[]} */ values, /** @type {number} */ start) => values.reduce((a, b) => Math.max(a, b), start);
  const least = (/** @type {number[]} */ values, /** @type {number} */ start) => values.reduce((a, b) => Math.min(a, b), start);
  const [left, right] = [least(xs, Infinity), most(xs, -Infinity)];
  const [low, high] = [least(known, 0), most(known, -Infinity)];
  const top = high > low ? high : low + 1;
  return {
    left: Number.isFinite(left) ? (left === right ? left - 0.5 : left) : 0,
    right: Number.isFinite(right) ? (left === right ? right + 0.5 : right) : 1,
    low,
    high: figure.layers && figure.share ? 1 : top + (top - low) * 0.04,
  };
}

/** @param {string} colour */
const paint = (colour) => `var(--${colour})`;

/** @param {(readonly [number, number] | null)[]} points A gap in the points is a gap in the line. */
function path(points) {
  let text = "";
  let pen = "M";
  for (const point of points) {
    if (point) text += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = point ? "L" : "M";
  }
  return text;
}

/** @param {Figure} figure @param {number} width */
function drawing(figure, width) {
  const edge = bounds(figure);
  const x = (/** @type {number} */ at) => EDGE.left + ((at - edge.left) / (edge.right - edge.left)) * (width - EDGE.left - EDGE.right);
  const y = (/** @type {number} */ at) => HEIGHT - EDGE.bottom - ((at - edge.low) / (edge.high - edge.low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const svg = draw("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" });
  for (const at of ticks(edge.low, edge.high, 5)) {
    svg.append(draw("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(at), y2: y(at), stroke: paint("grid") }),
      draw("text", { x: EDGE.left - 6, y: y(at) + 4, "text-anchor": "end" }, figure.share ? percent(at) : number(at)));
  }
  for (const at of ticks(edge.left, edge.right, Math.max(2, Math.floor(width / 90)))) {
    if (Number.isInteger(at)) svg.append(draw("text", { x: x(at), y: HEIGHT - 12, "text-anchor": "middle" }, number(at)));
  }
  if (figure.layers) stack(figure, x, y, svg);
  else {
    for (const line of figure.lines ?? []) band(line, x, y, svg);
    for (const line of figure.lines ?? []) stroke(line, x, y, svg);
  }
  const hair = draw("line", { y1: EDGE.top, y2: HEIGHT - EDGE.bottom, stroke: paint("dim"), visibility: "hidden" });
  svg.append(hair);
  return { svg, x, edge, hair };
}

/** @param {Line} line @param {(v: number) => number} x @param {(v: number) => number} y @param {SVGElement} svg */
function band(line, x, y, svg) {
  const { low, high } = line;
  if (!low || !high) return;
  const known = line.xs.map((_, at) => at).filter((at) => low[at] !== null && high[at] !== null);
  if (known.length === 0) return;
  if (known.length === 1) {
    const [at] = known;
    svg.append(draw("line", { x1: x(line.xs[at]), x2: x(line.xs[at]), y1: y(/** @type {number} */ (low[at])), y2: y(/** @type {number} */ (high[at])), stroke: paint(line.colour), "stroke-width": 6, "stroke-opacity": 0.3 }));
    return;
  }
  const up = known.map((at) => /** @type {const} */ ([x(line.xs[at]), y(/** @type {number} */ (high[at]))]));
  const down = known.reverse().map((at) => /** @type {const} */ ([x(line.xs[at]), y(/** @type {number} */ (low[at]))]));
  svg.append(draw("path", { d: `${path([...up, ...down])}Z`, fill: paint(line.colour), "fill-opacity": 0.18 }));
}

/** @param {Line} line @param {(v: number) => number} x @param {(v: number) => number} y @param {SVGElement} svg */
function stroke(line, x, y, svg) {
  const points = line.xs.map((at, index) => {
    const value = line.ys[index];
    return value === null || value === undefined ? null : /** @type {const} */ ([x(at), y(value)]);
  });
  svg.append(draw("path", { d: path(points), fill: "none", stroke: paint(line.colour), "stroke-width": line.dashed ? 1.5 : 2, "stroke-linejoin": "round", "stroke-dasharray": line.dashed ? "5 4" : null }));
  const alone = points.filter((point) => point);
  if (alone.length === 1 && alone[0]) svg.append(draw("circle", { cx: alone[0][0], cy: alone[0][1], r: 3, fill: paint(line.colour) }));
}

/** @param {Figure} figure @param {(v: number) => number} x @param {(v: number) => number} y @param {SVGElement} svg */
function stack(figure, x, y, svg) {
  const xs = figure.xs ?? [];
  let base = xs.map(() => 0);
  for (const layer of figure.layers ?? []) {
    const top = base.map((height, at) => height + layer.ys[at]);
    const wide = xs.length === 1 ? [xs[0] - 0.5, xs[0] + 0.5] : null;
    const along = (/** @type {number[]} */ heights) => wide ? wide.map((at) => /** @type {const} */ ([x(at), y(heights[0])])) : xs.map((at, index) => /** @type {const} */ ([x(at), y(heights[index])]));
    svg.append(draw("path", { d: `${path([...along(top), ...along(base).reverse()])}Z`, fill: paint(layer.colour) }));
    base = top;
  }
}

/** What a figure says at one of its places. @param {Figure} figure @param {number} at */
function reading(figure, at) {
  const told = (/** @type {number | null | undefined} */ value) => figure.share ? percent(value) : number(value);
  if (figure.layers) {
    const parts = [...figure.layers].reverse().filter((layer) => layer.ys[at] > 0).map((layer) => `${layer.name} ${told(layer.ys[at])}`);
    return `step ${(figure.xs ?? [])[at]}: ${parts.join(", ")}`;
  }
  const lines = figure.lines ?? [];
  const step = lines.reduce((/** @type {number[]} */ longest, line) => (line.xs.length > longest.length ? line.xs : longest), [])[at];
  const parts = lines.map((line) => {
    const index = line.xs.indexOf(step);
    if (index < 0) return null;
    const [low, high] = [line.low?.[index], line.high?.[index]];
    const around = low !== null && low !== undefined ? ` [${told(low)}, ${told(high)}]` : "";
    return `${line.name} ${told(line.ys[index])}${around}`;
  });
  return `step ${step}: ${parts.filter((part) => part).join(", ")}`;
}

/** @param {Figure} figure */
function places(figure) {
  if (figure.layers) return figure.xs ?? [];
  return (figure.lines ?? []).reduce((/** @type {number[]} */ longest, line) => (line.xs.length > longest.length ? line.xs : longest), []);
}

/** @param {Figure} figure */
function keys(figure) {
  const named = figure.layers ? [...figure.layers].reverse() : figure.lines ?? [];
  return named.map((one) => el("span", { class: "key" },
    el("i", { style: `background:var(--${one.colour})`, class: "dashed" in one && one.dashed ? "dashed" : "" }), one.name));
}

/** A figure that is drawn again when it changes or its width does. */
export function chart() {
  /** @type {Figure} */
  let figure = { title: "", unit: "" };
  let width = 0;
  let at = -1;
  /** @type {ReturnType<typeof drawing> | null} */
  let drawn = null;
  const canvas = el("div", { class: "canvas", tabindex: 0, role: "img" });
  const title = el("figcaption");
  const legend = el("div", { class: "keys" });
  const output = el("output", { "aria-live": "polite" });
  const data = el("div");
  const more = el("details", { class: "as-table", toggle: fill }, el("summary", {}, "As a table"), data);
  const node = el("figure", {}, title, canvas, legend, output, more);

  function fill() {
    if (!more.hasAttribute("open")) return data.replaceChildren();
    const named = figure.layers ?? figure.lines ?? [];
    const rows = places(figure).map((step, index) => [step, ...named.map((one) => {
      const where = "xs" in one ? one.xs.indexOf(step) : index;
      return where < 0 ? "-" : figure.share ? percent(one.ys[where]) : number(one.ys[where]);
    })]);
    data.replaceChildren(table(figure.title, ["step", ...named.map((one) => one.name)], rows));
  }

  function show() {
    const xs = places(figure);
    if (!drawn || at < 0 || at >= xs.length) return;
    drawn.hair.setAttribute("visibility", "visible");
    for (const end of ["x1", "x2"]) drawn.hair.setAttribute(end, String(drawn.x(xs[at])));
    output.textContent = reading(figure, at);
  }

  function redraw() {
    if (width < 50) return;
    drawn = drawing(figure, width);
    canvas.replaceChildren(drawn.svg);
    show();
  }

  canvas.addEventListener("pointermove", (event) => {
    const xs = places(figure);
    if (!drawn || xs.length === 0) return;
    const { edge } = drawn;
    const share = (event.offsetX - EDGE.left) / (width - EDGE.left - EDGE.right);
    const wanted = edge.left + share * (edge.right - edge.left);
    at = xs.reduce((best, x, index) => (Math.abs(x - wanted) < Math.abs(xs[best] - wanted) ? index : best), 0);
    show();
  });
  canvas.addEventListener("keydown", (event) => {
    const last = places(figure).length - 1;
    /** @type {Record<string, number>} */
    const moves = { ArrowLeft: Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last };
    if (!(event.key in moves)) return;
    event.preventDefault();
    at = moves[event.key];
    show();
  });
  new ResizeObserver(() => {
    if (canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    redraw();
  }).observe(canvas);

  return {
    node,
    /** @param {Figure} next */
    update(next) {
      figure = next;
      const named = [...(next.layers ?? next.lines ?? [])].map((one) => one.name).join(", ");
      canvas.setAttribute("aria-label", `${next.title}, ${next.unit} by step: ${named}. Arrow keys read values.`);
      renew(title, next.title + next.unit + (next.note ?? ""), () => [el("b", {}, next.title), " ", el("span", {}, next.unit), next.note && el("small", {}, next.note)]);
      renew(legend, named + (next.lines ?? []).map((line) => line.colour), () => keys(next));
      redraw();
      fill();
    },
  };
}
