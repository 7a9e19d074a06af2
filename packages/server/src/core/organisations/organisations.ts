/** Finds organisations on the hot path; creates, changes, enables and disables them. */

import { isDeepStrictEqual } from "node:util";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { listOrganisationsWithCopies } from "../applications/copies.store.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { findGroup } from "../groups/groups.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import {
  defaultOrganisationSettings,
  isRecordName,
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
import { InvalidSettings, requireValidSettings } from "./settings-validation.ts";

export interface OrganisationDirectory {
  /** Undefined when it is unknown or disabled. */
  find(orgId: string): Promise<Organisation | undefined>;
}

export function organisationDirectory(deps: RecordDeps): OrganisationDirectory {
  const cache = changeTrackingCache<Organisation>(deps, "organisation", {
    capacity: 20_000,
    load: (orgId) => findOrganisation(deps.database.query, orgId),
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
  deps: Pick<RecordDeps, "clock">,
  db: Db,
  input: { name: string; actor: string; address?: string },
): Promise<Organisation> {
  if (!isRecordName(input.name)) throw new InvalidOrganisation();
  const organisation: Organisation = {
    id: newUuid(),
    name: input.name.trim(),
    settings: defaultOrganisationSettings,
    createdAt: deps.clock(),
    disabledAt: null,
    deleteAfter: null,
    auditExportedAt: null,
  };
  await insertOrganisation(db, organisation);
  await recordAuditEvent(db, {
    orgId: organisation.id,
    at: organisation.createdAt,
    actor: input.actor,
    address: input.address,
    action: "organisation.created",
    target: organisation.id,
  });
  return organisation;
}

/**
 * Enables or disables an organisation. A disabled one is gone from outside: its issuer is 404, its tokens are inactive.
 * @returns false when there is no such organisation, or it is to be enabled while it is being deleted
 */
export async function setOrganisationStatus(
  deps: RecordDeps,
  { disabled, ...act }: Act & { readonly disabled: boolean },
): Promise<boolean> {
  const at = deps.clock();
  return deps.database.transaction(async (tx) => {
    const { orgId } = act;
    if (!(await setOrganisationDisabled(tx, orgId, disabled ? at : null))) return false;
    // What it shares is so too, wherever it is enabled.
    for (const other of await listOrganisationsWithCopies(tx, orgId))
      await deps.changes.publish(tx, { orgId: other, topic: "application" });
    const action = disabled ? "organisation.disabled" : "organisation.enabled";
    await recordChange(tx, deps, "organisation", { ...auditFields(act, at), action, target: orgId });
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
  deps: RecordDeps,
  { orgId, name, settings: wanted, actor, address }: OrganisationChange,
): Promise<OrganisationSettings | undefined> {
  if (name !== undefined && !isRecordName(name)) throw new InvalidOrganisation();
  const at = deps.clock();
  return deps.database.transaction(async (tx) => {
    const before = await lockOrganisation(tx, orgId);
    if (!before) return undefined;
    const changes = typeof wanted === "function" ? wanted(before) : wanted;
    const changed = Object.keys(changes) as Array<keyof OrganisationSettings>;
    const settings = { ...before.settings, ...changes };
    requireValidSettings(settings, changed);
    if (changed.includes("signUp")) await requireLocalGroups(tx, orgId, settings.signUp.groups);
    // E.g. a form that was submitted twice, or a configuration applied again.
    const isRenamed = name !== undefined && name.trim() !== before.name;
    if (!isRenamed && isDeepStrictEqual(settings, before.settings)) return settings;
    await setOrganisationRecord(tx, orgId, { name: name?.trim() ?? before.name, settings });
    const details = { settings: changed, ...(name === undefined ? {} : { name: name.trim() }) };
    const event = { action: "organisation.changed" as const, target: orgId, details };
    await recordChange(tx, deps, "organisation", { orgId, at, actor, address, ...event });
    return settings;
  });
}

/** Whose members come from elsewhere, nobody gets into by signing up. @throws InvalidSettings */
async function requireLocalGroups(tx: Db, orgId: string, groups: readonly string[]): Promise<void> {
  const faults = [];
  for (const [at, id] of groups.entries())
    if ((await findGroup(tx, { orgId, id }))?.source !== "local")
      faults.push({
        ...{ path: `signUp.groups.${at}`, code: "sign-up-groups" as const },
        message: "must be a group of the organisation that no connection provisions",
      });
  if (faults.length > 0) throw new InvalidSettings(faults);
}
