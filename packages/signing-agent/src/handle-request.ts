/** One claimed request from the check to the answer: refuse, or ask the user, sign, write down and hand in. */
import { sha256Base64url } from "@signet/protocol/hash";
import { backoff, pause } from "./backoff.ts";
import type { Approvals } from "./challenges/approvals.ts";
import { type Asking, passChallenge } from "./challenges/ask-user.ts";
import { type HeldRequest, Interrupted } from "./held-requests.ts";
import type { Journal } from "./journal/journal.ts";
import type { SignedRecord } from "./journal/journal-entry.ts";
import type { AgentKey } from "./keys/key-source.ts";
import { type Log, reasonOf } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type CheckedRequest, type CheckedToken, checkRequest } from "./policy/check-tokens.ts";
import { challengeWanted, type Policy } from "./policy/policy.ts";
import type { RateLimits } from "./policy/rate-limits.ts";
import type { SeenTokenIds } from "./policy/seen-token-ids.ts";
import { checkNothingElseChanged } from "./policy/stale-tokens.ts";
import { Refusal } from "./refusal.ts";
import { CallFailed } from "./service/json-call.ts";
import type { ClaimedRequest, SignedJwts } from "./service/messages.ts";
import { ServiceTrouble, type SignAnswer, type SigningService } from "./service/signing-service.ts";

export interface RequestParts extends Asking {
  readonly service: SigningService;
  readonly keys: readonly AgentKey[];
  readonly policy: () => Policy;
  readonly limits: RateLimits;
  readonly seen: SeenTokenIds;
  readonly approvals: Approvals;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: () => number;
}

/** `unable`: nothing is wrong with the request, this agent cannot sign now (its journal, its key, it stops). */
export type Outcome = "signed" | "refused" | "unable" | "lost" | "failed";

const MOST_RENDERINGS = 3;

/** Never rejects. */
export async function handleRequest(
  claimed: ClaimedRequest,
  held: HeldRequest,
  parts: RequestParts,
): Promise<Outcome> {
  const { requestId } = claimed;
  try {
    return await checkAndSign(claimed, held, parts);
  } catch (error) {
    if (error instanceof Refusal) return await refuse(claimed, error, parts);
    if (error instanceof Interrupted) return await stopOrLose(claimed, error, parts);
    const kind = error instanceof ServiceTrouble ? error.kind : "no_answer";
    const isService = error instanceof ServiceTrouble || error instanceof CallFailed;
    if (isService) parts.metrics.serviceError(kind);
    parts.log("error", "request came to nothing", { requestId, reason: reasonOf(error) });
    // Of the agent's own: another one may do better. The lease would end by itself, only later.
    if (!isService) return await refuse(claimed, unusable("agent", "the agent failed", error), parts);
    return "failed";
  }
}

async function checkAndSign(
  claimed: ClaimedRequest,
  held: HeldRequest,
  parts: RequestParts,
): Promise<Outcome> {
  const { policy, keys, clock } = parts;
  const check = (request: Pick<ClaimedRequest, "context" | "tokens">) =>
    checkRequest(request, { policy: policy(), keys, now: clock() });
  let checked = check(claimed);
  parts.limits.take(checked, policy().limits);
  const passed = await askUser(claimed, checked, held, parts);
  for (let renderings = 1; renderings <= MOST_RENDERINGS; renderings += 1) {
    parts.seen.take(checked.tokens);
    const answer = await signAndSubmit(claimed, checked, passed, held, parts);
    if (answer.outcome === "signed") return "signed";
    if (answer.outcome !== "stale_payload") {
      const { outcome, reason } = answer;
      parts.log(outcome === "invalid" ? "error" : "warn", "the service did not take the tokens", {
        requestId: claimed.requestId,
        reason,
      });
      return outcome === "invalid" ? "failed" : "lost";
    }
    const anew = check({ context: claimed.context, tokens: [...answer.tokens] });
    checkNothingElseChanged(checked, anew);
    checked = anew;
  }
  throw unusable("stale_payload", "the tokens were always too old");
}

/** The challenge as the journal has it: which kind, and in which request when not in this one. */
type Passed = Pick<SignedRecord, "challenge" | "passedIn">;

/** @returns what was passed, now or before */
async function askUser(
  claimed: ClaimedRequest,
  checked: CheckedRequest,
  held: HeldRequest,
  parts: RequestParts,
): Promise<Passed> {
  const wanted = challengeWanted(checked.client, checked.grant);
  if (!wanted) return { challenge: null };
  const { parentRequestId } = claimed.context;
  if (typeof parentRequestId === "string" && parts.approvals.has(parentRequestId, checked))
    return { challenge: wanted.type, passedIn: parentRequestId };
  const { metrics } = parts;
  metrics.challenge(wanted.type, "asked");
  held.setWaiting(true);
  try {
    await passChallenge({ ...parts, wanted, claimed, checked, held });
  } catch (error) {
    metrics.challenge(wanted.type, "failed");
    throw error;
  } finally {
    held.setWaiting(false);
  }
  metrics.challenge(wanted.type, "passed");
  const { clientId, sub, aud, scopes } = checked;
  parts.approvals.remember(claimed.requestId, { clientId, sub, aud, scopes, at: parts.clock() });
  return { challenge: wanted.type };
}

