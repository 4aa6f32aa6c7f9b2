// @ts-check
// The search tree: the seed on the left, children to the right. Arrow keys walk along the branches.
import { draw, el, renew } from "./element.js";
import { counted, number } from "./words.js";
import { place } from "./source.js";

const ROW = 26;
const COLUMN = 74;

/** @typedef {import("./source.js").Row & {asked: number, verdicts: Record<string, number>}} Drawn */
/** @typedef {{node: Drawn | null, children: Branch[], parent: Branch | null, x: number, y: number, link?: SVGElement}} Branch */

/** @param {Drawn[]} nodes */
function grown(nodes) {
  /** @type {Branch} */
  const seed = { node: null, children: [], parent: null, x: 0, y: 0 };
  /** @type {Map<string, Branch>} */
  const named = new Map();
  for (const node of nodes) {
    const parent = (node.parent && named.get(node.parent)) || seed;
    /** @type {Branch} */
    const branch = { node, children: [], parent, x: parent.x + 1, y: 0 };
    parent.children.push(branch);
    if (node.hash) named.set(node.hash, branch);
  }
  let rows = 0;
  let depth = 0;
  const lay = (/** @type {Branch} */ branch) => {
    depth = Math.max(depth, branch.x);
    if (branch.children.length === 0) branch.y = rows++;
    else {
      branch.children.forEach(lay);
      branch.y = (branch.children[0].y + branch.children[branch.children.length - 1].y) / 2;
    }
  };
  lay(seed);
  return { seed, rows, depth };
}

/** @param {Drawn} node @param {string} unit */
function said(node, unit) {
  const speed = node.speed === null ? node.label ?? "masked" : `${number(node.speed)} ${unit}`;
  const asked = node.asked ? `, ${counted(node.asked, "answer")} asked from it` : "";
  return `${speed}, ${node.role}${node.stage ? ` at stage ${node.stage}` : ""}, step ${node.step + 1}${asked}`;
}

/** @param {Branch} branch @param {string} key @returns {Branch | null | undefined} */
function towards(branch, key) {
  if (key === "ArrowLeft") return branch.parent;
  if (key === "ArrowRight") return branch.children[0];
  const beside = branch.parent?.children ?? [];
  const at = beside.indexOf(branch);
  return key === "ArrowDown" ? beside[at + 1] : key === "ArrowUp" ? beside[at - 1] : null;
}

/** @param {(at: string) => string} address */
export function searchTree(address) {
  const canvas = el("div", { class: "scroll tree", role: "group", "aria-label": "Search tree. Arrow keys walk along the branches, Enter opens a candidate." });
  const note = el("p", { class: "dim" });
  const node = el("div", {}, note, canvas);

  /** @param {{nodes: Drawn[], left_out: number}} tree @param {string} unit @param {string | null} best */
  function paint(tree, unit, best) {
    const { seed, rows, depth } = grown(tree.nodes);
    const fastest = tree.nodes.reduce((most, one) => Math.max(most, one.speed ?? 0), 0);
    const x = (/** @type {Branch} */ branch) => 24 + branch.x * COLUMN;
    const y = (/** @type {Branch} */ branch) => 16 + branch.y * ROW;
    const [width, height] = [96 + depth * COLUMN, Math.max(1, rows) * ROW + 12];
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const links = draw("g", { fill: "none", stroke: "var(--line)", "stroke-width": 1.5 });
    svg.append(links);
    const walk = (/** @type {Branch} */ branch) => {
      const one = branch.node;
      const radius = !one ? 6 : one.speed === null ? 4 : 4 + 8 * Math.sqrt(one.speed / (fastest || 1));
      const shape = draw("circle", { cx: x(branch), cy: y(branch), r: radius.toFixed(1), fill: one ? `var(--${one.label ?? "masked"})` : "var(--ink)" });
      const words = one ? said(one, unit) : "the task's seed";
      const link = draw(one ? "a" : "g", {
        href: one && address(place(one)), tabindex: branch === seed ? 0 : -1, "aria-label": words,
        class: one && one.hash === best ? "best" : null,
        keydown: (/** @type {KeyboardEvent} */ event) => {
          const next = towards(branch, event.key);
          if (!event.key.startsWith("Arrow")) return;
          event.preventDefault();
          next?.link?.focus();
        },
        focus: () => {
          for (const other of svg.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
          link.setAttribute("tabindex", "0");
        },
      }, draw("title", {}, words), shape);
      branch.link = link;
      svg.append(link);
      if (one && one.speed !== null) svg.append(draw("text", { x: x(branch) + radius + 4, y: y(branch) + 4, "aria-hidden": "true" }, number(one.speed)));
      for (const child of branch.children) {
        const middle = (x(branch) + x(child)) / 2;
        links.append(draw("path", { d: `M${x(branch)} ${y(branch)}C${middle} ${y(branch)} ${middle} ${y(child)} ${x(child)} ${y(child)}` }));
        walk(child);
      }
    };
    walk(seed);
    return svg;
  }

  return {
    node,
    /** @param {{nodes: Drawn[], left_out: number}} tree @param {string} unit @param {string | null} best */
    update(tree, unit, best) {
      note.textContent = tree.nodes.length === 0 ? "Nothing was judged yet."
        : `The fastest candidates, the latest parents, and what they came from. ${counted(tree.left_out, "other candidate")} in the list below. Colour: verdict; size: speed.`;
      renew(canvas, JSON.stringify([tree.nodes.map((one) => [one.hash, one.asked]), best]), () => tree.nodes.length ? [paint(tree, unit, best)] : []);
    },
  };
}
