/**
 * JSON that every reader understands alike. RFC 8259 §4 leaves open which of two members with one name counts: a token with
 * two `sub` could be one user to this agent and another to its recipient.
 */
import { isUtf8 } from "node:buffer";

export type JsonObject = Readonly<Record<string, unknown>>;

export class InvalidJson extends Error {
  override name = "InvalidJson";
}

const MAX_DEPTH = 16;
// Enough for text that JSON.parse has accepted.
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * @throws InvalidJson also for a member given twice in one object (however its name is escaped), a member `__proto__`, or
 *   more than 16 levels
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidJson("is not JSON");
  }
  refuseDuplicates(text);
  return value;
}

/** As `parseStrictJson`, for UTF-8 bytes that must be an object. */
export function parseStrictObject(bytes: Uint8Array): JsonObject {
  if (!isUtf8(bytes)) throw new InvalidJson("is not UTF-8");
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const value = parseStrictJson(text);
  if (!isJsonObject(value)) throw new InvalidJson("is not a JSON object");
  return value;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseDuplicates(text: string): void {
  const open: Set<string>[] = [];
  let lastString = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") addName(open.at(-1), JSON.parse(lastString));
    else lastString = token;
    if (open.length > MAX_DEPTH) throw new InvalidJson(`has more than ${MAX_DEPTH} levels`);
  }
}

function addName(names: Set<string> | undefined, name: unknown): void {
  if (typeof name !== "string" || names === undefined) throw new InvalidJson("is not JSON");
  if (name === "__proto__") throw new InvalidJson("has a member __proto__");
  if (names.has(name)) throw new InvalidJson(`has two members ${JSON.stringify(name.slice(0, 40))}`);
  names.add(name);
}
