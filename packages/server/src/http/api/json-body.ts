/** JSON bodies: kept as the bytes that were signed until the caller is known, then parsed within bounds. */
import { isNestedWithin, MOST_JSON_DEPTH } from "@signet/protocol/json-depth";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { malformed } from "./api-error.ts";

/**
 * In this scope bodies are JSON and nothing else: any other content type is answered with 415.
 * @param bodyLimit bytes, where less than elsewhere is taken
 */
export function acceptJson(scope: FastifyInstance, bodyLimit?: number): void {
  scope.removeAllContentTypeParsers();
  addJson(scope, bodyLimit);
}

/** Beside what the scope takes already. */
export function addJson(scope: FastifyInstance, bodyLimit?: number): void {
  const options = { parseAs: "buffer" as const, ...(bodyLimit === undefined ? {} : { bodyLimit }) };
  scope.addContentTypeParser("application/json", options, (_request, body, done) => {
    done(null, body);
  });
}

/** The body as it came; empty when the request had none. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** A NUL as JSON writes it; after an odd number of backslashes more, it is a backslash and five letters. */
const NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** @returns undefined for no body. @throws ApiError for what is not UTF-8, not JSON, nested too deeply, or has a NUL */
export function parseJson(raw: Buffer): unknown {
  if (raw.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw malformed("The body is not UTF-8.");
  }
  const parsed = parsedText(text);
  if (!isNestedWithin(parsed)) throw malformed(`The body is nested more than ${MOST_JSON_DEPTH} deep.`);
  // PostgreSQL's text cannot hold one, and no text of ours has one: as in addresses, queries and forms.
  if (NUL.test(text)) throw malformed("The body has a NUL character in it.");
  return parsed;
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformed("The body is not JSON.");
  }
}
