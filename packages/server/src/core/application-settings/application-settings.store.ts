/** Stores an application's settings of a user. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRow } from "../../db/records.ts";

export interface SettingsKey {
  readonly orgId: string;
  readonly applicationId: string;
  readonly userId: string;
}

/** As JSON. */
export async function findSettings(db: Db, key: SettingsKey): Promise<string | undefined> {
  const row = await db
    .selectFrom("application_user_setting")
    .select("settings")
    .where((eb) => allOf(eb, { org_id: key.orgId, application_id: key.applicationId, user_id: key.userId }))
    .executeTakeFirst();
  return row?.settings;
}

export async function putSettings(
  db: Db,
  { orgId, applicationId, userId }: SettingsKey,
  settings: string,
  now: number,
): Promise<void> {
  await db
    .insertInto("application_user_setting")
    .values({ ...toRow({ orgId, applicationId, userId }), settings, updated_at: now, version: 1 })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "application_id", "user_id"]).doUpdateSet((eb) => ({
        settings,
        updated_at: now,
        version: eb("application_user_setting.version", "+", 1),
      })),
    )
    .execute();
}
