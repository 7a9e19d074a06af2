/** Stores organisations. */
import { affectsAny } from "../../db/affected.ts";
import { columnsOf } from "../../db/columns.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { OrganisationTable } from "../../db/tables/organisations.ts";
import { insertBuiltInRoles } from "../roles/built-in-roles.store.ts";
import { defaultOrganisationSettings, type Organisation, type OrganisationSettings } from "./organisation.ts";

export async function insertOrganisation(db: Db, { settings, ...organisation }: Organisation): Promise<void> {
  await db
    .insertInto("organisation")
    .values({ ...toRow(organisation), settings: JSON.stringify(settings) })
    .execute();
  await insertBuiltInRoles(db, organisation);
}

const columns = columnsOf<OrganisationTable>()(
  ...(["id", "name", "settings", "created_at", "disabled_at", "delete_after", "audit_exported_at"] as const),
);

const selectOne = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("organisation").select(columns).where("id", "=", value("orgId")),
);

export async function findOrganisation(db: Db, orgId: string): Promise<Organisation | undefined> {
  const [row] = await selectOne(db, { orgId });
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
  { after = "", limit }: { after?: string; limit: number },
): Promise<Organisation[]> {
  const page = db.selectFrom("organisation").selectAll().where("id", ">", after).orderBy("id").limit(limit);
  return (await page.execute()).map(fromRow);
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
    .where((eb) => allOf(eb, { "membership.home_org_id": user.homeOrgId, "membership.user_id": user.id }))
    .where("membership.role", "=", "Administrator")
    .where("membership.org_id", "<>", user.orgId)
    .where("organisation.disabled_at", "is", null)
    .orderBy("organisation.name")
    .orderBy("organisation.id")
    .limit(limit)
    .execute();
}

/** @returns false when there is no such organisation, or it is to be enabled and being deleted */
export function setOrganisationDisabled(db: Db, orgId: string, disabledAt: number | null): Promise<boolean> {
  const change = db.updateTable("organisation").set({ disabled_at: disabledAt }).where("id", "=", orgId);
  return affectsAny(disabledAt === null ? change.where("delete_after", "is", null) : change);
}

export async function setOrganisationRecord(
  db: Db,
  orgId: string,
  { name, settings }: { name: string; settings: OrganisationSettings },
): Promise<void> {
  const record = { name, settings: JSON.stringify(settings) };
  await db.updateTable("organisation").set(record).where("id", "=", orgId).execute();
}

const fromRow = ({ settings, ...row }: OrganisationTable): Organisation => ({
  ...toRecord(row),
  settings: { ...defaultOrganisationSettings, ...(JSON.parse(settings) as Partial<OrganisationSettings>) },
});
