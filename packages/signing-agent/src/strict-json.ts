/**
 * JSON that means the same to everybody who reads it. RFC 8259 §4 leaves open which of two members of one name counts:
 * a token that says `sub` twice could be one user to this agent and another to whoever takes the token.
 */
import { isUtf8 } from "node:buffer";

export type JsonObject = Readonly<Record<string, unknown>>;

export class InvalidJson extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidJson";
  }
}

const MOST_DEPTH = 16;
// Of a text that JSON.parse took, strings and structure are all that is left to tell apart.
const part = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * @returns the value of a JSON text
 * @throws InvalidJson when it is no JSON, names a member of one object twice (also by another spelling of the same
 *   name) or `__proto__`, or nests deeper than 16
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidJson("is no JSON");
  }
  refuseDuplicates(text);
  return value;
}

/** As `parseStrictJson`, of UTF-8 bytes that must hold an object. */
export function parseStrictObject(bytes: Uint8Array): JsonObject {
  if (!isUtf8(bytes)) throw new InvalidJson("is no UTF-8");
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const value = parseStrictJson(text);
  if (!isJsonObject(value)) throw new InvalidJson("is no JSON object");
  return value;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseDuplicates(text: string): void {
  const open: Set<string>[] = [];
  let lastString = "";
  for (const [found] of text.matchAll(part)) {
    if (found === "{" || found === "[") open.push(new Set());
    else if (found === "}" || found === "]") open.pop();
    else if (found === ":") addName(open.at(-1), JSON.parse(lastString));
    else lastString = found;
    if (open.length > MOST_DEPTH) throw new InvalidJson(`nests deeper than ${MOST_DEPTH}`);
  }
}

function addName(names: Set<string> | undefined, name: unknown): void {
  if (typeof name !== "string" || names === undefined) throw new InvalidJson("is no JSON");
  if (name === "__proto__") throw new InvalidJson("has a member __proto__");
  if (names.has(name)) throw new InvalidJson(`has two members ${JSON.stringify(name.slice(0, 40))}`);
  names.add(name);
}
