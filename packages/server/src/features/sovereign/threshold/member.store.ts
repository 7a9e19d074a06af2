/** The agents of threshold pools as rows: their identity keys, how often they were started, and who is excluded. */
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { ThresholdMemberTable } from "../../../db/tables/sovereign-signing.ts";

export interface NewMember {
  readonly orgId: string;
  readonly agentId: string;
  readonly poolId: string;
  readonly kid: string;
  readonly publicJwk: PublicKeyMembers;
  readonly now: number;
}

export async function insertMember(tx: Db, { publicJwk, now, ...member }: NewMember): Promise<void> {
  await tx
    .insertInto("threshold_member")
    .values({
      org_id: member.orgId,
      agent_id: member.agentId,
      pool_id: member.poolId,
      kid: member.kid,
      public_jwk: JSON.stringify(publicJwk),
      boot: 0,
      boot_id: "",
      seen_at: 0,
      excluded_until: 0,
      created_at: now,
    })
    .execute();
}

export interface MemberRow extends ThresholdMemberTable {
  readonly name: string;
}

/** The pool's active agents, by identity. */
export async function listMembers(db: Db, orgId: string, poolId: string): Promise<MemberRow[]> {
  return db
    .selectFrom("threshold_member as m")
    .innerJoin("signing_agent as a", (join) =>
      join.onRef("a.org_id", "=", "m.org_id").onRef("a.id", "=", "m.agent_id"),
    )
    .selectAll("m")
    .select("a.name")
    .where("m.org_id", "=", orgId)
    .where("m.pool_id", "=", poolId)
    .where("a.deactivated_at", "is", null)
    .orderBy("m.kid")
    .execute();
}

type MemberKey = { readonly orgId: string; readonly agentId: string };

const selectMember = prepared((db, value: Parameter<MemberKey>) =>
  db
    .selectFrom("threshold_member")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("agent_id", "=", value("agentId")),
);

export const findMember = async (
  db: Db,
  { orgId, agentId }: MemberKey,
): Promise<ThresholdMemberTable | undefined> => (await selectMember(db, { orgId, agentId }))[0];

export interface Boot {
  /** How often the agent has been started. */
  readonly count: number;
  /** Random, of this start. */
  readonly id: string;
}

/**
 * A new start of the agent.
 * @returns false unless it has been started more often than ever before: then an older copy of it is running
 */
export const recordBoot = (tx: Db, { orgId, agentId }: MemberKey, boot: Boot): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("threshold_member")
      .set({ boot: boot.count, boot_id: boot.id })
      .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
      .where("boot", "<", boot.count),
  );

/** Its waiting call has ended from its side: until the next one it is not asked. */
export async function recordMemberGone(db: Db, { orgId, agentId }: MemberKey, boot: Boot): Promise<void> {
  await db
    .updateTable("threshold_member")
    .set({ seen_at: 0 })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId, boot_id: boot.id }))
    .execute();
}

/** That it claims now; written at most every `every` milliseconds. */
export async function recordMemberSeen(
  db: Db,
  { orgId, agentId }: MemberKey,
  { now, every }: { readonly now: number; readonly every: number },
): Promise<void> {
  await db
    .updateTable("threshold_member")
    .set({ seen_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .where("seen_at", "<=", now - every)
    .execute();
}

export async function excludeMember(tx: Db, { orgId, agentId }: MemberKey, until: number): Promise<void> {
  await tx
    .updateTable("threshold_member")
    .set({ excluded_until: until })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .execute();
}
