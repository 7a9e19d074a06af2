/** Settings that an application stores for one of its users: a JSON object that only the application reads. */
import type { Db } from "../../db/open.ts";
import { auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findSettings, putSettings, type SettingsKey } from "./application-settings.store.ts";

export type UserSettings = Readonly<Record<string, unknown>>;

export async function readUserSettings(db: Db, key: SettingsKey): Promise<UserSettings> {
  const stored = await findSettings(db, key);
  return stored === undefined ? {} : (JSON.parse(stored) as UserSettings);
}

export async function writeUserSettings(
  { database, clock }: CoreDeps,
  { orgId, applicationId, userId }: SettingsKey,
  write: { readonly settings: UserSettings; readonly actor: string; readonly address: string },
): Promise<void> {
  const now = clock();
  const { settings, ...by } = write;
  await database.transaction(async (tx) => {
    await putSettings(tx, { orgId, applicationId, userId }, JSON.stringify(settings), now);
    const event = { action: "user-settings.changed", target: userId, details: { applicationId } } as const;
    await recordAuditEvent(tx, { ...auditFields({ ...by, orgId }, now), ...event });
  });
}
