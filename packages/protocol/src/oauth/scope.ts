/** The scope parameter (RFC 6749 §3.3). */
const maxTokens = 100;
const grammar = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The tokens of a scope parameter in order, each once (RFC 6749 §3.3). Spaces too many are no error, because libraries join
 * empty parts; any other white space is. Undefined if malformed, empty or over 100 tokens.
 */
export function parseScope(value: string): string[] | undefined {
  if (!grammar.test(value)) return undefined;
  const tokens = value.split(" ").filter((token) => token !== "");
  return tokens.length === 0 || tokens.length > maxTokens ? undefined : [...new Set(tokens)];
}

/** The scope parameter of a list of tokens. */
export function formatScope(scopes: readonly string[]): string {
  return scopes.join(" ");
}

/** Whether every token of `a` is one of `b`. */
export function isSubset(a: readonly string[], b: readonly string[]): boolean {
  return a.every((token) => b.includes(token));
}
