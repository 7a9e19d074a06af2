/** What an application keeps about one of its users: a JSON object of its own, which nobody else reads. */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { findSettings, putSettings, type SettingsKey } from "./application-settings.store.ts";

export type UserSettings = Readonly<Record<string, unknown>>;

/** Empty when nothing was written. */
export async function readUserSettings(db: Db, key: SettingsKey): Promise<UserSettings> {
  const stored = await findSettings(db, key);
  return stored === undefined ? {} : (JSON.parse(stored) as UserSettings);
}

/** Replaces them all. */
export async function writeUserSettings(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  key: SettingsKey,
  write: { readonly settings: UserSettings; readonly actor: string; readonly address: string },
): Promise<void> {
  const now = clock();
  const { orgId, applicationId, userId } = key;
  const { settings, actor, address } = write;
  await database.transaction(async (tx) => {
    await putSettings(tx, key, JSON.stringify(settings), now);
    const event = {
      orgId,
      at: now,
      actor,
      action: "user-settings.changed" as const,
      target: userId,
      address,
    };
    await recordAuditEvent(tx, { ...event, details: { applicationId } });
  });
}
