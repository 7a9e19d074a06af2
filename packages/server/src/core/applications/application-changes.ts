/** Changes and deletes applications, with optimistic locking. */

import type { Db } from "../../db/open.ts";
import { auditFields } from "../audit/audit.store.ts";
import { releaseApplication } from "../protected-resources/protected-resources.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { Application } from "./application.ts";
import { endUnbound, requireOwn, spreadChange } from "./application-copies.ts";
import { deleteApplicationRow, findApplication, replaceApplication } from "./applications.store.ts";
import { requireKnownPool } from "./applications.ts";
import { requireAddedScopesDefined } from "./defined-scopes.ts";
import { revokeGrantedCredentials } from "./granted-credentials.ts";
import { requireValidApplication } from "./validation.ts";

export interface ApplicationKey {
  readonly orgId: string;
  readonly id: string;
  readonly actor: string;
  readonly address?: string;
  /** Checks the current record before the change. @throws what the caller wants to see */
  check?(before: Application): void;
}

export type ApplicationContent = Pick<Application, "name" | "settings"> & { readonly disabled: boolean };

/** Another request changed the record between read and write. */
export class ApplicationChanged extends Error {
  constructor() {
    super("another request has changed the application");
    this.name = "ApplicationChanged";
  }
}

/**
 * Replaces an application; where nothing differs, nothing is written and nothing audited. Disabling it revokes what it was
 * issued (`setApplicationStatus`); removed scopes end for its refresh tokens at their next use.
 * @param contentOf the new content, from the current record
 * @returns undefined when there is no such application
 * @throws InvalidApplication naming every fault, ApplicationChanged, ForeignApplication
 */
export async function changeApplication(
  deps: RecordDeps,
  key: ApplicationKey,
  contentOf: (before: Application) => ApplicationContent,
): Promise<Application | undefined> {
  const { orgId, id } = key;
  return retryingRaces(deps, async (tx) => {
    const before = await findApplication(tx, orgId, id);
    if (!before) return undefined;
    key.check?.(before);
    requireOwn(before);
    const now = deps.clock();
    const { name, settings, disabled } = contentOf(before);
    requireValidApplication({ name, clientType: before.clientType, settings }, deps);
    await requireKnownPool(tx, orgId, settings);
    await requireAddedScopesDefined(tx, before, settings);
    const after: Application = {
      ...before,
      name: name.trim(),
      settings,
      updatedAt: now,
      disabledAt: disabled ? (before.disabledAt ?? now) : null,
      version: before.version + 1,
    };
    const changed = changedMembers(before, after);
    if (changed.length === 0) return before;
    if (!(await replaceApplication(tx, after))) throw new LostRace();
    if (disabled && before.disabledAt === null) await revokeGrantedCredentials(tx, after, now);
    await spreadChange(tx, deps, { before, after });
    await endUnbound(tx, { before, after, orgId, now });
    const event = { action: "application.changed" as const, target: id, details: { changed } };
    await recordChange(tx, deps, "application", { ...auditFields(key, now), ...event });
    return after;
  });
}

/** A race between read and write of one transaction, which is retried; a `check` sees the new record. */
class LostRace extends ApplicationChanged {}

const MAX_RACES = 20;

/** Retries when another request was faster, so that the caller's `check` sees the current record. */
async function retryingRaces<T>({ database }: RecordDeps, act: (tx: Db) => Promise<T>): Promise<T> {
  for (let race = 1; ; race++) {
    try {
      return await database.transaction(act);
    } catch (error) {
      if (!(error instanceof LostRace) || race === MAX_RACES) throw error;
    }
  }
}

function changedMembers(before: Application, after: Application): string[] {
  const flat = ({ name, disabledAt, settings }: Application): Record<string, unknown> => ({
    name,
    enabled: disabledAt === null,
    ...settings,
  });
  const [old, now] = [flat(before), flat(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
}

/**
 * Deletes an application permanently, with its secrets, codes, refresh tokens and their access tokens, consents,
 * pre-authorizations, session keys and system accounts.
 * @returns false when there is no such application.
 * @throws ApplicationChanged, ForeignApplication
 */
export async function deleteApplication(deps: RecordDeps, key: ApplicationKey): Promise<boolean> {
  const { orgId, id } = key;
  return retryingRaces(deps, async (tx) => {
    const before = await findApplication(tx, orgId, id);
    if (!before) return false;
    key.check?.(before);
    requireOwn(before);
    if (!(await deleteApplicationRow(tx, before))) throw new LostRace();
    await spreadChange(tx, deps, { before, after: undefined });
    if (await releaseApplication(tx, { orgId, applicationId: id }))
      await deps.changes.publish(tx, { orgId, topic: "protected-resource" });
    const event = { action: "application.deleted" as const, target: id, details: { name: before.name } };
    await recordChange(tx, deps, "application", { ...auditFields(key, deps.clock()), ...event });
    await deps.changes.publish(tx, { orgId, topic: "system-account" });
    return true;
  });
}
