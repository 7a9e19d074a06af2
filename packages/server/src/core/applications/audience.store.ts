/** Finds applications by the audience that their access tokens have, or that the resource has that they are. */
import { sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

/**
 * Nothing keeps two applications from having one audience. One of the organisation's own comes before those that others share, whose
 * home alone says what theirs is: it can't make an API here ambiguous.
 * @returns their ids
 */
export async function findIdsByAudience(db: Db, orgId: string, audience: string): Promise<string[]> {
  // Settings are JSON text, as `JSON.stringify` writes it; what is found is read again to be sure.
  const member = `%${JSON.stringify({ audience }).slice(1, -1).replaceAll(/[!%_]/g, "!$&")}%`;
  const rows = await db
    .selectFrom("application")
    .select(["id", "settings", "home_org_id"])
    .where("org_id", "=", orgId)
    .where(sql<boolean>`settings like ${member} escape '!'`)
    .orderBy("id")
    .execute();
  const found = rows.filter(
    ({ settings }) => (JSON.parse(settings) as { audience?: string }).audience === audience,
  );
  const own = found.filter(({ home_org_id: homeOrgId }) => homeOrgId === null);
  const ids = (own.length > 0 ? own : found).map(({ id }) => id);
  const resource = await db
    .selectFrom("protected_resource")
    .select("application_id")
    .where((eb) => allOf(eb, { org_id: orgId, identifier: audience }))
    .executeTakeFirst();
  // What an administrator has said of the resource counts before what applications call themselves.
  return resource?.application_id ? [resource.application_id] : ids;
}
