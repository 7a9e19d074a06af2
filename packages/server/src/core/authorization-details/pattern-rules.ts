/**
 * Which regular expressions a schema may have. JavaScript's engine backtracks, and reads some texts in so many ways that nobody
 * waits for the answer: a repetition inside a repetition, and many choices in a row. They are refused where the schema is
 * written; check-details.ts limits the time of what is left.
 */

const MAX_PATTERN = 200;
/** Repetitions of variable length and groups with alternatives: each multiplies the ways to read a text. */
const MAX_CHOICES = 4;

/** Why a pattern is refused; undefined when it is accepted. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `has a pattern of more than ${MAX_PATTERN} characters`;
  try {
    new RegExp(pattern, "u");
  } catch {
    return "has a pattern that is no regular expression (ECMAScript, with the flag u)";
  }
  if (/\\[1-9k]/.test(pattern)) return "has a pattern with a back reference";
  const bare = withoutClasses(pattern);
  if (/\(\?(?!:)/.test(bare)) return "has a pattern with a look-around or a named group";
  const choices = countChoices(bare.replaceAll("(?:", "("));
  if (choices === undefined) return "has a pattern with a choice inside a repetition";
  return choices > MAX_CHOICES
    ? `has a pattern with more than ${MAX_CHOICES} repetitions and alternatives`
    : undefined;
}

/** A class and an escape read one character, as a letter does. */
const withoutClasses = (pattern: string): string =>
  pattern.replaceAll(/\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\./gsu, "a").replaceAll(/\[[^\]]*\]/gu, "a");

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** @returns undefined when a repetition is of a group that itself can be read in several ways */
function countChoices(bare: string): number | undefined {
  const open: Array<{ hasChoice: boolean }> = [{ hasChoice: false }];
  let choices = 0;
  let closed: { hasChoice: boolean } | undefined;
  const choose = () => {
    choices += 1;
    const last = open.at(-1);
    if (last) last.hasChoice = true;
  };
  for (let at = 0; at < bare.length; ) {
    const [quantifier = ""] = QUANTIFIER.exec(bare.slice(at)) ?? [];
    if (quantifier !== "") {
      const isFixed = /^\{\d+\}/.test(quantifier);
      if (closed?.hasChoice && !quantifier.startsWith("?")) return undefined;
      if (!isFixed) choose();
    } else if (bare[at] === "(") open.push({ hasChoice: false });
    else if (bare[at] === "|" && !open.at(-1)?.hasChoice) choose();
    const ended = bare[at] === ")" ? open.pop() : undefined;
    const outer = open.at(-1);
    if (ended?.hasChoice && outer) outer.hasChoice = true;
    closed = ended;
    at += Math.max(quantifier.length, 1);
  }
  return choices;
}
