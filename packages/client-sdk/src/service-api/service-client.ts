/** Calls the service's JSON APIs: signs every attempt, retries idempotent calls, throws unsuccessful responses as errors. */
import { named } from "../configuration/properties.ts";
import { type Problem, SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { rejectsToken, type TokenSource } from "../grants/token-source.ts";
import { pause } from "../pause.ts";
import { createHttp, type HttpAnswer } from "../provider/http.ts";
import { signatureHeaders } from "../system-account/sign-request.ts";
import { isRecord } from "../tokens/claims.ts";
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

/** @returns a 2xx response. @throws SignetError `provider_unreachable`, `provider_refused` (with `problem`), `provider_answer` */
export type ServiceClient = (call: ServiceCall) => Promise<HttpAnswer>;

/** What a client's calls are made with. */
export interface ServiceCredentials extends Pick<ServiceSettings, "federationServer" | "environment"> {
  readonly systemAccount?: ServiceSettings["systemAccount"];
  readonly tokens?: Pick<TokenSource, "token" | "discard" | "dpop">;
}

/** A page of 50 clients whose lists all have the maximum length. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export function createServiceClient(
  settings: ServiceCredentials,
  options: ServiceOptions = {},
  limits = defaultLimits,
): ServiceClient {
  const { federationServer, environment, systemAccount, tokens } = settings;
  const { wait = pause, clock } = options;
  const http = createHttp(options, {
    environment,
    maxBodyBytes: MAX_BODY_BYTES,
    setting: named("federationServer"),
    hidesPaths: true,
  });
  const attempt = async (call: ServiceCall): Promise<HttpAnswer> => {
    const url = federationServer + call.target;
    const body = call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body));
    const { method, signal } = call;
    const accessToken = await tokens?.token();
    const signed = { method, url, body: body ?? new Uint8Array() };
    const headers = {
      ...call.headers,
      ...(body ? { "content-type": "application/json" } : {}),
      // Signed per attempt, because a nonce is accepted once.
      ...(systemAccount ? await signatureHeaders(systemAccount, signed, clock ? { clock } : {}) : {}),
    };
    const send = (token: string | undefined) => {
      const call = (added: Readonly<Record<string, string>>) =>
        http.json(url, { method, headers: { ...headers, ...added }, body, signal });
      if (token === undefined) return call({});
      if (!tokens?.dpop) return call({ authorization: `Bearer ${token}` });
      const proven = { method, url, accessToken: token };
      return tokens.dpop.send(proven, (proof) => call({ ...proof, authorization: `DPoP ${token}` }));
    };
    const response = await send(accessToken);
    if (!tokens || accessToken === undefined || !rejectsToken(response)) return response;
    tokens.discard(accessToken);
    const other = await tokens.token();
    return other === accessToken ? response : send(other);
  };
  return async (call) => {
    let mayBeDone = false;
    for (let count = 1; ; count++) {
      const outcome = await attempt(call).catch(returnUnreachable);
      const response = outcome instanceof SignetError ? undefined : outcome;
      if (response && response.status < 300) return response;
      // Already deleted by an earlier attempt whose response was lost.
      if (response?.status === 404 && call.method === "DELETE" && mayBeDone)
        return { ...response, status: 204, body: undefined };
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

const TYPE_PREFIX = "urn:signet:error:";

/** Undefined if the body is no problem document of the service. */
function parseProblem({ status, body }: HttpAnswer): Problem | undefined {
  if (!isRecord(body)) return undefined;
  const { type, title, detail, instance, errors } = body;
  if (typeof type !== "string" || !type.startsWith(TYPE_PREFIX) || typeof title !== "string")
    return undefined;
  return {
    code: type.slice(TYPE_PREFIX.length),
    status,
    title,
    detail: typeof detail === "string" ? detail : undefined,
    instance: typeof instance === "string" ? instance : undefined,
    errors: Array.isArray(errors) ? errors.flatMap(parseMemberError) : [],
  };
}

function parseMemberError(value: unknown): { path: string; message: string }[] {
  if (!isRecord(value)) return [];
  const { path, message } = value;
  return typeof path === "string" && typeof message === "string" ? [{ path, message }] : [];
}

/** `provider_unreachable`, `provider_refused` with the `problem`, or `provider_answer` if it is none of the service's. */
function serviceError(response: HttpAnswer): SignetError {
  const { status } = response;
  const problem = parseProblem(response);
  const details = problem ? { problem } : {};
  if (status >= 500 || status === 429)
    return new SignetError("provider_unreachable", `The service is unavailable (${status}).`, details);
  if (!problem)
    return new SignetError("provider_answer", `Unexpected response from the service (${status}).`);
  const { title, detail, errors } = problem;
  const members = errors.map(({ path, message }) => `${path || "body"} ${message}`).join(", ");
  const reasons = [detail, members].filter((text) => text).join(" ");
  return new SignetError("provider_refused", `${title}.${reasons ? ` ${reasons}` : ""}`, { problem });
}

/** For programs; users waiting for a page have less patience. A call fails if the service asks for a longer wait. */
const defaultLimits = { attempts: 3, maxWaitMs: 10_000 };
const FIRST_WAIT_MS = 200;

/** The service, or a proxy in front of it, did not process the call. */
const retryableStatuses: readonly number[] = [429, 502, 503, 504];

/** @param attempt the one that failed, 1 for the first. @returns milliseconds to wait, or undefined to give up */
function retryDelay(
  response: HttpAnswer | undefined,
  attempt: number,
  { attempts, maxWaitMs }: typeof defaultLimits,
): number | undefined {
  if (attempt >= attempts) return undefined;
  if (response && !retryableStatuses.includes(response.status) && !isInProgress(response)) return undefined;
  const retryAfter = retryAfterMs(response);
  if (retryAfter !== undefined) return retryAfter <= maxWaitMs ? retryAfter : undefined;
  // Jitter, so that callers rejected together don't return together.
  return FIRST_WAIT_MS * 4 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

/** The first request with this Idempotency-Key, whose response was lost, is still being processed. */
function isInProgress({ status, body }: HttpAnswer): boolean {
  return status === 409 && isRecord(body) && body["type"] === "urn:signet:error:under-way";
}

/** RFC 9110 §10.2.3, in seconds; the service never sends a date. */
function retryAfterMs(response: HttpAnswer | undefined): number | undefined {
  const seconds = response?.headers.get("retry-after") ?? "";
  return /^[0-9]{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
