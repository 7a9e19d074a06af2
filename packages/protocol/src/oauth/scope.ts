const maxTokens = 100;
const grammar = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The tokens of a scope parameter in their order, each once (RFC 6749 §3.3). Undefined when it is malformed: empty,
 * a character outside the grammar, anything but one space between two tokens, or more than 100 tokens.
 */
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
