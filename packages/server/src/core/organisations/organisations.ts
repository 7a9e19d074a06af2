/** Finds organisations on the hot path; creates, changes, enables and disables them. */
import { isDeepStrictEqual } from "node:util";
import { newUuid } from "@signet/protocol/uuid";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { type RecordCache, recordCache } from "../cache/record-cache.ts";
import type { Clock } from "../clock.ts";
import {
  defaultOrganisationSettings,
  isOrganisationName,
  type Organisation,
  type OrganisationSettings,
} from "./organisation.ts";
import {
  findOrganisation,
  insertOrganisation,
  lockOrganisation,
  setOrganisationDisabled,
  setOrganisationRecord,
} from "./organisations.store.ts";
import { requireValidSettings } from "./settings-validation.ts";

export interface OrganisationDirectory {
  /** Undefined when it is unknown or disabled. */
  find(orgId: string): Promise<Organisation | undefined>;
}

export interface OrganisationDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

export function organisationDirectory(deps: OrganisationDeps & { capacity?: number }): OrganisationDirectory {
  const cache: RecordCache<Organisation> = recordCache({
    capacity: deps.capacity ?? 20_000,
    maxAgeMs: 30_000,
    clock: deps.clock,
    load: (orgId) => findOrganisation(deps.database.query, orgId),
  });
  deps.changes.subscribe((change) => {
    if (change === "everything") cache.clear();
    else if (change.topic === "organisation") cache.evictOrganisation(change.orgId);
  });
  return {
    find: async (orgId) => {
      const organisation = cache.peek(orgId, "") ?? (await cache.get(orgId, ""));
      return organisation && organisation.disabledAt === null ? organisation : undefined;
    },
  };
}

export class InvalidOrganisation extends Error {
  constructor() {
    super("the name of an organisation must be 1 to 100 characters without control characters");
    this.name = "InvalidOrganisation";
  }
}

/** @throws InvalidOrganisation */
export async function createOrganisation(
  deps: Pick<OrganisationDeps, "clock">,
  db: Db,
  input: { name: string; actor: string },
): Promise<Organisation> {
  if (!isOrganisationName(input.name)) throw new InvalidOrganisation();
  const organisation: Organisation = {
    id: newUuid(),
    name: input.name.trim(),
    settings: defaultOrganisationSettings,
    createdAt: deps.clock(),
    disabledAt: null,
  };
  await insertOrganisation(db, organisation);
  await recordAuditEvent(db, {
    orgId: organisation.id,
    at: organisation.createdAt,
    actor: input.actor,
    action: "organisation.created",
    target: organisation.id,
  });
  return organisation;
}

/** Enables or disables an organisation. A disabled one is gone from outside: its issuer is 404, its tokens are inactive. */
export async function setOrganisationStatus(
  deps: OrganisationDeps,
  input: { orgId: string; disabled: boolean; actor: string },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await setOrganisationDisabled(tx, input.orgId, input.disabled ? now : null))) return false;
    await recordAuditEvent(tx, {
      orgId: input.orgId,
      at: now,
      actor: input.actor,
      action: input.disabled ? "organisation.disabled" : "organisation.enabled",
      target: input.orgId,
    });
    await deps.changes.publish(tx, { orgId: input.orgId, topic: "organisation" });
    return true;
  });
}

export interface OrganisationChange {
  readonly orgId: string;
  readonly name?: string;
  /** Partial settings. A function gets the locked record and may throw: then nothing changes. */
  readonly settings:
    | Partial<OrganisationSettings>
    | ((before: Organisation) => Partial<OrganisationSettings>);
  readonly actor: string;
  readonly address?: string;
}

/**
 * Changes some settings and leaves the others, also under concurrent changes. Unchanged settings are neither written
 * nor audited.
 * @returns all current settings; undefined when there is no such organisation
 * @throws InvalidSettings naming every fault, InvalidOrganisation for the name
 */
export async function changeOrganisationSettings(
  deps: OrganisationDeps,
  { orgId, name, settings: wanted, actor, address }: OrganisationChange,
): Promise<OrganisationSettings | undefined> {
  if (name !== undefined && !isOrganisationName(name)) throw new InvalidOrganisation();
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const before = await lockOrganisation(tx, orgId);
    if (!before) return undefined;
    const changes = typeof wanted === "function" ? wanted(before) : wanted;
    const changed = Object.keys(changes) as Array<keyof OrganisationSettings>;
    const settings = { ...before.settings, ...changes };
    requireValidSettings(settings, changed);
    // E.g. a form that was submitted twice, or a configuration applied again.
    const isRenamed = name !== undefined && name.trim() !== before.name;
    if (!isRenamed && isDeepStrictEqual(settings, before.settings)) return settings;
    await setOrganisationRecord(tx, orgId, { name: name?.trim() ?? before.name, settings });
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "organisation.changed",
      target: orgId,
      ...(address === undefined ? {} : { address }),
      details: { settings: changed, ...(name === undefined ? {} : { name: name.trim() }) },
    });
    await deps.changes.publish(tx, { orgId, topic: "organisation" });
    return settings;
  });
}
