/** What a program gets when there is too much: by node:http, or as bytes of the same answer. */
import type { ServerResponse } from "node:http";
import { serverBounds } from "../listeners/server-bounds.ts";
import { REQUEST_ID_HEADER } from "../request-references.ts";

export const RETRY_AFTER_SECONDS = 1;

/**
 * Members of RFC 9457 and of RFC 6749 §5.2, of which either reader ignores the other's, around the request's id: the log counts
 * refusals, but a proxy's has each.
 */
const [bodyStart = "", bodyEnd = ""] = JSON.stringify({
  type: "urn:signet:error:unavailable",
  title: "The service is temporarily unavailable",
  status: 503,
  instance: "<id>",
  error: "temporarily_unavailable",
  error_description: "The service is temporarily unavailable",
}).split("<id>");

/** A flat list, which node:http writes fastest. Any origin may read it: it tells nothing. */
const fields = [
  ["Cache-Control", "no-store"],
  ["Retry-After", String(RETRY_AFTER_SECONDS)],
  ["X-Content-Type-Options", "nosniff"],
  ["Access-Control-Allow-Origin", "*"],
  ["Access-Control-Expose-Headers", "Retry-After"],
].flat();

export const mediaTypeFor = (url: string): string =>
  url.startsWith("/api/") || url.startsWith("/legacy/") ? "application/problem+json" : "application/json";

export interface Refusal {
  readonly id: string;
  readonly mediaType: string;
  /** Of every answer of the service, names and values in turn. */
  readonly headers: readonly string[];
}

export function writeRefusal(response: ServerResponse, { id, mediaType, headers }: Refusal): void {
  const body = `${bodyStart}${id}${bodyEnd}`;
  const own = ["Content-Type", mediaType, REQUEST_ID_HEADER, id, ...headers];
  response.writeHead(503, [...fields, "Content-Length", String(body.length), ...own]);
  response.end(body, "latin1");
}

/**
 * As node:http would write it, but for the date, which RFC 9110 §6.6.1 does not ask for with a 5xx.
 * @returns Latin-1, by the request's id
 */
export function refusalBytes({ mediaType, headers }: Omit<Refusal, "id">): (id: string) => string {
  const kept = ["Connection", "keep-alive", "Keep-Alive", `timeout=${serverBounds.keepAliveTimeout / 1_000}`];
  const all = [...fields, "Content-Type", mediaType, ...headers, ...kept];
  const lines = all.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}\r\n`] : []));
  const start = `HTTP/1.1 503 Service Unavailable\r\n${lines.join("")}${REQUEST_ID_HEADER}: `;
  const length = bodyStart.length + bodyEnd.length;
  return (id) => `${start}${id}\r\nContent-Length: ${length + id.length}\r\n\r\n${bodyStart}${id}${bodyEnd}`;
}
