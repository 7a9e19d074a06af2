/** An agent challenges the user through the wait page; the user answers or refuses (sovereign-signing.md §3 and §5). */
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { agentTopic, requestTopic } from "../../notify/wake-up.ts";
import { claimedTokens, keyFinder } from "../claimed-tokens.ts";
import { currentRow } from "../expire-requests.ts";
import { type Lease, type LeaseRefusal, type LeaseToken, leaseRefusal, presentedLease } from "../lease.ts";
import { passkeyChallenge } from "../signing-input.ts";
import { findRequest, openColumn, type SigningRequestRow } from "../signing-request.store.ts";
import {
  type AgentCaller,
  CHALLENGE_LEASE_MS,
  CHALLENGE_TTL_MS,
  type Challenge,
  MAX_CHALLENGES,
  type RequestKey,
  type SigningDeps,
  sealJson,
} from "../signing-request.ts";
import { denyRequest, openChallenge, storeAnswer } from "./challenge-user.store.ts";

export type ChallengeOutcome =
  | { readonly outcome: "challenge"; readonly leaseSeconds: number }
  /** `challenge_limit`: three were opened, or one is open; `foreign_challenge`: a passkey would sign something else. */
  | { readonly outcome: LeaseRefusal | "not_interactive" | "challenge_limit" | "foreign_challenge" };

export async function challengeUser(
  deps: SigningDeps,
  agent: AgentCaller,
  leaseToken: LeaseToken,
  challenge: Challenge,
): Promise<ChallengeOutcome> {
  const lease = presentedLease(agent, leaseToken, deps.clock());
  const row = await currentRow(deps, lease);
  const known = knownOutcome(deps, row, lease, challenge);
  if (known) return known;
  const fault = row && (await passkeyFault(deps, agent, row, challenge));
  if (fault) return { outcome: fault };

  const { orgId, requestId, now } = lease;
  const isOpened = await openChallenge(deps.database.query, lease, {
    before: row?.challenge ?? null,
    sealed: sealJson(deps.encryption, lease, "challenge", challenge),
    until: now + Math.min(challenge.ttl * 1000, CHALLENGE_TTL_MS),
  });
  if (isOpened) {
    deps.wakeUp.notify(requestTopic(orgId, requestId));
    return { outcome: "challenge", leaseSeconds: CHALLENGE_LEASE_MS / 1000 };
  }
  const current = await currentRow(deps, lease);
  return (
    knownOutcome(deps, current, { ...lease, now: deps.clock() }, challenge) ?? { outcome: "challenge_limit" }
  );
}

/** @returns undefined when the row allows a new challenge */
function knownOutcome(
  deps: SigningDeps,
  row: SigningRequestRow | undefined,
  lease: Lease,
  { challengeId }: Challenge,
): ChallengeOutcome | undefined {
  const refusal = leaseRefusal(row, lease);
  if (refusal || !row) return { outcome: refusal ?? "not_found" };
  if (row.interactive === 0) return { outcome: "not_interactive" };
  // A repeated call, whose response was lost, changes nothing, even if the user has answered.
  if (openedChallenge(deps, row)?.challengeId === challengeId) {
    const left = (row.lease_until ?? lease.now) - lease.now;
    return { outcome: "challenge", leaseSeconds: Math.ceil(left / 1000) };
  }
  const isAllowed = row.state !== "challenge" && row.challenge_count < MAX_CHALLENGES;
  return isAllowed ? undefined : { outcome: "challenge_limit" };
}

/**
 * A passkey signs the claimed bytes and nothing else (sovereign-signing.md §5). The wait page has the address where the
 * user's passkey also signs in: an agent that chose the challenge could turn it into a sign-in to every application.
 */
async function passkeyFault(
  deps: SigningDeps,
  agent: AgentCaller,
  row: SigningRequestRow,
  { type, publicKey }: Challenge,
): Promise<"lease_lost" | "foreign_challenge" | undefined> {
  if (type !== "webauthn") return undefined;
  const claimed = await claimedTokens(deps, row, keyFinder(deps, agent));
  if (!claimed) return "lease_lost";
  const challenge = passkeyChallenge(claimed.rendered.tokens);
  return publicKey?.["challenge"] === challenge ? undefined : "foreign_challenge";
}

/** The challenge that is open, or the last one answered. */
export const openedChallenge = (
  deps: Pick<SigningDeps, "encryption">,
  row: SigningRequestRow,
): Challenge | undefined =>
  row.challenge === null ? undefined : openColumn<Challenge>(deps, row, "challenge");

export type AnswerOutcome = "accepted" | "stale_challenge" | "already_answered";

export async function answerChallenge(
  deps: SigningDeps,
  { orgId, requestId }: RequestKey,
  { challengeId, answer }: { readonly challengeId: string; readonly answer: unknown },
): Promise<AnswerOutcome> {
  const key = { orgId, requestId };
  // A challenge is withdrawn when its lease expires, answered or not.
  const row = await currentRow(deps, key);
  if (!row?.challenge || openedChallenge(deps, row)?.challengeId !== challengeId) return "stale_challenge";
  const agentId = await storeAnswer(deps.database.query, {
    ...key,
    challenge: row.challenge,
    sealed: sealJson(deps.encryption, key, "answer", { answer: answer ?? null }),
    now: deps.clock(),
  });
  if (agentId !== undefined) {
    deps.wakeUp.notify(requestTopic(orgId, requestId), agentTopic(orgId, agentId));
    return "accepted";
  }
  const current = await findRequest(deps.database.query, key);
  const isAnswered = current?.state === "responded" && current.challenge === row.challenge;
  return isAnswered ? "already_answered" : "stale_challenge";
}

/**
 * The user refuses.
 * @param refused.challengeId the challenge the page showed; absent when it showed none
 * @param refused.address the client address, for the audit log
 * @returns false when the request was final already, or another challenge is open by now
 */
export async function cancelRequest(
  deps: SigningDeps,
  { orgId, requestId }: RequestKey,
  refused: { readonly challengeId?: string | undefined; readonly address?: string } = {},
): Promise<boolean> {
  const { challengeId, address } = refused;
  const row = await currentRow(deps, { orgId, requestId });
  const isStale =
    challengeId !== undefined && (!row || openedChallenge(deps, row)?.challengeId !== challengeId);
  if (isStale) return false;
  const challenge = challengeId === undefined ? undefined : (row?.challenge ?? undefined);
  const now = deps.clock();
  const denied = await deps.database.transaction(async (tx) => {
    const row = await denyRequest(tx, { orgId, requestId, now, challenge });
    if (row)
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor: row.user_id === null ? "anonymous" : `user:${row.user_id}`,
        action: "signing-request.denied",
        target: requestId,
        address,
        details: { pool: row.pool_id },
      });
    return row;
  });
  if (!denied) return false;
  deps.wakeUp.notify(requestTopic(orgId, requestId));
  if (denied.claimed_by !== null) deps.wakeUp.notify(agentTopic(orgId, denied.claimed_by));
  return true;
}
