/** Clients that may use the API, for calls that let others act as such a client. */
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import type { Db } from "../../../db/open.ts";

/** The scopes of the clients with a scope of the API whose settings are meant; disabled ones too, as they can be enabled again. */
export async function scopesOfApiClients(
  db: Db,
  orgId: string,
  isMeant: (settings: Partial<ApplicationSettings>) => boolean,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("application")
    .select("settings")
    .where("org_id", "=", orgId)
    .where("settings", "like", '%"signet:%')
    .execute();
  return rows
    .map(({ settings }) => JSON.parse(settings) as Partial<ApplicationSettings>)
    .filter(isMeant)
    .flatMap(({ allowedScopes = [] }) => allowedScopes);
}
