/**
 * Which subjects of an issuer a trust is for (modern-oauth.md §5, "Pattern"). A pattern is cut at `:` and `/`; `*` stands for one
 * whole segment that is not empty. The first three are literal, so that a pattern names a repository, a service account or a
 * trust domain with its first path: at an issuer that everybody uses, less would be everybody.
 */

export const MAX_PATTERN = 1_024;
/** Empty segments, as in `spiffe://`, name nothing and do not count. */
const LITERAL_SEGMENTS = 3;

const MESSAGES = {
  form: `must be 1 to ${MAX_PATTERN} printable characters without spaces`,
  question: "must not contain ?: * stands for one whole segment, and nothing else is special",
  part: "must have * as a whole segment between : and /, never as a part of one or as **",
  nothing: "must name something",
  everything:
    "must begin with three literal segments (after repo: and project_path: these are two): it would match others' too",
} as const;

/** For pages, which translate it. */
export type PatternFaultCode = keyof typeof MESSAGES;

/** Undefined for a pattern that can be written. */
export function patternFaultCode(pattern: string): PatternFaultCode | undefined {
  if (pattern === "" || pattern.length > MAX_PATTERN || !/^[\x21-\x7e]+$/.test(pattern)) return "form";
  if (pattern.includes("?")) return "question";
  const segments = pattern.split(/[:/]/);
  if (segments.some((segment) => segment !== "*" && segment.includes("*"))) return "part";
  const named = segments.filter((segment) => segment !== "");
  if (named.length === 0) return "nothing";
  return named.slice(0, LITERAL_SEGMENTS).includes("*") ? "everything" : undefined;
}

/** Why a pattern cannot be written; undefined when it can. */
export function patternFault(pattern: string): string | undefined {
  const code = patternFaultCode(pattern);
  return code && MESSAGES[code];
}

const patterns = new Map<string, RegExp>();
const MAX_KNOWN = 1_000;

/** @param pattern checked by `patternFault` */
export function matchesPattern(pattern: string, subject: string): boolean {
  const known = patterns.get(pattern) ?? compile(pattern);
  return known.test(subject);
}

/** Segments border on `:` and `/` alone, which `*` never contains: the time that it takes is linear. */
function compile(pattern: string): RegExp {
  const source = pattern
    .split(/([:/])/)
    .map((part) => (part === "*" ? "[^:/]+" : RegExp.escape(part)))
    .join("");
  const compiled = new RegExp(`^${source}$`, "u");
  if (patterns.size >= MAX_KNOWN) patterns.delete(patterns.keys().next().value as string);
  patterns.set(pattern, compiled);
  return compiled;
}
