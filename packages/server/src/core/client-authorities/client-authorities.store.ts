/** Stores the certificate authorities that organisations trust for their clients. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { ClientAuthorityTable } from "../../db/tables/applications.ts";
import type { ClientAuthority, ClientAuthorityKey } from "./client-authority.ts";

const TABLE = "client_certificate_authority";

const fromRow = (row: ClientAuthorityTable): ClientAuthority => ({
  ...toRecord(row),
  enabled: row.enabled === 1,
});

const rowOf = (authority: ClientAuthority): ClientAuthorityTable => ({
  ...toRow(authority),
  enabled: authority.enabled ? 1 : 0,
});

export async function insertClientAuthority(tx: Db, authority: ClientAuthority): Promise<void> {
  await tx.insertInto(TABLE).values(rowOf(authority)).execute();
}

export async function findClientAuthority(
  db: Db,
  { orgId, id }: ClientAuthorityKey,
): Promise<ClientAuthority | undefined> {
  const row = await db
    .selectFrom(TABLE)
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** All of them, the oldest first: their number is bounded. */
export async function listClientAuthorities(db: Db, orgId: string): Promise<ClientAuthority[]> {
  const rows = await db
    .selectFrom(TABLE)
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

/** PEM of the enabled ones with these subjects. */
export async function findAuthorityCertificates(
  db: Db,
  orgId: string,
  subjectHashes: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom(TABLE)
    .select("certificate")
    .where("org_id", "=", orgId)
    .where("enabled", "=", 1)
    .where("subject_hash", "in", subjectHashes)
    .execute();
  return rows.map(({ certificate }) => certificate);
}

/** The caller has locked the organisation. */
export async function replaceClientAuthority(tx: Db, authority: ClientAuthority): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(authority);
  await tx
    .updateTable(TABLE)
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteClientAuthorityRow = (tx: Db, { orgId, id }: ClientAuthorityKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom(TABLE).where((eb) => allOf(eb, { org_id: orgId, id })));
