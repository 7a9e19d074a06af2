/**
 * A busy request as its handler reads it, and their answer. The framework's route and the direct way
 * (direct-calls.ts) call the same handler with the same call.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Form } from "@signet/protocol/form";

export interface Call {
  readonly raw: IncomingMessage;
  readonly requestId: string;
  /** The pattern, e.g. `/oauth/:org/token`. */
  readonly route: string;
  /** Of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Empty when the request had no body. */
  readonly form: Form;
  /** @throws OAuthError invalid_request when the query is malformed */
  query(): Form;
}

export interface Answer {
  readonly status: number;
  /** Names and values in turn, which node:http writes fastest. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** @param more headers, names and values in turn */
export function writeAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  more: readonly string[],
): void {
  const bytes = Buffer.byteLength(body);
  // 204 and 304 have no body, and so no length of one (RFC 9110 §8.6).
  const length = status === 204 || status === 304 ? [] : ["Content-Length", String(bytes)];
  response.writeHead(status, [...headers, ...length, ...more]);
  // Of ASCII, as almost every answer is, the bytes are the same, and writing three kilobytes of them costs a quarter less.
  response.end(body, bytes === body.length ? "latin1" : "utf8");
}

/** @throws what the endpoint's error handler answers */
export type CallHandler = (call: Call) => Promise<Answer>;

export const jsonHeaders = [
  ...["Content-Type", "application/json", "Cache-Control", "no-store"],
  // Required beside Cache-Control by RFC 6749 §5.1.
  ...["Pragma", "no-cache"],
] as const;

/** 200. */
export const jsonAnswer = (content: object): Answer => ({
  status: 200,
  headers: jsonHeaders,
  body: JSON.stringify(content),
});
