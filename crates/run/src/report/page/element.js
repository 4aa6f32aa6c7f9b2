// @ts-check
// Elements of the page. Text becomes text nodes and nothing else, because candidates, prompts and
// answers are written by models.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Part */

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {Part[]} parts
 */
function filled(element, attributes, parts) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const part of parts) {
    if (part === null || part === undefined || part === false) continue;
    element.append(part instanceof Node ? part : String(part));
  }
  return element;
}

/**
 * An element with attributes, listeners (functions by their event's name) and content.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {Part[]} parts
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...parts) {
  return /** @type {HTMLElement} */ (filled(document.createElement(tag), attributes, parts));
}

/**
 * The same for an element of a drawing.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {Part[]} parts
 * @returns {SVGElement}
 */
export function draw(tag, attributes = {}, ...parts) {
  return /** @type {SVGElement} */ (filled(document.createElementNS(SVG, tag), attributes, parts));
}

/**
 * A table. A cell is text or an element; the first of a row is its heading.
 * @param {string} caption
 * @param {Part[]} head
 * @param {Part[][]} rows
 */
export function table(caption, head, rows) {
  const cells = (/** @type {Part[]} */ row) =>
    row.map((cell, at) => (at ? el("td", {}, cell) : el("th", { scope: "row" }, cell)));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "unseen" }, caption),
      head.length > 0 && el("thead", {}, el("tr", {}, ...head.map((cell) => el("th", { scope: "col" }, cell)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row))))));
}

/**
 * Replaces content only if it changed, so that focus, selection and opened parts stay.
 * @param {Element} place
 * @param {string} key
 * @param {() => Part[]} make
 */
export function renew(place, key, make) {
  if (place.getAttribute("data-key") === key) return;
  place.setAttribute("data-key", key);
  place.replaceChildren();
  filled(place, {}, make());
}
