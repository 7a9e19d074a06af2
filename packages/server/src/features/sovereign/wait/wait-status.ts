/** The status of a request as its browser sees it: on the page, at the status endpoint and in the stream. */
import type { RequestStatus } from "../requests/request-status.ts";
import type { Challenge, FailReason, RequestState } from "../requests/signing-request.ts";

export type WaitState = "pending" | "challenge" | "signed" | "failed" | "expired";

/** What the page says while it waits. */
export type WaitDetail = "no_agent" | "answered" | "withdrawn";

/** The JSON of status and stream (sovereign-signing.md §5). `detail` is an addition for the page. */
export interface WaitStatus {
  readonly requestId: string;
  readonly status: WaitState;
  readonly seq: number;
  /** Seconds until the request expires; 0 when it is final. */
  readonly expiresIn: number;
  readonly detail?: WaitDetail;
  readonly challenge?: ShownChallenge;
  /** Leads back to the application, once: with the code or the error. */
  readonly continueUrl?: string;
  readonly reason?: FailReason;
}

export interface ShownChallenge extends Omit<Challenge, "ttl"> {
  /** Seconds. */
  readonly expiresIn: number;
}

const waitStates = {
  pending: "pending",
  claimed: "pending",
  challenge: "challenge",
  responded: "pending",
  signed: "signed",
  released: "signed",
  failed: "failed",
  expired: "expired",
} as const satisfies Record<RequestState, WaitState>;

/**
 * @param now milliseconds, of the same clock as the request's times
 * @param continueUrl until it has been used
 */
export function waitStatus(request: RequestStatus, now: number, continueUrl: string | undefined): WaitStatus {
  const { requestId, seq, failReason } = request;
  const status = waitStates[request.state];
  const isOver = isFinal(status);
  const detail = waitDetail(request);
  return {
    requestId,
    status,
    seq,
    expiresIn: isOver ? 0 : secondsUntil(request.expiresAt, now),
    ...(detail === undefined ? {} : { detail }),
    ...(status === "challenge" ? shownChallenge(request, now) : {}),
    ...(isOver && continueUrl !== undefined ? { continueUrl } : {}),
    ...(status === "failed" && failReason !== null ? { reason: failReason } : {}),
  };
}

export const isFinal = (status: WaitState): boolean => status !== "pending" && status !== "challenge";

/** Equal for statuses that look the same; scripts/wait.js compares it with what the page shows. */
export function displayKey({ status, detail, challenge, continueUrl }: WaitStatus): string {
  return [status, detail, challenge?.challengeId, continueUrl === undefined ? undefined : "on"]
    .filter((part) => part !== undefined)
    .join(" ");
}

function waitDetail({ state, agentSeen, challengeCount }: RequestStatus): WaitDetail | undefined {
  if (state === "responded") return "answered";
  if (state === "pending" && !agentSeen) return "no_agent";
  return (state === "pending" || state === "claimed") && challengeCount > 0 ? "withdrawn" : undefined;
}

/** An allow-list: nothing else that an agent sends reaches the browser. */
function shownChallenge(request: RequestStatus, now: number): { challenge?: ShownChallenge } {
  if (!request.challenge) return {};
  const { challengeId, type, prompt, display, options, publicKey, ttl } = request.challenge;
  const until = Math.min(request.challengeUntil ?? now + ttl * 1000, request.expiresAt);
  return {
    challenge: {
      challengeId,
      type,
      prompt,
      ...(display === undefined ? {} : { display }),
      ...(options === undefined ? {} : { options }),
      ...(publicKey === undefined ? {} : { publicKey }),
      expiresIn: secondsUntil(until, now),
    },
  };
}

const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / 1000));
