/** Finding organisations on the hot path, and creating and disabling them. */
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
  holdOrganisation,
  insertOrganisation,
  setOrganisationDisabled,
  setOrganisationRecord,
} from "./organisations.store.ts";
import { requireValidSettings } from "./settings-validation.ts";

export interface OrganisationDirectory {
  /** Undefined when it does not exist or is disabled: to the outside the two are one. */
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
    super("the name of an organisation must be 1 to 100 plain characters");
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

/** A disabled organisation answers nothing any more: its issuer is 404, its tokens introspect inactive. */
export async function disableOrganisation(
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
  /** Others stay. A function sees what is there, held until the end, and may throw: then nothing is changed. */
  readonly settings:
    | Partial<OrganisationSettings>
    | ((before: Organisation) => Partial<OrganisationSettings>);
  readonly actor: string;
  readonly address?: string;
}

/**
 * Changes some of the settings and leaves the others as they are, whoever changes those at the same time; every node hears
 * of it. What is as it shall be already is not written, and not audited.
 * @returns all of them as they are now; undefined when there is no such organisation
 * @throws InvalidSettings naming every fault, InvalidOrganisation for the name
 */
export async function changeOrganisationSettings(
  deps: OrganisationDeps,
  { orgId, name, settings: wanted, actor, address }: OrganisationChange,
): Promise<OrganisationSettings | undefined> {
  if (name !== undefined && !isOrganisationName(name)) throw new InvalidOrganisation();
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const before = await holdOrganisation(tx, orgId);
    if (!before) return undefined;
    const changes = typeof wanted === "function" ? wanted(before) : wanted;
    const changed = Object.keys(changes) as Array<keyof OrganisationSettings>;
    const settings = { ...before.settings, ...changes };
    requireValidSettings(settings, changed);
    // A form that is sent twice, and a configuration that is applied once more, have changed nothing.
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
