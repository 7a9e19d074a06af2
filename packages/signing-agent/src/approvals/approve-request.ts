/** An approval from the check to the answer; and what it needs of others' before this machine signs. */
import type { AgentDeps, Job, Outcome, PassedChallenge } from "../agent/agent-deps.ts";
import { Refusal, unable } from "../agent/refusal.ts";
import type { ApprovedRecord } from "../journal/verify-journal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import type { CheckedRequest } from "../policy/check-tokens.ts";
import { checkApprovals, inputsOf } from "./check-approvals.ts";
import { type GivenApproval, giveApproval } from "./give-approval.ts";

/** Keys that a token may name: this machine's, and those of agents whose signatures it approves. */
export const knownKeys = ({ keys, peers }: Pick<AgentDeps, "keys" | "peers">): readonly AgentKey[] =>
  peers ? [...keys, ...peers.byKid.values().map(({ key }) => key)] : keys;

/** Whether this machine signs; else another one does. @throws Refusal when the tokens are for keys of both */
export function isForOwnKeys({ keys }: Pick<AgentDeps, "keys">, { tokens }: CheckedRequest): boolean {
  const own = tokens.filter(({ key }) => keys.includes(key)).length;
  if (own !== 0 && own !== tokens.length)
    throw new Refusal("approval_keys", "the tokens are for keys of different agents");
  return own > 0;
}

/** @returns the hashes of others' approvals; undefined where this machine needs none. @throws Refusal */
export function requireApprovals(job: Job, { tokens }: CheckedRequest): readonly string[] | undefined {
  const { claimed, peers, policy, clock } = job;
  const { requestId, approvals } = claimed;
  if (peers) {
    const given = approvals?.given ?? [];
    return checkApprovals(peers, { given, requestId, issuer: policy().issuer, tokens, now: clock() });
  }
  if (approvals === undefined) return undefined;
  throw unable("approvals", "the pool wants approvals, and this agent's configuration has no other agents");
}

/** With the next number of this machine's journal. */
export async function giveOwnApproval(
  job: Job,
  { tokens }: CheckedRequest,
  key: AgentKey | undefined,
): Promise<GivenApproval> {
  const { claimed, policy, signatures, clock, ledger } = job;
  if (!key) throw unable("key", "this agent has no key");
  signatures.value += 1;
  try {
    return await giveApproval({
      ...{ key, tokens, issuer: policy().issuer, requestId: claimed.requestId },
      ...{ count: signatures.value, now: clock(), ledger: ledger?.remembered() },
    });
  } catch (error) {
    throw unable("key", "the key cannot be used", error);
  }
}

/** Approves what another agent is to sign: the journal has it before it leaves. */
export async function approveRequest(
  job: Job,
  checked: CheckedRequest,
  challenge: PassedChallenge,
): Promise<Outcome> {
  const { claimed, request, journal, metrics, keys, log, service } = job;
  const { requestId, leaseToken, traceparent, approvals } = claimed;
  // Nobody waits for it in the call that it was claimed with.
  job.member.leave();
  await job.ledger?.require();
  job.seen.take(checked.tokens);
  const key = keys.find(({ kid }) => kid === approvals?.kid) ?? keys[0];
  const given = await giveOwnApproval(job, checked, key);
  request.signal.throwIfAborted();
  const records = recordsOf(requestId, checked, { given, challenge });
  await journal.append(records).catch((error: unknown) => {
    throw unable("journal", "the journal cannot be written", error);
  });
  metrics.journalEntries.set(journal.position.seq);
  request.signal.throwIfAborted();
  const answer = await service.approve({ requestId, leaseToken, traceparent }, given.jws);
  if (answer.outcome === "approved") return "approved";
  const isInvalid = answer.outcome === "invalid";
  log(isInvalid ? "error" : "warn", "the service rejected the approval", {
    requestId,
    reason: answer.reason,
  });
  return isInvalid ? "failed" : "lost";
}

function recordsOf(
  requestId: string,
  { tokens, clientId, grant, scopes }: CheckedRequest,
  { given, challenge }: { readonly given: GivenApproval; readonly challenge: PassedChallenge },
): ApprovedRecord[] {
  const hashes = inputsOf(tokens);
  return tokens.map(({ use, key, jti = null, sub = null, aud, exp = null }) => ({
    ...{ event: "approved", requestId, clientId, grant, use, kid: key.kid, jti, sub, aud, exp },
    inputSha256: hashes[use] ?? "",
    ...{ approvalSha256: given.sha256, count: given.count },
    ...(use === "access_token" || use === "id_jag" ? { scopes } : {}),
    ...challenge,
  }));
}