async function signAndSubmit(
  claimed: ClaimedRequest,
  checked: CheckedRequest,
  passed: Passed,
  held: HeldRequest,
  parts: RequestParts,
): Promise<SignAnswer> {
  held.signal.throwIfAborted();
  const signed = await Promise.all(checked.tokens.map((token) => signToken(token)));
  const records = checked.tokens.map((token, index) =>
    signedRecord(claimed.requestId, checked, token, signed[index] ?? "", passed),
  );
  try {
    // Before they leave: what is handed out and not written down could be denied.
    await parts.journal.append(records);
  } catch (error) {
    throw unusable("journal", "the journal cannot be written", error);
  }
  parts.metrics.journalPosition(parts.journal.position.seq);
  held.signal.throwIfAborted();
  const answer = await submit(claimed, jwtsOf(checked, signed), held, parts);
  if (answer.outcome === "signed")
    for (const { use, key } of checked.tokens) parts.metrics.signedTokens(use, key.alg);
  return answer;
}

async function signToken({ key, signingInput }: CheckedToken): Promise<string> {
  try {
    return `${signingInput}.${await key.sign(signingInput)}`;
  } catch (error) {
    throw unusable("key", "the key cannot be used", error);
  }
}

function jwtsOf({ tokens }: CheckedRequest, signed: readonly string[]): SignedJwts {
  const of = (use: string) => signed[tokens.findIndex((token) => token.use === use)];
  const idToken = of("id_token");
  return { access_token: of("access_token") ?? "", ...(idToken === undefined ? {} : { id_token: idToken }) };
}

/** The same tokens again when no answer came: the service takes them once (sovereign-signing.md §3). */
async function submit(
  { requestId, leaseToken, expiresIn }: ClaimedRequest,
  jwts: SignedJwts,
  held: HeldRequest,
  { service, metrics, clock }: RequestParts,
): Promise<SignAnswer> {
  const failures = backoff();
  const until = clock() + Math.min(expiresIn * 1000, 20_000);
  for (;;) {
    try {
      return await service.sign({ requestId, leaseToken }, jwts);
    } catch (error) {
      const isBusy =
        error instanceof CallFailed || (error instanceof ServiceTrouble && error.kind === "busy");
      if (!isBusy || clock() > until) throw error;
      metrics.serviceError(error instanceof ServiceTrouble ? error.kind : "no_answer");
      const asked = error instanceof ServiceTrouble ? error.retryAfterSeconds : undefined;
      await pause(Math.min(failures.next(asked), 5_000), held.signal);
      held.signal.throwIfAborted();
    }
  }
}

function signedRecord(
  requestId: string,
  { clientId, grant, scopes }: CheckedRequest,
  { use, key, jti, sub, aud, exp }: CheckedToken,
  jwt: string,
  passed: Passed,
): SignedRecord {
  const token = { use, kid: key.kid, jti: jti ?? null, sub, aud, exp, tokenSha256: sha256Base64url(jwt) };
  const granted = use === "access_token" ? { scopes } : {};
  return { event: "signed", requestId, clientId, grant, ...token, ...granted, ...passed };
}

async function refuse(claimed: ClaimedRequest, refusal: Refusal, parts: RequestParts): Promise<Outcome> {
  const { requestId, leaseToken, context } = claimed;
  const { reason, check, retryable, message } = refusal;
  const { log, metrics, journal, service } = parts;
  metrics.refused(reason, check);
  log("warn", "request refused", {
    requestId,
    clientId: context.clientId,
    reason,
    check,
    detail: reasonOf(refusal),
  });
  const record = {
    event: "refused",
    requestId,
    clientId: context.clientId,
    reason,
    check,
    detail: message,
  } as const;
  await journal.append([record]).catch((error: unknown) => {
    log("error", "the journal cannot be written", { reason: reasonOf(error) });
  });
  metrics.journalPosition(journal.position.seq);
  try {
    await service.reject({ requestId, leaseToken }, { reason, detail: message, retryable });
  } catch (error) {
    // Its lease ends by itself.
    log("warn", "the refusal did not reach the service", { requestId, reason: reasonOf(error) });
  }
  return reason === UNABLE ? "unable" : "refused";
}

async function stopOrLose(
  claimed: ClaimedRequest,
  { by }: Interrupted,
  parts: RequestParts,
): Promise<Outcome> {
  if (by === "stopping") return await refuse(claimed, unusable("stopping", "the agent stops"), parts);
  parts.log("warn", "lease lost", { requestId: claimed.requestId });
  return "lost";
}

const UNABLE = "key_unavailable";

/** Nothing is wrong with the request: another agent may sign it. */
const unusable = (check: string, message: string, cause?: unknown) =>
  new Refusal(check, message, { reason: UNABLE, retryable: true, cause });
