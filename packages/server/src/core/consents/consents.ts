/** Grants consents by administrators, and revokes consents of every kind. */
import { isSubset } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { lockApplication } from "../applications/applications.store.ts";
import type { AuditAction } from "../audit/actions.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { fingerprintsOf } from "../scopes/custom-scope.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import type { Consent } from "./consent.ts";
import {
  type ConsentKey,
  type Granted,
  grantConsent,
  insertPreauthorization,
  markConsentRevoked,
  preauthorizedScopes,
  removePreauthorization,
} from "./consents.store.ts";

export interface ConsentDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export class InvalidConsent extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidConsent";
  }
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
  readonly address?: string;
}

/** For all users of the organisation; adds the scopes. @returns the consent's id. @throws InvalidConsent */
export async function grantOrganisationConsent(
  deps: ConsentDeps,
  grant: AdministratorsGrant,
): Promise<string> {
  return (await grantByAdministrator(deps, grant)).id;
}

/** For a user or for all of the organisation; adds the scopes. @throws InvalidConsent */
export async function grantByAdministrator(
  deps: ConsentDeps,
  grant: AdministratorsGrant & { readonly userId?: string },
): Promise<Granted> {
  requireAllowedScopes(grant);
  const { application, scopes, actor, address, userId } = grant;
  const { orgId, id: applicationId } = application;
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, application))) throw new InvalidConsent("the application is gone");
    // Administrators decide about a scope's claims; a user's consent is to the current claims.
    const fingerprints =
      userId === undefined ? {} : fingerprintsOf(await listCustomScopes(tx, orgId), scopes);
    const granted = await grantConsent(tx, {
      orgId,
      applicationId,
      ...(userId === undefined ? {} : { userId }),
      scopes,
      fingerprints,
      grantedBy: actor,
      now,
    });
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: userId === undefined ? "consent.granted-for-organisation" : "consent.granted-for-user",
      target: applicationId,
      address,
      details: { scopes, ...(userId === undefined ? {} : { userId }) },
    });
    return granted;
  });
}

/** @throws InvalidConsent, PreauthorizationExists */
export async function createPreauthorization(
  deps: ConsentDeps,
  grant: AdministratorsGrant,
): Promise<Consent> {
  requireAllowedScopes(grant);
  const { application, scopes, actor, address } = grant;
  const { orgId, id: applicationId } = application;
  const now = deps.clock();
  const record: Consent = {
    orgId,
    id: newUuid(),
    kind: "preauthorization",
    applicationId,
    userId: null,
    scopes: [...new Set(scopes)],
    fingerprints: {},
    grantedBy: actor,
    grantedAt: now,
    revokedAt: null,
  };
  await deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, application))) throw new InvalidConsent("the application is gone");
    const others = await preauthorizedScopes(tx, { orgId, applicationId });
    if (others.some((other) => isSubset(other, scopes) && isSubset(scopes, other)))
      throw new PreauthorizationExists();
    await insertPreauthorization(tx, record);
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "preauthorization.created",
      target: applicationId,
      address,
      details: { scopes },
    });
  });
  return record;
}

/** Consent to scopes that the application can't request would be misleading. */
function requireAllowedScopes({ application, scopes }: AdministratorsGrant): void {
  const { allowedScopes } = application.settings;
  if (scopes.length === 0) throw new InvalidConsent("at least one scope is required");
  if (isSubset(scopes, allowedScopes)) return;
  const others = scopes.filter((scope) => !allowedScopes.includes(scope));
  throw new InvalidConsent(`the application may not request ${others.join(" ")}`);
}

export interface Revocation extends ConsentKey {
  readonly actor: string;
  readonly address?: string;
}

/**
 * Revokes the consent with its refresh tokens; introspection then rejects the access tokens too.
 * @returns false when there is no such active consent
 */
export function revokeConsent(deps: ConsentDeps, revocation: Revocation): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const consent = await markConsentRevoked(tx, revocation, { by: revocation.actor, now });
    if (consent) await revokeTokens(tx, consent, revocation, { now, action: "consent.revoked" });
    return consent !== undefined;
  });
}

/** @returns false when there is no such record */
export function deletePreauthorization(
  deps: ConsentDeps,
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
  { actor, address }: Revocation,
  { now, action }: { now: number; action: AuditAction },
): Promise<void> {
  const { orgId, id: consentId, applicationId: target, scopes } = consent;
  const ended = await revokeTokenFamilies(tx, { orgId, consentId, now, reason: "consent_revoked" });
  await recordAuditEvent(tx, {
    orgId,
    at: now,
    actor,
    action,
    target,
    address,
    details: { scopes, ended },
  });
}
