/** The terms of SCIM filters and PATCH paths (RFC 7644 §3.4.2.2 and §3.5.2). */

export const compareOperators = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type CompareOperator = (typeof compareOperators)[number];
export type CompareValue = string | number | boolean | null;

/** `urn` is the schema that the path names, in the case that it came in; names too: attribute names have no case (RFC 7643 §2.1). */
export interface AttributePath {
  readonly urn?: string;
  readonly name: string;
  readonly sub?: string;
}

export type Filter =
  | { readonly op: "and" | "or"; readonly filters: readonly Filter[] }
  | { readonly op: "not"; readonly filter: Filter }
  | { readonly op: "pr"; readonly path: AttributePath }
  | { readonly op: CompareOperator; readonly path: AttributePath; readonly value: CompareValue }
  /** Some element of `path` for which `filter` is true; the paths in it are of that element. */
  | { readonly op: "some"; readonly path: AttributePath; readonly filter: Filter };

/** What a PATCH changes: an attribute, those of its values that `filter` chooses, or a member of these. */
export interface PatchPath {
  readonly path: AttributePath;
  readonly filter?: Filter;
  readonly sub?: string;
}

export class InvalidFilter extends Error {
  override readonly name = "InvalidFilter";
}

interface Token {
  readonly kind: "word" | "string" | "number" | "(" | ")" | "[" | "]" | "." | "end";
  readonly text: string;
  /** Where it begins, in characters. */
  readonly at: number;
  /** Whether white space stands before it. */
  readonly isApart: boolean;
}

/** `$` is of `$ref`, which the RFC's own grammar forgets. A word may hold a schema: letters, digits and `._-:`. */
const TOKEN =
  /(?<space>[ \t\r\n]*)(?:(?<word>[A-Za-z$][\w$.:-]*)|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(?<mark>[()[\].]))/y;

/** @throws InvalidFilter */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) throw new InvalidFilter(`character ${at + 1} begins nothing that a filter has`);
    const { space = "", word, string, number, mark } = groups;
    const found = word ?? string ?? number ?? mark ?? "";
    const kind = word ? "word" : string ? "string" : number ? "number" : (mark as Token["kind"]);
    tokens.push({ kind, text: found, at: at + space.length, isApart: space !== "" });
    at = TOKEN.lastIndex;
  }
  tokens.push({ kind: "end", text: "", at: end, isApart: true });
  return tokens;
}

const NAME = /^(?:\$ref|[A-Za-z][\w-]*)$/;

/** @param word a name, a name with a member, or either behind a schema and a colon. @returns undefined for anything else */
export function readAttributePath(word: string): AttributePath | undefined {
  const colon = word.lastIndexOf(":");
  const [name = "", sub, ...more] = word.slice(colon + 1).split(".");
  if (!NAME.test(name) || more.length > 0 || (sub !== undefined && !NAME.test(sub))) return undefined;
  if (colon >= 0 && !/^urn:[\w.:-]+$/i.test(word.slice(0, colon))) return undefined;
  return { ...(colon >= 0 && { urn: word.slice(0, colon) }), name, ...(sub !== undefined && { sub }) };
}

/** Reads tokens one by one. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #next = 0;
  constructor(text: string) {
    this.#tokens = readTokens(text);
  }
  peek(): Token {
    return this.#tokens[this.#next] as Token;
  }
  take(): Token {
    const token = this.peek();
    if (token.kind !== "end") this.#next += 1;
    return token;
  }
  /** @throws InvalidFilter unless the next one is of this kind */
  expect(kind: Token["kind"]): Token {
    const token = this.take();
    if (token.kind !== kind) throw unexpected(token, kind === "end" ? "the end" : kind);
    return token;
  }
}

export const unexpected = ({ text, at }: Token, wanted: string): InvalidFilter =>
  new InvalidFilter(
    `${wanted} was expected at character ${at + 1}${text === "" ? "" : `, not ${text.slice(0, 40)}`}`,
  );
