/** Calls of the service's JSON APIs: signed anew for each attempt, made again only where that is safe, refusals as errors. */
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { createHttp, type HttpAnswer } from "../provider/http.ts";
import { serviceFault } from "./problem.ts";
import { type Patience, pause, programPatience, waitBeforeRetry } from "./retry.ts";
import type { ServiceSettings } from "./service-settings.ts";
import { signatureHeaders } from "./sign-request.ts";

/** What the clients of the service's APIs take beside their configuration. */
export interface ServiceOptions extends Pick<Runtime, "fetch" | "clock"> {
  /** How to wait before a call is made again; for tests. */
  readonly wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export interface ServiceCall {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Sent as JSON; undefined sends no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Does the same however often it arrives: the method says so, or an Idempotency-Key. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @returns the answer, always a 2xx
 * @throws SignetError `provider_unreachable`, `provider_refused` (with `problem`), `provider_answer`
 */
export type CallService = (call: ServiceCall) => Promise<HttpAnswer>;

/** A page of 50 clients whose every list is as long as the service allows. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export function serviceCalls(
  settings: ServiceSettings,
  options: ServiceOptions = {},
  patience: Patience = programPatience,
): CallService {
  const { federationServer, environment, systemAccount } = settings;
  const { wait = pause, clock } = options;
  const http = createHttp(options, { environment, maxBodyBytes: MAX_BODY_BYTES });
  const attempt = async (call: ServiceCall): Promise<HttpAnswer> => {
    const url = federationServer + call.target;
    const body = call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body));
    const signed = { method: call.method, url, body: body ?? new Uint8Array() };
    return http.json(url, {
      method: call.method,
      headers: {
        ...call.headers,
        ...(body ? { "content-type": "application/json" } : {}),
        // A nonce holds once: each attempt has its own.
        ...(systemAccount ? await signatureHeaders(systemAccount, signed, clock ? { clock } : {}) : {}),
      },
      ...(body ? { body } : {}),
      ...(call.signal ? { signal: call.signal } : {}),
    });
  };
  return async (call) => {
    let wasLost = false;
    for (let count = 1; ; count++) {
      const outcome = await attempt(call).catch(unanswered);
      const answer = outcome instanceof SignetError ? undefined : outcome;
      if (answer && answer.status < 300) return answer;
      // Gone because an earlier attempt, whose answer was lost, has deleted it.
      if (answer?.status === 404 && call.method === "DELETE" && wasLost) return { ...answer, status: 204 };
      if (answer?.status === 412 && wasLost) throw unknownChange(answer);
      const milliseconds =
        call.isRepeatable && !call.signal?.aborted ? waitBeforeRetry(answer, count, patience) : undefined;
      if (milliseconds === undefined) throw outcome instanceof SignetError ? outcome : serviceFault(outcome);
      wasLost ||= answer === undefined || answer.status === 502 || answer.status === 504;
      await wait(milliseconds, call.signal);
    }
  };
}

/**
 * Changed since it was read: by somebody else, or by the attempt whose answer was lost. Not `stale`, or a change such as
 * "one more" would be made twice.
 */
function unknownChange(answer: HttpAnswer): SignetError {
  const message = "The record has changed, and whether by this call is not known: its first answer was lost.";
  return new SignetError("provider_unreachable", message, { cause: serviceFault(answer) });
}

/** @throws what is no lost connection: another attempt would not change it */
function unanswered(error: unknown): SignetError {
  if (error instanceof SignetError && error.code === "provider_unreachable") return error;
  throw error;
}
