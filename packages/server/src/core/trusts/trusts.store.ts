/** Stores trusts of organisations. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { TrustTable } from "../../db/tables/trusts.ts";
import type { Trust, TrustKey, TrustKind, TrustUserBy } from "./trust.ts";

const fromRow = (row: TrustTable): Trust => ({
  ...toRecord(row),
  kind: row.kind as TrustKind,
  jwks: row.jwks === null ? null : (JSON.parse(row.jwks) as NonNullable<Trust["jwks"]>),
  claims: JSON.parse(row.claims) as Trust["claims"],
  singleUse: row.single_use === 1,
  userBy: row.user_by as TrustUserBy,
  enabled: row.enabled === 1,
});

const rowOf = (trust: Trust): TrustTable => ({
  ...toRow(trust),
  jwks: trust.jwks === null ? null : JSON.stringify(trust.jwks),
  claims: JSON.stringify(trust.claims),
  single_use: trust.singleUse ? 1 : 0,
  enabled: trust.enabled ? 1 : 0,
});

export async function insertTrust(tx: Db, trust: Trust): Promise<void> {
  await tx.insertInto("trust").values(rowOf(trust)).execute();
}

export async function findTrust(db: Db, { orgId, id }: TrustKey): Promise<Trust | undefined> {
  const row = await db
    .selectFrom("trust")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockTrust(tx: Db, { orgId, id }: TrustKey): Promise<Trust | undefined> {
  const row = await tx
    .updateTable("trust")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replaceTrust(tx: Db, trust: Trust): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(trust);
  await tx
    .updateTable("trust")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteTrustRow = (tx: Db, { orgId, id }: TrustKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("trust").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them, oldest first: their number is bounded. */
export async function listTrusts(db: Db, orgId: string): Promise<Trust[]> {
  const rows = await db
    .selectFrom("trust")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

/** The enabled ones of an issuer. */
export async function trustsOfIssuer(
  db: Db,
  { orgId, kind, issuer }: { readonly orgId: string; readonly kind: TrustKind; readonly issuer: string },
): Promise<Trust[]> {
  const rows = await db
    .selectFrom("trust")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, issuer, kind, enabled: 1 }))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}
