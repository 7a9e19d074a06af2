/** JSON bodies: kept as raw bytes for signature verification, then parsed with limits. */
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { malformed } from "./api-error.ts";

/** Accepts JSON bodies only: any other content type gets 415. @param bodyLimit bytes; default: the server's limit */
export function acceptJson(scope: FastifyInstance, bodyLimit?: number): void {
  scope.removeAllContentTypeParsers();
  addJson(scope, bodyLimit === undefined ? {} : { bodyLimit });
}

/** Accepts JSON, or a type of JSON, beside the content types that the scope already accepts. */
export function addJson(
  scope: FastifyInstance,
  { bodyLimit, contentType = "application/json" }: { bodyLimit?: number; contentType?: string } = {},
): void {
  const options = { parseAs: "buffer" as const, ...(bodyLimit === undefined ? {} : { bodyLimit }) };
  scope.addContentTypeParser(contentType, options, (_request, body, done) => {
    done(null, body);
  });
}

const NO_BODY = Buffer.alloc(0);

/** The raw body; empty when the request had none. */
export function rawBody(request: Pick<FastifyRequest, "body">): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : NO_BODY;
}

/** `\u0000` in JSON; after an odd number of further backslashes it is an escaped backslash and five characters. */
const NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** @returns undefined for no body. @throws ApiError for what is not UTF-8, not JSON, nested too deeply, or can't be stored */
export function parseJson(raw: Buffer): unknown {
  if (raw.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw malformed("The body is not UTF-8.");
  }
  const parsed = parsedText(text);
  if (!isNestedWithin(parsed)) throw malformed(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  if (!isExactJson(parsed))
    throw malformed("The body contains half of a surrogate pair, or a number that is out of range.");
  // PostgreSQL can't store NUL in text; paths, queries and forms reject it too.
  if (NUL.test(text)) throw malformed("The body contains a NUL character.");
  return parsed;
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformed("The body is not JSON.");
  }
}
