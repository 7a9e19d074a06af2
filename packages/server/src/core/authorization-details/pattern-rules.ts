/**
 * Which regular expressions a schema may have. JavaScript's engine backtracks, and reads some texts in so many ways that nobody
 * waits for the answer: a repetition inside a repetition, and many choices in a row. They are refused where the schema is
 * written, by an upper bound of the ways to read a text of the greatest length.
 */

const MAX_PATTERN = 200;
/** Characters of a text that patterns are tried on (check-details.ts). */
export const MAX_MATCHED_TEXT = 400;
/** Of all patterns of a schema together: a few milliseconds for all the texts that fit into a request. */
export const MAX_WAYS = 200_000;

/** The ways to read a text by this pattern, at most; or why it is refused. */
export function readPattern(pattern: string): { readonly ways: number } | { readonly fault: string } {
  if (pattern.length > MAX_PATTERN) return { fault: `has a pattern of more than ${MAX_PATTERN} characters` };
  try {
    new RegExp(pattern, "u");
  } catch {
    return { fault: "has a pattern that is no regular expression (ECMAScript, with the flag u)" };
  }
  if (/\\[1-9k]/.test(pattern)) return { fault: "has a pattern with a back reference" };
  const bare = withoutClasses(pattern);
  if (/\(\?(?!:)/.test(bare)) return { fault: "has a pattern with a look-around or a named group" };
  const ways = countWays(bare.replaceAll("(?:", "("));
  if (ways === undefined) return { fault: "has a pattern with a choice inside a repetition" };
  return ways > MAX_WAYS ? { fault: TOO_MANY_WAYS } : { ways };
}

export const TOO_MANY_WAYS =
  "has patterns with too many open repetitions and alternatives: begin them with ^, and give repetitions a maximum";

/** A class and an escape read one character, as a letter does. */
const withoutClasses = (pattern: string): string =>
  pattern.replaceAll(/\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\./gsu, "a").replaceAll(/\[[^\]]*\]/gu, "a");

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

interface Group {
  hasChoice: boolean;
  alternatives: number;
}

/** @returns undefined when a repetition is of a group that itself can be read in several ways */
function countWays(bare: string): number | undefined {
  const groups: Group[] = [{ hasChoice: false, alternatives: 1 }];
  const counted = { open: 0, ways: 1 };
  let closed: Group | undefined;
  for (let at = 0; at < bare.length; ) {
    const [quantifier = ""] = QUANTIFIER.exec(bare.slice(at)) ?? [];
    const group = groups.at(-1);
    if (quantifier !== "" && closed?.hasChoice && !quantifier.startsWith("?")) return undefined;
    if ((countQuantifier(quantifier, counted) || bare[at] === "|") && group) group.hasChoice = true;
    if (bare[at] === "|" && group) counted.ways *= 1 + 1 / group.alternatives++;
    if (bare[at] === "(") groups.push({ hasChoice: false, alternatives: 1 });
    closed = bare[at] === ")" ? groups.pop() : undefined;
    const outer = groups.at(-1);
    if (closed?.hasChoice && outer) outer.hasChoice = true;
    at += Math.max(quantifier.length, 1);
  }
  // A match may begin anywhere: an anchor holds for its own alternative.
  if (!bare.startsWith("^") || (groups[0]?.alternatives ?? 1) > 1) counted.open += 1;
  let { ways } = counted;
  // So many places in a row where one ends and the next begins.
  for (let one = 1; one <= counted.open; one += 1) ways *= MAX_MATCHED_TEXT / one;
  return ways;
}

/** @returns whether it leaves a choice */
function countQuantifier(quantifier: string, counted: { open: number; ways: number }): boolean {
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (quantifier === "" || (least !== undefined && comma === "")) return false;
  const times = quantifier.startsWith("?") ? 2 : Number(most) - Number(least) + 1;
  const isOpen = !quantifier.startsWith("?") && (most === undefined || most === "");
  if (isOpen) counted.open += 1;
  else counted.ways *= times;
  return true;
}
