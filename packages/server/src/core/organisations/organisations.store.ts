import type { Db } from "../../db/open.ts";
import type { OrganisationTable } from "../../db/tables/organisations.ts";
import { defaultOrganisationSettings, type Organisation, type OrganisationSettings } from "./organisation.ts";

export async function insertOrganisation(db: Db, organisation: Organisation): Promise<void> {
  await db
    .insertInto("organisation")
    .values({
      id: organisation.id,
      name: organisation.name,
      settings: JSON.stringify(organisation.settings),
      created_at: organisation.createdAt,
      disabled_at: organisation.disabledAt,
    })
    .execute();
}

export async function findOrganisation(db: Db, orgId: string): Promise<Organisation | undefined> {
  const row = await db.selectFrom("organisation").selectAll().where("id", "=", orgId).executeTakeFirst();
  return row && fromRow(row);
}

/** Locks the organisation until the end of the transaction. */
export async function lockOrganisation(db: Db, orgId: string): Promise<Organisation | undefined> {
  const row = await db
    .updateTable("organisation")
    .set((eb) => ({ settings: eb.ref("settings") }))
    .where("id", "=", orgId)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Oldest first. */
export async function listOrganisations(
  db: Db,
  page: { after?: string; limit: number },
): Promise<Organisation[]> {
  let query = db.selectFrom("organisation").selectAll().orderBy("id").limit(page.limit);
  if (page.after) query = query.where("id", ">", page.after);
  return (await query.execute()).map(fromRow);
}

/** Other organisations that an account administers, which its console can switch to. By name. */
export async function organisationsAdministeredBy(
  db: Db,
  user: { readonly homeOrgId: string; readonly orgId: string; readonly id: string },
  limit: number,
): Promise<Array<{ id: string; name: string }>> {
  return db
    .selectFrom("membership")
    .innerJoin("organisation", "organisation.id", "membership.org_id")
    .select(["organisation.id", "organisation.name"])
    .where("membership.home_org_id", "=", user.homeOrgId)
    .where("membership.user_id", "=", user.id)
    .where("membership.role", "=", "Administrator")
    .where("membership.org_id", "<>", user.orgId)
    .where("organisation.disabled_at", "is", null)
    .orderBy("organisation.name")
    .orderBy("organisation.id")
    .limit(limit)
    .execute();
}

/** @returns false when there is no such organisation */
export async function setOrganisationDisabled(
  db: Db,
  orgId: string,
  disabledAt: number | null,
): Promise<boolean> {
  const result = await db
    .updateTable("organisation")
    .set({ disabled_at: disabledAt })
    .where("id", "=", orgId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @returns false when there is no such organisation */
export async function setOrganisationRecord(
  db: Db,
  orgId: string,
  { name, settings }: { name: string; settings: OrganisationSettings },
): Promise<boolean> {
  const result = await db
    .updateTable("organisation")
    .set({ name, settings: JSON.stringify(settings) })
    .where("id", "=", orgId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

function fromRow(row: OrganisationTable): Organisation {
  return {
    id: row.id,
    name: row.name,
    settings: {
      ...defaultOrganisationSettings,
      ...(JSON.parse(row.settings) as Partial<OrganisationSettings>),
    },
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
