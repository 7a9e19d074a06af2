/** What a browser is told about its request: by the status endpoint, by every event of the stream, and by the page. */
import type { RequestStatus } from "../agent-api/request-messages.ts";
import type { Challenge, FailReason, RequestState } from "../requests/signing-request.ts";

export type WaitState = "pending" | "challenge" | "signed" | "failed" | "expired";

/** Why the page looks different while it waits. */
export type WaitDetail = "no_agent" | "answered" | "withdrawn";

/** The JSON of status and stream (sovereign-signing.md §5). `detail` goes beyond it: it is for the page alone. */
export interface WaitStatus {
  readonly requestId: string;
  readonly status: WaitState;
  readonly seq: number;
  /** Seconds until the request expires; 0 when it is over. */
  readonly expiresIn: number;
  readonly detail?: WaitDetail;
  readonly challenge?: ShownChallenge;
  /** Where the browser goes on to, once: with the code, or with the error. */
  readonly continueUrl?: string;
  readonly reason?: FailReason;
}

export interface ShownChallenge extends Omit<Challenge, "ttl"> {
  /** Seconds. */
  readonly expiresIn: number;
}

const stateShown = {
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
 * @param continueUrl of this request, while the way on is still to be taken
 */
export function waitStatus(request: RequestStatus, now: number, continueUrl: string | undefined): WaitStatus {
  const { requestId, seq, failReason } = request;
  const status = stateShown[request.state];
  const isOver = isFinal(status);
  const detail = detailOf(request);
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

/** Two statuses that look the same to a person have the same name; scripts/wait.js compares it with what it shows. */
export function nameOf({ status, detail, challenge, continueUrl }: WaitStatus): string {
  return [status, detail, challenge?.challengeId, continueUrl === undefined ? undefined : "on"]
    .filter((part) => part !== undefined)
    .join(" ");
}

function detailOf({ state, agentSeen, challengeCount }: RequestStatus): WaitDetail | undefined {
  if (state === "responded") return "answered";
  // Whoever has claimed it is there, whatever the pool looks like.
  if (state === "pending" && !agentSeen) return "no_agent";
  return (state === "pending" || state === "claimed") && challengeCount > 0 ? "withdrawn" : undefined;
}

/** An allow-list: what an agent sends beyond it goes no further. */
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
