/** The status of a request as its browser sees it: on the page, at the status endpoint and in the stream. */
import type { Static } from "typebox";
import type { RequestStatus } from "../requests/request-status.ts";
import type { RequestState } from "../requests/signing-request.ts";
import type { WaitDetail, waitStatusSchema } from "./wait-operations.ts";

/** The JSON of status and stream (sovereign-signing.md §5). */
export type WaitStatus = Static<typeof waitStatusSchema>;
export type ShownChallenge = NonNullable<WaitStatus["challenge"]>;
type WaitState = WaitStatus["status"];

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

/** @param now milliseconds, of the same clock as the request's times. @param continueUrl until it has been used */
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
      ...(options === undefined ? {} : { options: [...options] }),
      ...(publicKey === undefined ? {} : { publicKey }),
      expiresIn: secondsUntil(until, now),
    },
  };
}

const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / 1000));
