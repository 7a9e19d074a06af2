/** Parses SCIM filters and PATCH paths: all of RFC 7644's grammar, in linear time and bounded depth. */
import {
  type AttributePath,
  type CompareOperator,
  type CompareValue,
  compareOperators,
  type Filter,
  InvalidFilter,
  type PatchPath,
  readAttributePath,
  TokenReader,
  unexpected,
} from "./filter-syntax.ts";

/** Of parentheses, brackets and `not`: a reader calls itself for each. */
const MAX_FILTER_DEPTH = 40;

/**
 * @param text operators and words in any case; `not` binds stronger than `and`, and `and` stronger than `or`
 * @param maxLength characters
 * @throws InvalidFilter with a sentence for who wrote it
 */
export function parseFilter(text: string, maxLength: number): Filter {
  if (text.length > maxLength) throw new InvalidFilter(`a filter has at most ${maxLength} characters`);
  const reader = new TokenReader(text);
  const filter = readOr(reader, 0);
  reader.expect("end");
  return filter;
}

/** @param text of a PATCH operation (RFC 7644 §3.5.2, `PATH`). @throws InvalidFilter */
export function parsePatchPath(text: string, maxLength: number): PatchPath {
  if (text.length > maxLength) throw new InvalidFilter(`a path has at most ${maxLength} characters`);
  const reader = new TokenReader(text);
  const path = readPath(reader);
  if (reader.peek().kind !== "[") {
    reader.expect("end");
    return { path };
  }
  const filter = readBracket(reader, 0);
  const sub = reader.peek().kind === "." ? readSub(reader) : undefined;
  reader.expect("end");
  return { path, filter, ...(sub !== undefined && { sub }) };
}

const readOr = (reader: TokenReader, depth: number): Filter => readChain(reader, "or", depth, readAnd);
const readAnd = (reader: TokenReader, depth: number): Filter => readChain(reader, "and", depth, readTerm);

function readChain(
  reader: TokenReader,
  op: "and" | "or",
  depth: number,
  read: (reader: TokenReader, depth: number) => Filter,
): Filter {
  const filters = [read(reader, depth)];
  while (isWord(reader, op)) {
    reader.take();
    filters.push(read(reader, depth));
  }
  const [only] = filters;
  return only && filters.length === 1 ? only : { op, filters };
}

function isWord(reader: TokenReader, word: string): boolean {
  const { kind, text } = reader.peek();
  return kind === "word" && text.toLowerCase() === word;
}

function readTerm(reader: TokenReader, depth: number): Filter {
  if (depth > MAX_FILTER_DEPTH)
    throw new InvalidFilter(`a filter is at most ${MAX_FILTER_DEPTH} levels deep`);
  if (reader.peek().kind === "(") return readGroup(reader, depth);
  const path = readPath(reader, "an attribute, not or (");
  // An attribute may be called `not` as well: what comes next tells.
  if (path.name.toLowerCase() === "not" && path.urn === undefined && reader.peek().kind === "(")
    return { op: "not", filter: readGroup(reader, depth) };
  return reader.peek().kind === "[" ? readSome(reader, path, depth) : readComparison(reader, path);
}

function readGroup(reader: TokenReader, depth: number): Filter {
  reader.expect("(");
  const filter = readOr(reader, depth + 1);
  reader.expect(")");
  return filter;
}

function readBracket(reader: TokenReader, depth: number): Filter {
  reader.expect("[");
  const filter = readOr(reader, depth + 1);
  reader.expect("]");
  return filter;
}

/** `emails[type eq "work"].value co "@"`, which Entra ID sends and the RFC's grammar lacks, is about one and the same element. */
function readSome(reader: TokenReader, path: AttributePath, depth: number): Filter {
  const filter = readBracket(reader, depth);
  if (reader.peek().kind !== ".") return { op: "some", path, filter };
  const member = readComparison(reader, { name: readSub(reader) });
  return { op: "some", path, filter: { op: "and", filters: [filter, member] } };
}

function readComparison(reader: TokenReader, path: AttributePath): Filter {
  const token = reader.take();
  const op = token.text.toLowerCase();
  if (token.kind === "word" && op === "pr") return { op, path };
  if (token.kind !== "word" || !isCompareOperator(op)) throw unexpected(token, "an operator");
  return { op, path, value: readValue(reader) };
}

const isCompareOperator = (op: string): op is CompareOperator =>
  (compareOperators as readonly string[]).includes(op);

function readValue(reader: TokenReader): CompareValue {
  const token = reader.take();
  if (token.kind === "word" && !/^(?:true|false|null)$/i.test(token.text)) throw unexpected(token, "a value");
  if (token.kind !== "word" && token.kind !== "string" && token.kind !== "number")
    throw unexpected(token, "a value");
  try {
    // Entra ID writes True and False.
    return stored(JSON.parse(token.kind === "word" ? token.text.toLowerCase() : token.text) as CompareValue);
  } catch {
    throw unexpected(token, "a JSON string of characters that a text has");
  }
}

/** PostgreSQL can't compare with NUL or half of a surrogate pair, which an escape brings past every look at the request. */
function stored(value: CompareValue): CompareValue {
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed()))
    throw new InvalidFilter("no text has this character");
  return value;
}

function readPath(reader: TokenReader, wanted = "an attribute"): AttributePath {
  const token = reader.take();
  const path = token.kind === "word" ? readAttributePath(token.text) : undefined;
  if (!path) throw unexpected(token, wanted);
  return path;
}

function readSub(reader: TokenReader): string {
  reader.expect(".");
  const token = reader.peek();
  const { name, sub, urn } = readPath(reader);
  if (sub !== undefined || urn !== undefined || token.isApart) throw unexpected(token, "a member");
  return name;
}
