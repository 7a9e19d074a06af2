/** Enables applications that other organisations share, and withdraws them (connections.md §7). */
import { isSubset } from "@signet/protocol/oauth/scope";
import { boundTo, type Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { endCopy } from "../applications/application-copies.ts";
import {
  findApplication,
  insertApplication,
  lockApplication,
  organisationOfApplication,
  replaceApplication,
} from "../applications/applications.store.ts";
import { copiedSettings, isOfferedTo } from "../applications/copied-settings.ts";
import { requireDefinedScopes } from "../applications/defined-scopes.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { listConsents } from "../consents/consents.store.ts";
import { grantOrganisationConsent } from "../consents/consents.ts";
import { findOrganisation, lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { listEnabledIds } from "./shared-applications.store.ts";

/** As an organisation sees an application of another one. */
export interface SharedApplication {
  /** The application at its home: its name and what it may ask for. */
  readonly home: Application;
  readonly homeName: string;
  readonly isHomeDisabled: boolean;
  /** The copy; undefined while it is only offered. */
  readonly copy: Application | undefined;
}

/** Why scopes can't be granted; the messages are public. */
export class InvalidSharing extends Error {
  readonly faults: ReadonlyArray<{ readonly path: string; readonly message: string }>;
  constructor(faults: InvalidSharing["faults"]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidSharing";
    this.faults = faults;
  }
}

export const MAX_ENABLED = 200;

interface SharingKey {
  /** The organisation that enables it. */
  readonly orgId: string;
  readonly id: string;
}

/** One that is enabled, or offered. @returns undefined for any other, and while its own organisation is disabled or it is itself */
export async function findShared(db: Db, { orgId, id }: SharingKey): Promise<SharedApplication | undefined> {
  const homeOrgId = await organisationOfApplication(db, id);
  if (homeOrgId === undefined || homeOrgId === orgId) return undefined;
  const [home, homeOrganisation] = [
    await findApplication(db, homeOrgId, id),
    await findOrganisation(db, homeOrgId),
  ];
  if (!home || !homeOrganisation || !isOfferedTo(home, orgId)) return undefined;
  const copy = await findApplication(db, orgId, id);
  const isHomeDisabled = home.disabledAt !== null || homeOrganisation.disabledAt !== null;
  return copy || !isHomeDisabled
    ? { home, homeName: homeOrganisation.name, isHomeDisabled, copy }
    : undefined;
}

/** Those that are enabled, oldest first. */
export async function listShared(db: Db, orgId: string): Promise<SharedApplication[]> {
  const found: SharedApplication[] = [];
  for (const id of await listEnabledIds(db, orgId)) {
    const shared = await findShared(db, { orgId, id });
    if (shared?.copy) found.push(shared);
  }
  return found;
}

/**
 * Enables it with these scopes, or changes them: those that were taken away end for its tokens. Consents to them for all users.
 * @returns undefined when it is not offered; `isNew` false where it was enabled before
 * @throws InvalidSharing, InvalidApplication for scopes that this organisation has not defined
 */
export function enableShared(
  deps: RecordDeps,
  { id, scopes: asked, ...act }: Act & SharingKey & { readonly scopes: readonly string[] },
): Promise<(SharedApplication & { readonly copy: Application; readonly isNew: boolean }) | undefined> {
  const { orgId } = act;
  const scopes = [...new Set(asked)].toSorted();
  return deps.database.transaction(async (tx) => {
    const shared = await lockShared(tx, { orgId, id });
    if (!shared) return undefined;
    const { home, copy: before } = shared;
    requireGrantable(home, scopes);
    if (!before && (await listEnabledIds(tx, orgId)).length >= MAX_ENABLED)
      throw new InvalidSharing([{ path: "", message: `at most ${MAX_ENABLED} are enabled` }]);
    const copy = copyOf(home, { orgId, scopes, before, now: deps.clock() });
    await requireDefinedScopes(tx, orgId, copy.settings);
    if (before && (await isGranted(tx, before, scopes))) return { ...shared, copy: before, isNew: false };
    await (before ? replaceApplication(tx, copy) : insertApplication(tx, copy));
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    await grantOrganisationConsent(inside, { application: copy, scopes, ...act });
    await recordChange(tx, deps, "application", {
      ...auditFields(act, deps.clock()),
      action: "shared-application.enabled",
      target: id,
      details: { name: home.name, organisation: home.orgId, scopes },
    });
    return { ...shared, copy, isNew: !before };
  });
}

/**
 * Its home, then the copy, as a change at home locks them; and the copy before scopes, as their deletion does. Of two that are enabled
 * at once, the second counts the first.
 */
async function lockShared(tx: Db, { orgId, id }: SharingKey): Promise<SharedApplication | undefined> {
  const offered = await findShared(tx, { orgId, id });
  // What is not offered is not to be held up from elsewhere.
  if (!offered) return undefined;
  await lockOrganisation(tx, orgId);
  if (!(await lockApplication(tx, offered.home))) return undefined;
  await lockApplication(tx, { orgId, id });
  return findShared(tx, { orgId, id });
}

/** Exactly these scopes, and with a consent that nobody has revoked since. */
async function isGranted(tx: Db, copy: Application, scopes: readonly string[]): Promise<boolean> {
  const { orgId, id: applicationId, grantedScopes } = copy;
  if (!isSubset(grantedScopes ?? [], scopes) || !isSubset(scopes, grantedScopes ?? [])) return false;
  const [consent] = await listConsents(tx, orgId, { applicationId, kind: "organisation", limit: 1 });
  return consent !== undefined && isSubset(scopes, consent.scopes);
}

function requireGrantable(home: Application, scopes: readonly string[]): void {
  if (scopes.length === 0)
    throw new InvalidSharing([{ path: "scopes", message: "at least one scope is required" }]);
  const faults = scopes.flatMap((scope, index) =>
    home.settings.allowedScopes.includes(scope)
      ? []
      : [{ path: `scopes[${index}]`, message: "the application does not ask for it" }],
  );
  if (faults.length > 0) throw new InvalidSharing(faults);
}

function copyOf(
  home: Application,
  {
    orgId,
    scopes,
    before,
    now,
  }: { orgId: string; scopes: readonly string[]; before: Application | undefined; now: number },
): Application {
  const { id, name, clientType, disabledAt } = home;
  return {
    ...{ orgId, id, name, clientType, disabledAt, homeOrgId: home.orgId, grantedScopes: scopes },
    settings: copiedSettings(home, scopes),
    source: "registered",
    secrets: [],
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    version: (before?.version ?? 0) + 1,
  };
}

/** Ends it here, with its codes, tokens, consents and session keys. @returns false when it is not enabled */
export function withdrawShared(deps: RecordDeps, { id, ...act }: Act & SharingKey): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, { orgId: act.orgId, id }))) return false;
    const copy = await findApplication(tx, act.orgId, id);
    if (!copy || copy.homeOrgId === null) return false;
    return endCopy(tx, deps, copy, act);
  });
}
