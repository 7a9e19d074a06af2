/** Calls the service's JSON APIs: signs every attempt, retries idempotent calls, throws unsuccessful responses as errors. */
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { pause } from "../pause.ts";
import { createHttp, type HttpAnswer } from "../provider/http.ts";
import { signatureHeaders } from "../system-account/sign-request.ts";
import { serviceError } from "./problem.ts";
import { defaultRetryLimits, type RetryLimits, retryDelay } from "./retry.ts";
import type { ServiceSettings } from "./service-settings.ts";

/** Options of the clients of the service's APIs. */
export interface ServiceOptions extends Pick<Runtime, "fetch" | "clock"> {
  /** Replaces the timer between attempts, for tests. */
  readonly wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export interface ServiceCall {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Sent as JSON; undefined sends no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** By its method or an Idempotency-Key. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @returns the response, always 2xx
 * @throws SignetError `provider_unreachable`, `provider_refused` (with `problem`), `provider_answer`
 */
export type ServiceClient = (call: ServiceCall) => Promise<HttpAnswer>;

/** A page of 50 clients whose lists all have the maximum length. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export function createServiceClient(
  settings: ServiceSettings,
  options: ServiceOptions = {},
  limits: RetryLimits = defaultRetryLimits,
): ServiceClient {
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
        // Signed per attempt, because a nonce is accepted once.
        ...(systemAccount ? await signatureHeaders(systemAccount, signed, clock ? { clock } : {}) : {}),
      },
      ...(body ? { body } : {}),
      ...(call.signal ? { signal: call.signal } : {}),
    });
  };
  return async (call) => {
    let mayBeDone = false;
    for (let count = 1; ; count++) {
      const outcome = await attempt(call).catch(returnUnreachable);
      const response = outcome instanceof SignetError ? undefined : outcome;
      if (response && response.status < 300) return response;
      // Already deleted by an earlier attempt whose response was lost.
      if (response?.status === 404 && call.method === "DELETE" && mayBeDone)
        return { status: 204, headers: response.headers, body: undefined };
      if (response?.status === 412 && mayBeDone) throw ambiguousChange(response);
      const canRetry = call.isRepeatable && !call.signal?.aborted;
      const delay = canRetry ? retryDelay(response, count, limits) : undefined;
      if (delay === undefined) throw outcome instanceof SignetError ? outcome : serviceError(outcome);
      mayBeDone ||= response === undefined || response.status === 502 || response.status === 504;
      await wait(delay, call.signal);
    }
  };
}

/** Not `stale`: the lost attempt may have succeeded, and a repeated increment would be applied twice. */
function ambiguousChange(response: HttpAnswer): SignetError {
  const message =
    "The record has changed, possibly by this call: the response to its first attempt was lost.";
  return new SignetError("provider_unreachable", message, { cause: serviceError(response) });
}

/** Any other error would repeat. */
function returnUnreachable(error: unknown): SignetError {
  if (error instanceof SignetError && error.code === "provider_unreachable") return error;
  throw error;
}
