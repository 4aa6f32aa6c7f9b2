// @ts-check
// Numbers, times and code in words.

/** @param {number | null | undefined} value */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

/** @param {number} count @param {string} what */
export function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

/** @param {number | null | undefined} share */
export function percent(share) {
  if (share === null || share === undefined) return "-";
  const value = share * 100;
  return `${value > 0 && value < 1 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (seconds === 0) return "0 s";
  if (seconds < 1e-3) return `${number(seconds * 1e6)} µs`;
  if (seconds < 1) return `${number(seconds * 1e3)} ms`;
  if (seconds < 100) return `${number(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} seconds since 1970 */
export function date(seconds) {
  if (!seconds) return "-";
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** @typedef {{value: number, low: number, high: number}} Estimate */

/** The mark of an interval that ends at its own estimate; a note explains it.
 * @param {Estimate} one */
export function endsAtItself(one) {
  return one.low === one.value || one.high === one.value;
}

/** @param {Estimate | null | undefined} one @param {(value: number) => string} [told] */
export function interval(one, told = number) {
  if (!one) return "-";
  const text = `${told(one.value)} [${told(one.low)}, ${told(one.high)}]${endsAtItself(one) ? " *" : ""}`;
  return text.replaceAll(" ", "\u00a0");
}

export const ENDS_AT_ITSELF =
  "* The interval ends at its estimate: drawing again from these answers never finds a faster one than the fastest, " +
  "and answers that are all alike have nothing to vary.";

/** Text in which no character is hidden: control characters and those that turn the direction of writing get a name.
 * @param {string} text */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, (letter) =>
    `⟨U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** A long text, cut as sources are.
 * @param {string} text */
export function cut(text) {
  const lines = text.split("\n").map((line) =>
    line.length > 2000 ? `${line.slice(0, 2000)} … ${line.length - 2000} more characters` : line);
  const whole = lines.join("\n");
  return visible(whole.length > 200000 ? `${whole.slice(0, 200000)}\n… and more` : whole);
}
