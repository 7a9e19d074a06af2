/** Which applications may request a scope. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";

/** Read up to here: a page names a few and counts the others. */
const MAX_APPLICATIONS = 200;

/** The applications that may request a scope, oldest first. */
export async function applicationsAllowing(
  db: Db,
  orgId: string,
  scope: string,
): Promise<Array<{ id: string; name: string }>> {
  const mentions = containing(JSON.stringify(scope));
  const rows = await db
    .selectFrom("application")
    .select(["id", "name", "settings"])
    .where("org_id", "=", orgId)
    .where(sql<boolean>`settings like ${mentions} escape '!'`)
    .orderBy("id")
    .limit(MAX_APPLICATIONS)
    .execute();
  // The search is in the settings' JSON: another member may contain the same text.
  return rows
    .filter(({ settings }) => allowedIn(settings).includes(scope))
    .map(({ id, name }) => ({ id, name }));
}

const allowedIn = (settings: string): readonly string[] =>
  (JSON.parse(settings) as { allowedScopes?: readonly string[] }).allowedScopes ?? [];
