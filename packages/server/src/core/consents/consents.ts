/** Grants consents by administrators, and revokes consents of every kind. */
import { isSubset } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { findApplication, lockApplication } from "../applications/applications.store.ts";
import type { AuditAction } from "../audit/actions.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { fingerprintsOf } from "../scopes/custom-scope.ts";
import { definitionsOf } from "../scopes/scope-definitions.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { type Consent, preauthorization } from "./consent.ts";
import {
  type ConsentKey,
  findPreauthorizations,
  type Granted,
  grantConsent,
  insertPreauthorization,
  markConsentRevoked,
  removePreauthorization,
} from "./consents.store.ts";

export class InvalidConsent extends Error {
  override readonly name = "InvalidConsent";
}

export class PreauthorizationExists extends Error {
  constructor() {
    super("the application is already pre-authorized for these scopes");
    this.name = "ConsentThere";
  }
}

export interface AdministratorsGrant {
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly actor: string;
  readonly address?: string | undefined;
}

/** For all users of the organisation; adds the scopes. @returns the consent's id. @throws InvalidConsent */
export async function grantOrganisationConsent(deps: CoreDeps, grant: AdministratorsGrant): Promise<string> {
  return (await grantByAdministrator(deps, grant)).id;
}

/** For a user or for all of the organisation; adds the scopes. @throws InvalidConsent */
export async function grantByAdministrator(
  deps: CoreDeps,
  grant: AdministratorsGrant & { readonly userId?: string },
): Promise<Granted> {
  requireAllowedScopes(grant);
  const { application, scopes, actor, address, userId } = grant;
  const { orgId, id: applicationId } = application;
  const consenter = userId === undefined ? {} : { userId };
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    await requireStillAllowed(tx, grant);
    const customScopes = await listCustomScopes(tx, orgId);
    // Administrators decide about a scope's claims; a user's consent is to the current claims.
    const fingerprints = userId === undefined ? {} : fingerprintsOf(customScopes, scopes);
    const definitions = definitionsOf(customScopes, scopes);
    const consent = { orgId, applicationId, ...consenter, scopes, fingerprints, definitions };
    const granted = await grantConsent(tx, { ...consent, grantedBy: actor, now });
    await recordAuditEvent(tx, {
      ...auditFields({ orgId, actor, address }, now),
      action: userId === undefined ? "consent.granted-for-organisation" : "consent.granted-for-user",
      target: applicationId,
      details: { scopes, ...consenter },
    });
    return granted;
  });
}

/** @throws InvalidConsent, PreauthorizationExists */
export async function createPreauthorization(deps: CoreDeps, grant: AdministratorsGrant): Promise<Consent> {
  requireAllowedScopes(grant);
  const { application, scopes, actor, address } = grant;
  const { orgId, id: applicationId } = application;
  const now = deps.clock();
  const record = preauthorization({
    ...{ orgId, id: newUuid(), applicationId, scopes: [...new Set(scopes)] },
    ...{ grantedBy: actor, grantedAt: now },
  });
  await deps.database.transaction(async (tx) => {
    await requireStillAllowed(tx, grant);
    const others = await findPreauthorizations(tx, { orgId, applicationId });
    if (others.some((other) => isSubset(other.scopes, scopes) && isSubset(scopes, other.scopes)))
      throw new PreauthorizationExists();
    await insertPreauthorization(tx, record, definitionsOf(await listCustomScopes(tx, orgId), scopes));
    const event = { action: "preauthorization.created", target: applicationId, details: { scopes } } as const;
    await recordAuditEvent(tx, { ...auditFields({ orgId, actor, address }, now), ...event });
  });
  return record;
}

/** Locks the application first: a deletion of a scope holds it, and takes the scope from it. @throws InvalidConsent */
async function requireStillAllowed(tx: Db, grant: AdministratorsGrant): Promise<void> {
  const { orgId, id } = grant.application;
  const isThere = await lockApplication(tx, grant.application);
  const application = isThere ? await findApplication(tx, orgId, id) : undefined;
  if (!application) throw new InvalidConsent("the application is gone");
  requireAllowedScopes({ ...grant, application });
}

/** Consent to scopes that the application can't request would be misleading. */
function requireAllowedScopes({ application, scopes }: AdministratorsGrant): void {
  const { allowedScopes } = application.settings;
  if (scopes.length === 0) throw new InvalidConsent("at least one scope is required");
  if (isSubset(scopes, allowedScopes)) return;
  const others = scopes.filter((scope) => !allowedScopes.includes(scope));
  throw new InvalidConsent(`the application may not request ${others.join(" ")}`);
}

export type Revocation = ConsentKey & Act;

/**
 * Revokes the consent with its refresh tokens; introspection then rejects the access tokens too.
 * @returns false when there is no such active consent
 */
export function revokeConsent(deps: CoreDeps, revocation: Revocation): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const consent = await markConsentRevoked(tx, revocation, { by: revocation.actor, now });
    if (consent) await revokeTokens(tx, consent, revocation, { now, action: "consent.revoked" });
    return consent !== undefined;
  });
}

/** @returns false when there is no such record */
export function deletePreauthorization(
  deps: CoreDeps,
  revocation: Omit<Revocation, "userId">,
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const record = await removePreauthorization(tx, revocation);
    if (record) await revokeTokens(tx, record, revocation, { now, action: "preauthorization.deleted" });
    return record !== undefined;
  });
}

async function revokeTokens(
  tx: Db,
  consent: Consent,
  revocation: Revocation,
  { now, action }: { now: number; action: AuditAction },
): Promise<void> {
  const { orgId, id: consentId, applicationId: target, scopes } = consent;
  const ended = await revokeTokenFamilies(tx, { orgId, consentId, now, reason: "consent_revoked" });
  await recordAuditEvent(tx, { ...auditFields(revocation, now), action, target, details: { scopes, ended } });
}
