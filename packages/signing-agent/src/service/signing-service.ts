/** The service as an agent sees it: five calls, and what their answers mean (sovereign-signing.md §5). */
import type { RejectReason } from "../refusal.ts";
import type { Connections, JsonAnswer } from "./json-call.ts";
import {
  type ChallengeMessage,
  type ClaimedRequest,
  claimedForm,
  errorForm,
  type QueueAnswer,
  queueForm,
  type SignedJwts,
  staleForm,
  type TokenToSign,
} from "./messages.ts";

/** The service cannot be used now: away, overloaded, or its answer is none of those it may give. */
export class ServiceTrouble extends Error {
  /** `unauthorized`: the API key is not taken (any more). */
  readonly kind: "unauthorized" | "busy" | "unexpected";
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: "unauthorized" | "busy" | "unexpected", message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = "ServiceTrouble";
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Lease {
  readonly requestId: string;
  readonly leaseToken: string;
}

export type ClaimAnswer =
  | { readonly outcome: "claimed"; readonly request: ClaimedRequest }
  | { readonly outcome: "nothing" | "no_usable_key" };

export type SignAnswer =
  | { readonly outcome: "signed" }
  | { readonly outcome: "stale_payload"; readonly tokens: readonly TokenToSign[] }
  /** Nothing more can be done with this lease. */
  | { readonly outcome: "over" | "invalid"; readonly reason: string };

export type ChallengeAnswer =
  | { readonly outcome: "asked"; readonly leaseSeconds: number }
  | { readonly outcome: "not_interactive" | "challenge_limit" | "over" };

export interface SigningService {
  /** @param options.known challenges whose answers came before: the service leaves them out, and waits for others */
  queue(options: {
    wait: number;
    renew: readonly string[];
    known?: readonly string[];
    signal?: AbortSignal;
  }): Promise<QueueAnswer>;
  claim(options: { kids: readonly string[]; wait: number; signal?: AbortSignal }): Promise<ClaimAnswer>;
  sign(lease: Lease, jwts: SignedJwts): Promise<SignAnswer>;
  challenge(lease: Lease, challenge: ChallengeMessage): Promise<ChallengeAnswer>;
  /** @returns whether the service took it; false when the lease or the request was over anyway */
  reject(
    lease: Lease,
    rejection: { reason: RejectReason; detail: string; retryable: boolean },
  ): Promise<boolean>;
}

const ANSWER_MS = 15_000;
const MOST_DETAIL = 200;

/**
 * @param address of the organisation's sovereign endpoints: `{service}/oauth/{org}/sovereign`
 * Each call rejects with `CallFailed` without an answer, and with `ServiceTrouble` for one that is none of its own.
 */
export function signingService(connections: Connections, address: string, apiKey: string): SigningService {
  const headers = { authorization: `Bearer ${apiKey}` };
  const post = (path: string, body: object, waitSeconds = 0, signal?: AbortSignal) =>
    connections.call({
      method: "POST",
      url: `${address}/agent/${path}`,
      headers,
      body: JSON.stringify(body),
      timeoutMs: ANSWER_MS + waitSeconds * 1000,
      signal,
    });
  return {
    queue: async ({ wait, renew, known = [], signal }) => {
      // `max=0`: what waits is taken by `claim`; here only leases and answers matter.
      const query = new URLSearchParams({ wait: String(wait), max: "0" });
      if (renew.length > 0) query.set("renew", renew.join(","));
      if (known.length > 0) query.set("known", known.join(","));
      const url = `${address}/agent/queue?${query}`;
      const answer = await connections.call({
        method: "GET",
        url,
        headers,
        timeoutMs: ANSWER_MS + wait * 1000,
        signal,
      });
      if (answer.status === 200 && queueForm.Check(answer.body)) return answer.body;
      throw trouble("queue", answer);
    },
    claim: async ({ kids, wait, signal }) => {
      const answer = await post("claim", { kids, wait }, wait, signal);
      if (answer.status === 204 || isError(answer, 409, "not_claimable")) return { outcome: "nothing" };
      if (isError(answer, 422, "no_usable_key")) return { outcome: "no_usable_key" };
      if (answer.status === 200 && claimedForm.Check(answer.body))
        return { outcome: "claimed", request: answer.body };
      throw trouble("claim", answer);
    },
    sign: async (lease, jwts) => signAnswer(await post("sign", { ...lease, jwts })),
    challenge: async (lease, challenge) =>
      challengeAnswer(await post("challenge", { ...lease, ...challenge })),
    reject: async (lease, { detail, ...rejection }) => {
      const answer = await post("reject", { ...lease, ...rejection, detail: detail.slice(0, MOST_DETAIL) });
      if (answer.status === 200) return true;
      if (isOver(answer)) return false;
      throw trouble("reject", answer);
    },
  };
}

function signAnswer(answer: JsonAnswer): SignAnswer {
  if (answer.status === 200) return { outcome: "signed" };
  if (isError(answer, 409, "stale_payload") && staleForm.Check(answer.body))
    return { outcome: "stale_payload", tokens: answer.body.tokens };
  if (isOver(answer)) return { outcome: "over", reason: errorOf(answer) };
  if (answer.status === 422) return { outcome: "invalid", reason: errorOf(answer) };
  throw trouble("sign", answer);
}

function challengeAnswer(answer: JsonAnswer): ChallengeAnswer {
  if (answer.status === 202) {
    const seconds = Number(answer.body?.["leaseSeconds"]);
    return { outcome: "asked", leaseSeconds: Number.isFinite(seconds) ? seconds : 0 };
  }
  if (isError(answer, 409, "not_interactive")) return { outcome: "not_interactive" };
  if (isError(answer, 409, "challenge_limit")) return { outcome: "challenge_limit" };
  if (isOver(answer)) return { outcome: "over" };
  throw trouble("challenge", answer);
}

/** The request is not ours any more, or is not there any more. */
const isOver = ({ status }: JsonAnswer): boolean => status === 404 || status === 409 || status === 410;

const isError = (answer: JsonAnswer, status: number, code: string): boolean =>
  answer.status === status && errorForm.Check(answer.body) && answer.body.error === code;

/** What the service says of it, harmless in a log. */
function errorOf({ status, body }: JsonAnswer): string {
  if (!errorForm.Check(body)) return `status ${status}`;
  const text = body.reason === undefined ? body.error : `${body.error} (${body.reason})`;
  return text.slice(0, MOST_DETAIL).replace(/[^\x20-\x7e]/g, "?");
}

function trouble(call: string, answer: JsonAnswer): ServiceTrouble {
  const message = `${call}: ${errorOf(answer)}`;
  if (answer.status === 401) return new ServiceTrouble("unauthorized", message, answer.retryAfter);
  const isBusy = answer.status === 429 || answer.status >= 500;
  return new ServiceTrouble(isBusy ? "busy" : "unexpected", message, answer.retryAfter);
}
