/** A claimed request from the policy check to the answer: ask the user, sign, record and submit, or refuse. */
import { backoff, pause } from "@signet/cli-runtime/backoff";
import { CallFailed } from "@signet/cli-runtime/http";
import { describeError } from "@signet/cli-runtime/redact";
import { sha256Base64url } from "@signet/protocol/hash";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import {
  approveRequest,
  giveOwnApproval,
  isForOwnKeys,
  knownKeys,
  requireApprovals,
} from "../approvals/approve-request.ts";
import { passChallenge } from "../challenges/pass-challenge.ts";
import type { SignedRecord } from "../journal/verify-journal.ts";
import {
  type CheckedRequest,
  type CheckedToken,
  checkRequest,
  requireOnlyRenewed,
} from "../policy/check-tokens.ts";
import {
  type ClaimedRequest,
  ServiceError,
  type SignAnswer,
  type SignedJwts,
} from "../service/signing-service.ts";
import type { AgentDeps, Claim, Job, Outcome, PassedChallenge } from "./agent-deps.ts";
import { Interrupted } from "./leased-requests.ts";
import { Refusal, unable } from "./refusal.ts";

export const SERVICE_BACKOFF = { firstMs: 500, maxMs: 30_000, maxRetryAfterMs: 300_000 };
const MAX_RENDERINGS = 3;

/** Never rejects. */
export async function handleRequest(claim: Claim, deps: AgentDeps): Promise<Outcome> {
  const { claimed, member } = claim;
  const { requestId } = claimed;
  try {
    return await checkAndSign({ ...deps, ...claim });
  } catch (error) {
    member.leave();
    if (error instanceof Refusal) return await refuse(claimed, error, deps);
    if (error instanceof Interrupted) {
      if (error.by === "stopping")
        return await refuse(claimed, unable("stopping", "the agent is stopping"), deps);
      deps.log("warn", "lease lost", { requestId });
      return "lost";
    }
    deps.log("error", "request failed", { requestId, reason: describeError(error) });
    // A fault of this agent: another one may do better. Its lease would expire, only later.
    if (!isCallError(error)) return await refuse(claimed, unable("agent", "the agent failed", error), deps);
    countServiceError(error, deps);
    return "failed";
  }
}

async function checkAndSign(job: Job): Promise<Outcome> {
  const { claimed, policy, clock, log } = job;
  const keys = knownKeys(job);
  const check = (tokens: ClaimedRequest["tokens"]) =>
    checkRequest({ context: claimed.context, tokens }, { policy: policy(), keys, now: clock() });
  let checked = check(claimed.tokens);
  job.limits.take(checked, policy().limits);
  const isOwn = isForOwnKeys(job, checked);
  // Before the user is asked: without them nothing is signed.
  if (isOwn) requireApprovals(job, checked);
  const challenge = await challengeUser(job, checked);
  if (!isOwn) return approveRequest(job, checked, challenge);
  for (let renderings = 1; renderings <= MAX_RENDERINGS; renderings += 1) {
    const approved = requireApprovals(job, checked);
    await job.ledger?.require();
    job.seen.take(checked.tokens);
    const answer = await signAndSubmit(job, checked, { challenge, approved });
    if (answer.outcome === "signed") return "signed";
    if (answer.outcome !== "stale_payload") {
      const isInvalid = answer.outcome === "invalid";
      const fields = { requestId: claimed.requestId, reason: answer.reason };
      log(isInvalid ? "error" : "warn", "the service rejected the tokens", fields);
      return isInvalid ? "failed" : "lost";
    }
    const rerendered = check([...answer.tokens]);
    requireOnlyRenewed(checked, rerendered);
    checked = rerendered;
  }
  throw unable("stale_payload", "the tokens were stale every time");
}

async function challengeUser(job: Job, checked: CheckedRequest): Promise<PassedChallenge> {
  const { claimed, request, approvals } = job;
  const { challenge: required } = checked;
  if (!required) return { challenge: null };
  const { type } = required;
  const { parentRequestId } = claimed.context;
  if (typeof parentRequestId === "string" && approvals.covers(parentRequestId, checked))
    return { challenge: type, passedIn: parentRequestId };
  const count = (outcome: string) => job.metrics.challenges.inc({ type, outcome });
  count("asked");
  job.member.leave();
  request.setWaiting(true);
  try {
    await passChallenge({ ...job, required, checked });
  } catch (error) {
    count("failed");
    throw error;
  } finally {
    request.setWaiting(false);
  }
  count("passed");
  const { clientId, sub, aud, scopes } = checked;
  approvals.remember(claimed.requestId, { clientId, sub, aud, scopes, at: job.clock() });
  return { challenge: type };
}

