import { type HouseRule, lineAt } from "./fault.ts";

const SIDE = "(?:left|right)";
/** A declaration that names a side of the screen, which is the wrong one where text runs from the right. */
const physical = new RegExp(
  [
    `(?:margin|padding|border)-${SIDE}\\b[\\w-]*`,
    `border-(?:top|bottom)-${SIDE}-radius`,
    `scroll-(?:margin|padding)-${SIDE}`,
    SIDE,
    `(?:text-align|float|clear)(?=\\s*:\\s*${SIDE}\\b)`,
  ]
    .map((property) => `(?<=[\\s;{])${property}(?=\\s*:)`)
    .join("|"),
  "g",
);
/** Four values whose second and fourth differ. */
const fourSides = /(?<=[\s;{])(margin|padding|inset)\s*:\s*([^;}]+)/g;

/** Styles name start and end, so that pages fit every direction of writing. */
export const logicalProperties: HouseRule = (files) =>
  files
    .filter(({ path }) => path.endsWith(".css"))
    .flatMap(({ path, text }) => {
      const rules = text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
      const named = [...rules.matchAll(physical)].map(({ 0: property, index }) => ({ property, index }));
      const uneven = [...rules.matchAll(fourSides)]
        .filter(({ 2: values = "" }) => hasUnevenSides(values))
        .map(({ 1: property = "", index }) => ({ property, index }));
      return [...named, ...uneven].map(({ property, index }) => ({
        file: path,
        line: lineAt(rules, index),
        rule: "logical-properties",
        message: `${property}: name start and end (margin-inline-start, inset-inline, text-align: start)`,
      }));
    });

function hasUnevenSides(values: string): boolean {
  const [, right, , left] = splitValues(values);
  return left !== undefined && left !== right;
}

/** At spaces, but not at those inside of functions. */
function splitValues(text: string): string[] {
  let depth = 0;
  const values = [""];
  for (const letter of text.trim()) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (/\s/.test(letter) && depth === 0) values.push("");
    else values[values.length - 1] += letter;
  }
  return values.filter((value) => value !== "");
}
