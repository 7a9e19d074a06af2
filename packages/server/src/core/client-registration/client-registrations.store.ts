/** Stores what belongs to a client that has registered itself, beside its application. */
import { sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { ClientRegistrationTable } from "../../db/tables/applications.ts";
import type { GrantType } from "../applications/application.ts";
import type { RegistrationBounds } from "./initial-access-token.ts";

type Encoded = "allowed_scopes" | "allowed_resources" | "grant_types";

export interface ClientRegistration
  extends RecordOf<Omit<ClientRegistrationTable, Encoded>>,
    RegistrationBounds {}

type RegistrationKey = Pick<ClientRegistration, "orgId" | "applicationId">;

const fromRow = (row: ClientRegistrationTable): ClientRegistration => ({
  ...toRecord(row),
  allowedScopes: JSON.parse(row.allowed_scopes) as string[],
  allowedResources: JSON.parse(row.allowed_resources) as string[],
  grantTypes: JSON.parse(row.grant_types) as GrantType[],
});

export async function insertRegistration(tx: Db, registration: ClientRegistration): Promise<void> {
  const row: ClientRegistrationTable = {
    ...toRow(registration),
    allowed_scopes: JSON.stringify(registration.allowedScopes),
    allowed_resources: JSON.stringify(registration.allowedResources),
    grant_types: JSON.stringify(registration.grantTypes),
  };
  await tx.insertInto("client_registration").values(row).execute();
}

/** Locks it until the end of the transaction. */
export async function lockRegistration(
  tx: Db,
  { orgId, applicationId }: RegistrationKey,
): Promise<ClientRegistration | undefined> {
  const row = await tx
    .updateTable("client_registration")
    .set((eb) => ({ token_hash: eb.ref("token_hash") }))
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replaceRegistration(
  tx: Db,
  {
    orgId,
    applicationId,
    tokenHash,
    previousHash,
    softwareStatement,
  }: RegistrationKey & Pick<ClientRegistration, "tokenHash" | "previousHash" | "softwareStatement">,
): Promise<void> {
  await tx
    .updateTable("client_registration")
    .set({ token_hash: tokenHash, previous_hash: previousHash, software_statement: softwareStatement })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .execute();
}

/** Never goes back: nodes write in any order. */
export async function touchRegistration(
  db: Db,
  { orgId, applicationId, at }: RegistrationKey & { readonly at: number },
): Promise<void> {
  await db
    .updateTable("client_registration")
    .set({ last_used_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .where("last_used_at", "<", at)
    .execute();
}

export async function countRegistrations(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom("client_registration")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Deletes clients that have registered themselves, were not used since, and have neither code, consent nor tokens.
 * @param which.orgId of one organisation; undefined: of all, the longest unused first
 * @returns the deleted
 */
export async function deleteUnusedRegistrations(
  tx: Db,
  { orgId, before, limit }: { readonly orgId?: string; readonly before: number; readonly limit: number },
): Promise<ReadonlyArray<{ readonly orgId: string; readonly id: string; readonly name: string }>> {
  const of = orgId === undefined ? sql`1 = 1` : sql`r.org_id = ${orgId}`;
  const held = (table: "authorization_code" | "consent" | "token_family") =>
    sql`exists (select 1 from ${sql.table(table)} h where h.org_id = r.org_id and h.application_id = r.application_id)`;
  const { rows } = await sql<{ org_id: string; application_id: string }>`
    select r.org_id, r.application_id from client_registration r
    where ${of} and r.last_used_at < ${before}
      and not ${held("authorization_code")} and not ${held("consent")} and not ${held("token_family")}
    order by r.last_used_at limit ${limit}`.execute(tx);
  const deleted: Array<{ orgId: string; id: string; name: string }> = [];
  for (const { org_id, application_id: id } of rows) {
    // Looked at again: it may have been used meanwhile.
    const { rows: gone } = await sql<{ name: string }>`
      delete from application where org_id = ${org_id} and id = ${id} and source = 'dynamic'
        and exists (select 1 from client_registration r where r.org_id = ${org_id} and r.application_id = ${id}
          and r.last_used_at < ${before}
          and not ${held("authorization_code")} and not ${held("consent")} and not ${held("token_family")})
      returning name`.execute(tx);
    const [row] = gone;
    if (row) deleted.push({ orgId: org_id, id, name: row.name });
  }
  return deleted;
}
