/** The two calls by which an agent gets requests and hands in signatures: one at a time, or several. */
import type { Static } from "typebox";
import { poolTopic } from "../notify/wake-up.ts";
import { claimApprovals, claimNamedApproval } from "../requests/approvals/claim-approval.ts";
import {
  type ClaimOutcome,
  type ClaimsOutcome,
  claimRequest,
  claimRequests,
  undoClaims,
} from "../requests/claim-request.ts";
import { type Submission, signRequest, signRequests } from "../requests/sign-request.ts";
import type { AgentCaller, SigningDeps } from "../requests/signing-request.ts";
import { type AgentAnswer, claimAnswer, claimsAnswer, signAnswer, signaturesAnswer } from "./agent-answer.ts";
import type { claimReader, signBatchBody, signBody, signReader } from "./agent-body.ts";
import type { Call, HeldCalls } from "./held-calls.ts";

interface Called {
  readonly call: Call;
  readonly caller: AgentCaller;
}

/** With `max` the answer is a list, also of one. */
export async function claimCall(
  signing: SigningDeps,
  calls: HeldCalls,
  { call, caller, wanted }: Called & { readonly wanted: ReturnType<ReturnType<typeof claimReader>> },
): Promise<AgentAnswer> {
  const { requestId, kids, wait, max } = wanted;
  if (requestId !== undefined) {
    const claimed = await claimNamed(signing, caller, { requestId, kids });
    await undoUnlessHeard(signing, { call, caller }, claimed);
    return claimAnswer(claimed);
  }
  const asked = { kids, max: max ?? 1 };
  const claimed =
    wait > 0
      ? await waitForClaims(signing, caller, asked, {
          ms: wait * 1000,
          signal: calls.signalFor(call.reply),
        })
      : await claimOldest(signing, caller, asked);
  await undoUnlessHeard(signing, { call, caller }, claimed);
  return max === undefined ? claimAnswer(onlyOf(claimed)) : claimsAnswer(claimed);
}

interface Wanted {
  readonly kids: readonly string[];
  readonly max: number;
}

/** In a pool with approvals, what is this agent's turn. */
async function claimOldest(
  signing: SigningDeps,
  caller: AgentCaller,
  wanted: Wanted,
): Promise<ClaimsOutcome> {
  const pool = await signing.pools.find(caller.orgId, caller.poolId);
  return pool && pool.approvals > 1
    ? claimApprovals(signing, caller, pool, wanted)
    : claimRequests(signing, caller, wanted);
}

async function claimNamed(
  signing: SigningDeps,
  caller: AgentCaller,
  wanted: { readonly requestId: string; readonly kids: readonly string[] },
): Promise<ClaimOutcome> {
  const pool = await signing.pools.find(caller.orgId, caller.poolId);
  if (!pool || pool.approvals === 1) return claimRequest(signing, caller, wanted);
  return claimNamedApproval(signing, caller, pool, wanted);
}

async function waitForClaims(
  signing: SigningDeps,
  caller: AgentCaller,
  wanted: Wanted,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<ClaimsOutcome> {
  const waiting = { topics: [poolTopic(caller.orgId, caller.poolId)], isExclusive: true, ms, signal };
  const claimed = await signing.wakeUp.waitUntil(waiting, async () => {
    const claims = await claimOldest(signing, caller, wanted);
    return claims.outcome === "claimed" && claims.requests.length === 0 ? undefined : claims;
  });
  return claimed ?? { outcome: "claimed", requests: [] };
}

const onlyOf = (claimed: ClaimsOutcome): ClaimOutcome =>
  claimed.outcome === "claimed" ? (claimed.requests[0] ?? { outcome: "nothing" }) : claimed;

/** A caller that has hung up meanwhile has not heard of what it claimed. */
async function undoUnlessHeard(
  signing: SigningDeps,
  { call, caller }: Called,
  claimed: ClaimOutcome | ClaimsOutcome,
): Promise<void> {
  if (!call.reply.raw.destroyed || claimed.outcome !== "claimed") return;
  await undoClaims(signing, caller, "requests" in claimed ? claimed.requests : [claimed]);
}

export async function signCall(
  signing: SigningDeps,
  { call, caller, body }: Called & { readonly body: ReturnType<ReturnType<typeof signReader>> },
): Promise<AgentAnswer> {
  if ("signatures" in body) return signSeveral(signing, { call, caller }, body);
  const submission = submissionOf(body);
  const { requestId } = submission;
  return signAnswer(requestId, await signRequest(signing, caller, submission));
}

/** The next requests are claimed once the signatures are stored: an agent never holds more than it has asked for. */
async function signSeveral(
  signing: SigningDeps,
  { call, caller }: Called,
  { signatures, claim }: Static<typeof signBatchBody>,
): Promise<AgentAnswer> {
  const submissions = signatures.map(submissionOf);
  const outcomes = await signRequests(signing, caller, submissions);
  const isGone = call.reply.raw.destroyed;
  const next = claim && !isGone ? await claimOldest(signing, caller, claim) : undefined;
  if (next) await undoUnlessHeard(signing, { call, caller }, next);
  const signed = outcomes.map((outcome, index) => ({
    requestId: submissions[index]?.requestId ?? "",
    signed: outcome,
  }));
  return signaturesAnswer(signed, next);
}

/** `jwt` is the only one; anything but an object has none. */
const submissionOf = ({
  requestId,
  leaseToken,
  jwts,
  jwt,
  approval,
}: Static<typeof signBody>): Submission => ({
  ...{ requestId, leaseToken, approval },
  ...(jwts === undefined ? { only: jwt, jwts: {} } : { jwts: isObject(jwts) ? jwts : {} }),
});

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
