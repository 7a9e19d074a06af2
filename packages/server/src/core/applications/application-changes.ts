/** Changing and deleting an application, by who has read it before. */

import type { Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Application } from "./application.ts";
import { deleteApplicationRow, findApplication, replaceApplication } from "./applications.store.ts";
import { type ApplicationDeps, endWhatItHolds } from "./applications.ts";
import { requireKnownPool } from "./known-pool.ts";
import { requireValidApplication } from "./validation.ts";

export interface ApplicationKey {
  readonly orgId: string;
  readonly id: string;
  readonly actor: string;
  readonly address?: string;
  /** Looks at what is there now, before anything is done. @throws what its caller wants to hear */
  check?(before: Application): void;
}

export type ApplicationContent = Pick<Application, "name" | "settings"> & { readonly disabled: boolean };

/** Somebody else changed it between the look and the write. */
export class ApplicationChanged extends Error {
  constructor() {
    super("somebody else has changed the application meanwhile");
    this.name = "ApplicationChanged";
  }
}

/**
 * A full replacement. Disabling ends what the application holds (`disableApplication`); scopes that are taken away end
 * for its refresh tokens at their next use.
 * @param contentOf what it shall be, from what it is
 * @returns undefined when there is no such application
 * @throws InvalidApplication naming every fault, ApplicationChanged
 */
export async function changeApplication(
  deps: ApplicationDeps,
  key: ApplicationKey,
  contentOf: (before: Application) => ApplicationContent,
): Promise<Application | undefined> {
  const { orgId, id, actor, address } = key;
  return withoutRace(deps, async (tx) => {
    const before = await findApplication(tx, orgId, id);
    if (!before) return undefined;
    key.check?.(before);
    const now = deps.clock();
    const { name, settings, disabled } = contentOf(before);
    requireValidApplication({ name, clientType: before.clientType, settings });
    await requireKnownPool(tx, orgId, settings);
    const after: Application = {
      ...before,
      name: name.trim(),
      settings,
      updatedAt: now,
      disabledAt: disabled ? (before.disabledAt ?? now) : null,
      version: before.version + 1,
    };
    if (!(await replaceApplication(tx, after))) throw new LostRace();
    if (disabled && before.disabledAt === null) await endWhatItHolds(tx, after, now);
    const details = { changed: changedMembers(before, after) };
    const event = {
      orgId,
      at: now,
      actor,
      address,
      action: "application.changed" as const,
      target: id,
      details,
    };
    await recordAuditEvent(tx, event);
    await deps.changes.publish(tx, { orgId, topic: "application" });
    return after;
  });
}

/** Between the look and the write of one transaction; a caller that has read a version says so by its `check`. */
class LostRace extends ApplicationChanged {}

const MOST_RACES = 20;

/** Somebody was faster between the look and the write: looked at anew, so that the caller's `check` sees what is now. */
async function withoutRace<T>({ database }: ApplicationDeps, act: (tx: Db) => Promise<T>): Promise<T> {
  for (let race = 1; ; race++) {
    try {
      return await database.transaction(act);
    } catch (error) {
      if (!(error instanceof LostRace) || race === MOST_RACES) throw error;
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
 * For good, with all that hangs on it: secrets, codes, refresh tokens and the access tokens of their families, consents,
 * pre-authorizations, session keys, and the system accounts that belong to it.
 * @returns false when there is no such application. @throws ApplicationChanged
 */
export async function deleteApplication(deps: ApplicationDeps, key: ApplicationKey): Promise<boolean> {
  const { orgId, id, actor, address } = key;
  return withoutRace(deps, async (tx) => {
    const before = await findApplication(tx, orgId, id);
    if (!before) return false;
    key.check?.(before);
    if (!(await deleteApplicationRow(tx, before))) throw new LostRace();
    await recordAuditEvent(tx, {
      orgId,
      at: deps.clock(),
      actor,
      action: "application.deleted",
      target: id,
      address,
      details: { name: before.name },
    });
    await deps.changes.publish(tx, { orgId, topic: "application" });
    await deps.changes.publish(tx, { orgId, topic: "system-account" });
    return true;
  });
}
