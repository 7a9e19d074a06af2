/** Finds applications on the hot path; creates, enables and disables them. */

import { isUuid } from "@signet/protocol/hash";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { auditFields } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { lockPool } from "../signing-pools/signing-pool.store.ts";
import {
  type Application,
  type ApplicationSettings,
  type ClientSource,
  defaultSettings,
} from "./application.ts";
import { requireOwn, spreadChange } from "./application-copies.ts";
import {
  applicationsOfOrigin,
  findApplication,
  insertApplication,
  lockApplication,
  organisationOfApplication,
  setApplicationDisabled,
} from "./applications.store.ts";
import { bothConsentMembers } from "./consent-mode.ts";
import { findClient } from "./copies.store.ts";
import { requireDefinedScopes } from "./defined-scopes.ts";
import { revokeGrantedCredentials } from "./granted-credentials.ts";
import { areAlgsAllowed } from "./security-profile.ts";
import { InvalidApplication, requireValidApplication } from "./validation.ts";

export interface ApplicationDirectory {
  /** Undefined when it is unknown, disabled, or of another organisation. */
  find(orgId: string, clientId: string): Promise<Application | undefined>;
  /** By the id alone, for requests that name no organisation. */
  findByClientId(clientId: string): Promise<Application | undefined>;
  /** Bypasses the cache, e.g. for a secret created moments ago on another node. */
  read(orgId: string, clientId: string): Promise<Application | undefined>;
  /** Applications with a redirect URI of this web origin. */
  findByOrigin(orgId: string, origin: string): Promise<readonly string[]>;
}

/** What holds for clients that nobody has registered by hand. */
export interface AgentDeps {
  /** The client as it may be used now; undefined for one that is not taken any more. */
  readonly asAgent: (application: Application) => Promise<Application | undefined>;
}

export function applicationDirectory(deps: RecordDeps & AgentDeps): ApplicationDirectory {
  const cache = changeTrackingCache<Application>(deps, "application", {
    capacity: 20_000,
    load: (orgId, id) => findClient(deps.database.query, orgId, id),
  });
  const enabled = (application: Application | undefined) => {
    if (!application || application.disabledAt !== null) return undefined;
    return application.source === "registered" ? application : deps.asAgent(application);
  };
  return {
    find: async (orgId, clientId) => {
      const id = isUuid(clientId) ? clientId.toLowerCase() : clientId;
      return enabled(cache.peek(orgId, id) ?? (await cache.get(orgId, id)));
    },
    findByClientId: async (clientId) => {
      const id = clientId.toLowerCase();
      const orgId = await organisationOfApplication(deps.database.query, id);
      return orgId === undefined ? undefined : enabled(cache.peek(orgId, id) ?? (await cache.get(orgId, id)));
    },
    read: async (orgId, clientId) =>
      enabled(
        await findClient(deps.database.query, orgId, isUuid(clientId) ? clientId.toLowerCase() : clientId),
      ),
    findByOrigin: (orgId, origin) => applicationsOfOrigin(deps.database.query, orgId, origin),
  };
}

export interface NewApplication {
  readonly orgId: string;
  /** Where it is fixed; a new one when left out. */
  readonly id?: string;
  readonly name: string;
  readonly clientType: ClientType;
  /** Overrides of the client type's defaults. */
  readonly settings?: Partial<ApplicationSettings>;
  readonly disabled?: boolean;
  readonly source?: ClientSource;
  readonly actor: string;
  readonly address?: string;
}

/** @throws InvalidApplication naming every fault */
export async function createApplication(deps: RecordDeps, input: NewApplication): Promise<Application> {
  const now = deps.clock();
  const { orgId, name, clientType } = input;
  const settings = {
    ...defaultSettings(clientType),
    ...input.settings,
    ...bothConsentMembers(input.settings ?? {}),
  };
  requireValidApplication({ name, clientType, settings }, deps);
  const application: Application = {
    orgId,
    id: input.id ?? newUuid(),
    name: name.trim(),
    clientType,
    settings,
    secrets: [],
    createdAt: now,
    updatedAt: now,
    disabledAt: input.disabled ? now : null,
    version: 1,
    homeOrgId: null,
    grantedScopes: null,
    source: input.source ?? "registered",
  };
  await deps.database.transaction(async (tx) => {
    await requireKnownPool(tx, orgId, settings);
    await requireDefinedScopes(tx, orgId, settings);
    await insertApplication(tx, application);
    const event = { action: "application.created" as const, target: application.id };
    await recordChange(tx, deps, "application", { ...auditFields(input, now), ...event });
  });
  return application;
}

/**
 * Locks the application's pool until the end of the transaction.
 * @throws InvalidApplication for another organisation's, and for one whose algorithms the application's profile has not
 */
export async function requireKnownPool(
  tx: Db,
  orgId: string,
  settings: Pick<ApplicationSettings, "signingPoolId" | "securityProfile">,
): Promise<void> {
  const { signingPoolId } = settings;
  if (signingPoolId === undefined) return;
  const algs = await lockPool(tx, orgId, signingPoolId);
  const message = "names no signing pool of the organisation";
  if (!algs) throw new InvalidApplication([{ path: "signingPoolId", message }]);
  if (areAlgsAllowed(settings, algs)) return;
  const weak = "its algorithms must be ES256, PS256 or EdDSA with this security profile";
  throw new InvalidApplication([{ path: "signingPoolId", message: weak, code: "profile" }]);
}

/**
 * Enables or disables an application. Disabling revokes its codes and refresh tokens permanently, and suspends its
 * own tokens.
 * @returns false when there is no such application, or its status is already the wanted one
 * @throws ForeignApplication
 */
export async function setApplicationStatus(
  deps: RecordDeps,
  input: { orgId: string; id: string; disabled: boolean; actor: string; address?: string },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    // Locked before it is read: copies are given what is read.
    if (!(await lockApplication(tx, input))) return false;
    const before = await findApplication(tx, input.orgId, input.id);
    if (before) requireOwn(before);
    if (!before || !(await setApplicationDisabled(tx, input, input.disabled ? now : null, now))) return false;
    await spreadChange(tx, deps, { before, after: { ...before, disabledAt: input.disabled ? now : null } });
    if (input.disabled) await revokeGrantedCredentials(tx, input, now);
    const action = input.disabled ? "application.disabled" : "application.enabled";
    await recordChange(tx, deps, "application", { ...auditFields(input, now), action, target: input.id });
    return true;
  });
}
