/** The scope parameter (RFC 6749 §3.3). */
const maxTokens = 100;
const grammar = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The tokens of a scope parameter in order, each once (RFC 6749 §3.3). Undefined if malformed, empty or over 100 tokens. */
export function parseScope(value: string): string[] | undefined {
  if (!grammar.test(value)) return undefined;
  const tokens = value.split(" ", maxTokens + 1);
  return tokens.length > maxTokens ? undefined : [...new Set(tokens)];
}

/** The scope parameter of a list of tokens. */
export function formatScope(scopes: readonly string[]): string {
  return scopes.join(" ");
}

/** Whether every token of `a` is one of `b`. */
export function isSubset(a: readonly string[], b: readonly string[]): boolean {
  return a.every((token) => b.includes(token));
}
