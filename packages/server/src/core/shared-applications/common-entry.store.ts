/** Where an application is used: its home, and the organisations that have enabled it. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

interface Home {
  readonly orgId: string;
  readonly id: string;
}

/** Organisations in use that have the application. */
const withApplication = (db: Db, { id }: Home) =>
  db
    .selectFrom("application")
    .innerJoin("organisation", "organisation.id", "application.org_id")
    .select("application.org_id")
    .where("application.id", "=", id)
    .where("application.disabled_at", "is", null)
    .where("organisation.disabled_at", "is", null);

/** Those that have proven the domain: two at most, as more than one decides nothing. */
export async function findOrganisationsOfDomain(db: Db, home: Home, domain: string): Promise<string[]> {
  const rows = await withApplication(db, home)
    .innerJoin("domain", "domain.org_id", "application.org_id")
    .where("domain.domain", "=", domain)
    .where("domain.state", "=", "proven")
    .limit(2)
    .execute();
  return rows.map(({ org_id: orgId }) => orgId);
}

/** Those of whose accounts one has the address, guests of others not counted; the oldest first. */
export async function findOrganisationsOfAddress(
  db: Db,
  home: Home,
  address: string,
  limit: number,
): Promise<string[]> {
  const rows = await withApplication(db, home)
    .innerJoin("user_account", (join) =>
      join.onRef("user_account.org_id", "=", "application.org_id").on("user_account.email_key", "=", address),
    )
    .where("user_account.disabled_at", "is", null)
    .orderBy("application.org_id")
    .limit(limit)
    .execute();
  return rows.map(({ org_id: orgId }) => orgId);
}

/** Which of these organisations have the application. */
export async function organisationsAmong(db: Db, home: Home, orgIds: readonly string[]): Promise<string[]> {
  if (orgIds.length === 0) return [];
  const rows = await withApplication(db, home)
    .where(sql.ref("application.org_id"), "in", orgIds)
    .orderBy("application.org_id")
    .execute();
  return rows.map(({ org_id: orgId }) => orgId);
}
