/** Consents of every kind: given by administrators, and taken back by whom they belong to. */

import { isSubset } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { holdApplication } from "../applications/applications.store.ts";
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

/** There is a record of the same scopes for the same application. */
export class ConsentThere extends Error {
  constructor() {
    super("the application is pre-authorized for these scopes already");
    this.name = "ConsentThere";
  }
}

export interface AdministratorsGrant {
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly actor: string;
  readonly address?: string;
}

/**
 * Yes, for all users of the organisation; scopes are added to those granted before.
 * @returns the record's id. @throws InvalidConsent
 */
export async function grantOrganisationConsent(
  deps: ConsentDeps,
  grant: AdministratorsGrant,
): Promise<string> {
  return (await grantByAdministrator(deps, grant)).id;
}

/**
 * Yes, for one user or for all of the organisation; scopes are added to those granted before.
 * @throws InvalidConsent
 */
export async function grantByAdministrator(
  deps: ConsentDeps,
  grant: AdministratorsGrant & { readonly userId?: string },
): Promise<Granted> {
  requireAskable(grant);
  const { application, scopes, actor, address, userId } = grant;
  const { orgId, id: applicationId } = application;
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    // Kept from being deleted meanwhile.
    if (!(await holdApplication(tx, application))) throw new InvalidConsent("the application is gone");
    // For all users, what a scope gives is the same administrators' decision; one user's consent is to what it gives today.
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

/** Yes, ahead of any request; each is a record of its own. @throws InvalidConsent, ConsentThere */
export async function createPreauthorization(
  deps: ConsentDeps,
  grant: AdministratorsGrant,
): Promise<Consent> {
  requireAskable(grant);
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
    if (!(await holdApplication(tx, application))) throw new InvalidConsent("the application is gone");
    const others = await preauthorizedScopes(tx, { orgId, applicationId });
    if (others.some((one) => isSubset(one, scopes) && isSubset(scopes, one))) throw new ConsentThere();
    await insertPreauthorization(tx, record);
    const event = {
      orgId,
      at: now,
      actor,
      action: "preauthorization.created" as const,
      target: applicationId,
    };
    await recordAuditEvent(tx, { ...event, address, details: { scopes } });
  });
  return record;
}

/** A yes to what can never be asked would only look like a permission. */
function requireAskable({ application, scopes }: AdministratorsGrant): void {
  const { allowedScopes } = application.settings;
  if (scopes.length === 0) throw new InvalidConsent("at least one scope is needed");
  if (isSubset(scopes, allowedScopes)) return;
  const others = scopes.filter((scope) => !allowedScopes.includes(scope));
  throw new InvalidConsent(`the application may not ask for ${others.join(" ")}`);
}

export interface Taking extends ConsentKey {
  readonly actor: string;
  readonly address?: string;
}

/**
 * A user's consent, or the organisation's. What rests on it ends at once: refresh tokens, and with them access tokens
 * wherever they are asked about.
 * @returns false when there is no such living consent
 */
export function revokeConsent(deps: ConsentDeps, taking: Taking): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const consent = await markConsentRevoked(tx, taking, { by: taking.actor, now });
    if (consent) await endWhatRests(tx, consent, taking, { now, action: "consent.revoked" });
    return consent !== undefined;
  });
}

/** @returns false when there is no such record */
export function deletePreauthorization(deps: ConsentDeps, taking: Omit<Taking, "userId">): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const record = await removePreauthorization(tx, taking);
    if (record) await endWhatRests(tx, record, taking, { now, action: "preauthorization.deleted" });
    return record !== undefined;
  });
}

async function endWhatRests(
  tx: Db,
  consent: Consent,
  { actor, address }: Taking,
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
    ...(address === undefined ? {} : { address }),
    details: { scopes, ended },
  });
}
