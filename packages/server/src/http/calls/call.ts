/**
 * A request of OAuth's JSON endpoints as their handlers read it, and their answer. The framework's route and the direct way
 * (direct-calls.ts) call the same handler with the same call.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Form } from "@signet/protocol/form";

export interface Call {
  readonly raw: IncomingMessage;
  readonly requestId: string;
  /** The pattern, e.g. `/oauth/:org/token`. */
  readonly route: string;
  /** The organisation that the path names. */
  readonly org: string;
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
