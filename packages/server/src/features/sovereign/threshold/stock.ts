/** An agent publishes nonce commitments ahead, so that a signature takes one round (RFC 9591 §5.1; threshold-and-ledger.md §1). */
import { isNonceCommitment } from "@signet/protocol/threshold/shares";
import type { Db } from "../../../db/open.ts";
import type { ThresholdMemberTable } from "../../../db/tables/sovereign-signing.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { poolTopic } from "../notify/wake-up.ts";
import type { AgentCaller, SigningDeps } from "../requests/signing-request.ts";
import { countStock, deleteOldStock, insertCommitments } from "./commitment.store.ts";
import { type Boot, findMember, recordBoot } from "./member.store.ts";
import { markOwnAbsent } from "./round.store.ts";

/** Unused ones, per agent. */
export const MAX_STOCK = 512;
/** More than any request takes. */
const LOW_STOCK = 16;
/** In one call. */
export const MAX_COMMITMENTS = 128;

interface Published {
  readonly boot: Boot;
  /** Of the group key. */
  readonly kid: string;
  readonly commitments: ReadonlyArray<{ readonly hiding: string; readonly binding: string }>;
}

/** @throws CodedError */
export async function publishCommitments(
  deps: Pick<SigningDeps, "database" | "clock" | "wakeUp">,
  agent: AgentCaller,
  { boot, kid, commitments }: Published,
): Promise<{ readonly stock: number }> {
  const { orgId, agentId, poolId } = agent;
  if (!commitments.every(isNonceCommitment))
    throw new CodedError(422, "invalid_commitment", "a commitment is not two points of the group");
  const { before, stock } = await deps.database.transaction(async (tx) => {
    await startBoot(tx, agent, boot);
    const before = (await countStock(tx, orgId, { agentIds: [agentId], kid })).get(agentId) ?? 0;
    if (before + commitments.length > MAX_STOCK)
      throw new CodedError(409, "stock_full", `at most ${MAX_STOCK} unused commitments are kept`);
    const published = { kid, bootId: boot.id, commitments, now: deps.clock() };
    if (commitments.length > 0 && (await insertCommitments(tx, agent, published)) < commitments.length)
      throw new CodedError(409, "commitment_replayed", "a commitment has been published before");
    return { before, stock: before + commitments.length };
  });
  // Requests may have waited for it, or for this start of the agent.
  if (before < LOW_STOCK) deps.wakeUp.notify(poolTopic(orgId, poolId));
  return { stock };
}

/** @throws CodedError for an agent that was restored from a backup, or of which another copy is running */
async function startBoot(tx: Db, agent: AgentCaller, boot: Boot): Promise<void> {
  if (!(await recordBoot(tx, agent, boot))) {
    await requireBoot(tx, agent, boot);
    return;
  }
  await deleteOldStock(tx, agent, boot.id);
  await markOwnAbsent(tx, agent);
}

/** @throws CodedError unless this is the agent's newest start */
export async function requireBoot(db: Db, agent: AgentCaller, boot: Boot): Promise<ThresholdMemberTable> {
  const member = await findMember(db, agent);
  if (!member) throw new CodedError(409, "not_threshold_pool", "the pool's agents have whole keys");
  if (member.boot === boot.count && member.boot_id === boot.id) return member;
  throw new CodedError(
    409,
    "restored_backup",
    "this agent has been started more often than it knows: it was restored from a backup, or another copy of it is running",
    { more: { boot: member.boot } },
  );
}
