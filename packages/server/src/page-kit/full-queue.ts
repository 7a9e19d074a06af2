/** A form that the full password queue refused: its page says when to send it again, and the log counts it. */
import { PasswordQueueFull } from "../core/passwords/password-hasher.ts";
import type { Visit } from "./page.ts";

export interface BusyDeps {
  /** Counts a request that got 503 without passing an error handler, which counts by itself. */
  logBusy(error: unknown, requestId: string): void;
}

/** @returns seconds, also sent as Retry-After. @throws any other error */
export function retryAfterFullQueue(
  deps: BusyDeps,
  { request, reply }: Pick<Visit, "request" | "reply">,
  error: unknown,
): number {
  if (!(error instanceof PasswordQueueFull)) throw error;
  deps.logBusy(error, request.id);
  reply.header("retry-after", String(error.retryAfterSeconds));
  return error.retryAfterSeconds;
}