/** @param permission what the user has confirmed, and the hashes of other agents' approvals */
async function signAndSubmit(
  job: Job,
  checked: CheckedRequest,
  { challenge, approved }: { challenge: PassedChallenge; approved: readonly string[] | undefined },
) {
  const { request, journal, metrics } = job;
  request.signal.throwIfAborted();
  const own = approved && (await giveOwnApproval(job, checked, checked.tokens[0]?.key));
  const approvals = own ? { approvals: [...approved, own.sha256], count: own.count } : {};
  const jwts = await Promise.all(checked.tokens.map(signToken));
  await job.member.arrive();
  const { requestId } = job.claimed;
  const records = checked.tokens.map((token, index): SignedRecord => {
    const { use, key, jti = null, sub = null, aud, exp = null } = token;
    const { clientId, grant, scopes } = checked;
    const jws = jwts[index] ?? "";
    const hashes = { tokenSha256: sha256Base64url(jws), inputSha256: signingInputHash(jws) };
    const signed = { use, kid: key.kid, jti, sub, aud, exp, ...hashes };
    const granted = use === "access_token" || use === "id_jag" ? { scopes } : {};
    return { event: "signed", requestId, clientId, grant, ...signed, ...granted, ...challenge, ...approvals };
  });
  try {
    // Before the tokens leave: a token without its entry could be denied later.
    await journal.append(records);
  } catch (error) {
    throw unable("journal", "the journal cannot be written", error);
  }
  metrics.journalEntries.set(journal.position.seq);
  request.signal.throwIfAborted();
  if (!own) job.signatures.value += 1;
  const signed = Object.fromEntries(checked.tokens.map(({ use }, index) => [use, jwts[index] ?? ""]));
  const answer = await submit(job, signed, own?.jws);
  if (answer.outcome === "signed")
    for (const { use, key } of checked.tokens) metrics.signedTokens.inc({ use, alg: key.alg });
  return answer;
}

async function signToken({ key, signingInput }: CheckedToken): Promise<string> {
  try {
    return `${signingInput}.${await key.sign(signingInput)}`;
  } catch (error) {
    throw unable("key", "the key cannot be used", error);
  }
}

/** Submits the same tokens again when no answer came: the service accepts them once (sovereign-signing.md §3). */
async function submit(job: Job, jwts: SignedJwts, approval: string | undefined): Promise<SignAnswer> {
  const { claimed, request, batches, clock } = job;
  const { requestId, leaseToken, expiresIn, traceparent } = claimed;
  const failures = backoff(SERVICE_BACKOFF);
  const deadline = clock() + Math.min(expiresIn * 1000, 20_000);
  for (;;) {
    try {
      return await batches.sign({ requestId, leaseToken, traceparent }, jwts, approval);
    } catch (error) {
      const { kind, retryAfter } = error instanceof ServiceError ? error : {};
      const isTransient = error instanceof CallFailed || kind === "busy";
      if (!isTransient || clock() > deadline) throw error;
      countServiceError(error, job);
      await pause(Math.min(failures.next(retryAfter), 5_000), request.signal);
      request.signal.throwIfAborted();
    }
  }
}

async function refuse(claimed: ClaimedRequest, refusal: Refusal, deps: AgentDeps): Promise<Outcome> {
  const { requestId, leaseToken, traceparent, context } = claimed;
  const { reason, check, message: detail } = refusal;
  const { log, metrics, journal, service } = deps;
  const refused = { requestId, clientId: context.clientId, reason, check };
  metrics.refusals.inc({ reason, check });
  log("warn", "request refused", { ...refused, detail: describeError(refusal) });
  await journal.append([{ event: "refused", ...refused, detail }]).catch((error: unknown) => {
    log("error", "the journal cannot be written", { reason: describeError(error) });
  });
  metrics.journalEntries.set(journal.position.seq);
  try {
    await service.reject({ requestId, leaseToken, traceparent }, refusal);
  } catch (error) {
    // Its lease expires anyway.
    log("warn", "the refusal did not reach the service", { requestId, reason: describeError(error) });
  }
  return reason === "key_unavailable" ? "unable" : "refused";
}

const isCallError = (error: unknown): boolean => error instanceof ServiceError || error instanceof CallFailed;

export function countServiceError(error: unknown, { metrics }: Pick<AgentDeps, "metrics">): void {
  metrics.serviceErrors.inc({ kind: error instanceof ServiceError ? error.kind : "no_answer" });
}
