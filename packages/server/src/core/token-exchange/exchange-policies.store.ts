/** Stores token exchange policies of organisations. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { TokenExchangePolicyTable } from "../../db/tables/trusts.ts";
import type { ExchangePolicy, PolicyKey, RequestedTokenType } from "./exchange-policy.ts";

const fromRow = (row: TokenExchangePolicyTable): ExchangePolicy => ({
  ...toRecord(row),
  subjectClientIds: JSON.parse(row.subject_client_ids) as string[],
  requestedTokenType: row.requested_token_type as RequestedTokenType,
  scopes: JSON.parse(row.scopes) as string[],
  impersonation: row.impersonation === 1,
  enabled: row.enabled === 1,
});

const rowOf = (policy: ExchangePolicy): TokenExchangePolicyTable => ({
  ...toRow(policy),
  subject_client_ids: JSON.stringify(policy.subjectClientIds),
  scopes: JSON.stringify(policy.scopes),
  impersonation: policy.impersonation ? 1 : 0,
  enabled: policy.enabled ? 1 : 0,
});

export async function insertPolicy(tx: Db, policy: ExchangePolicy): Promise<void> {
  await tx.insertInto("token_exchange_policy").values(rowOf(policy)).execute();
}

export async function findPolicy(db: Db, { orgId, id }: PolicyKey): Promise<ExchangePolicy | undefined> {
  const row = await db
    .selectFrom("token_exchange_policy")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockPolicy(tx: Db, { orgId, id }: PolicyKey): Promise<ExchangePolicy | undefined> {
  const row = await tx
    .updateTable("token_exchange_policy")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replacePolicy(tx: Db, policy: ExchangePolicy): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(policy);
  await tx
    .updateTable("token_exchange_policy")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deletePolicyRow = (tx: Db, { orgId, id }: PolicyKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("token_exchange_policy").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them, oldest first: their number is bounded. */
export async function listPolicies(db: Db, orgId: string): Promise<ExchangePolicy[]> {
  const rows = await db
    .selectFrom("token_exchange_policy")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

/** The enabled ones by which a client may have a kind of token for a target. */
export async function policiesFor(
  db: Db,
  {
    orgId,
    clientId,
    type,
    target,
  }: {
    readonly orgId: string;
    readonly clientId: string;
    readonly type: RequestedTokenType;
    readonly target: string;
  },
): Promise<ExchangePolicy[]> {
  const rows = await db
    .selectFrom("token_exchange_policy")
    .selectAll()
    .where((eb) =>
      allOf(eb, { org_id: orgId, client_id: clientId, requested_token_type: type, target, enabled: 1 }),
    )
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}
