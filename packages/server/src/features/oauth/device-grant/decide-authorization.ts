/** A user's decision about a device authorization, once; an approval, its consent and its audit event are written together. */
import { newUuid } from "@signet/protocol/uuid";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { consentStatus } from "../../../core/consents/consent.ts";
import { findConsents, grantUserConsent } from "../../../core/consents/consents.store.ts";
import {
  approveAuthorization,
  denyAuthorization,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../core/tokens/signer.ts";
import type { Db } from "../../../db/open.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import { type PendingAuthorization, requestedScopes } from "./find-authorization.ts";
import { queueSigning } from "./queue-signing.ts";

/** Another user or another window has decided. */
class AlreadyDecided extends Error {}

class AdministratorConsentRequired extends Error {}

/** `signing`: approved, and an agent has to sign the tokens. `already-decided`, `ask-administrator`: nothing was written. */
export type DecisionOutcome =
  | { readonly kind: "done" | "already-decided" | "ask-administrator" }
  | { readonly kind: "signing"; readonly signingRequest: SigningRequestRef };

export async function decideAuthorization(
  deps: BrowserDeps,
  visit: Visit,
  pending: PendingAuthorization,
  signedIn: SignedIn,
  decision: "allow" | "deny",
): Promise<DecisionOutcome> {
  const now = deps.clock();
  const { authorization, application } = pending;
  const { orgId, deviceCodeHash } = authorization;
  const { user, session } = signedIn;
  const isAllowed = decision === "allow";
  const isPoolSigned = application.settings.signingPoolId !== undefined && isAllowed;
  const signing = isPoolSigned ? { familyId: newUuid(), approvedAt: now } : null;
  try {
    const consentId = await deps.database.transaction(async (tx) => {
      const key = { orgId, deviceCodeHash, now };
      const consentId = isAllowed ? await requireConsent(tx, pending, user.id, now) : null;
      const approval = { userId: user.id, sessionId: session.id, consentId, authentication: session };
      const isFirst = isAllowed
        ? await approveAuthorization(tx, key, authorization.scopes, approval, signing)
        : await denyAuthorization(tx, key, user.id);
      if (!isFirst) throw new AlreadyDecided();
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor: `user:${user.id}`,
        action: isAllowed ? "device.approved" : "device.denied",
        target: application.id,
        address: addressOf(visit.request),
        details: { scopes: authorization.scopes, deviceAddress: authorization.address },
      });
      return consentId;
    });
    const signingRequest =
      signing && (await queueSigning(deps, visit, pending, { signedIn, consentId, signing }));
    return signingRequest ? { kind: "signing", signingRequest } : { kind: "done" };
  } catch (error) {
    if (error instanceof AlreadyDecided) return { kind: "already-decided" };
    if (error instanceof AdministratorConsentRequired) return { kind: "ask-administrator" };
    throw error;
  }
}

/**
 * As in the code flow: an existing consent that covers the scopes, or this decision, stored. Null where none is needed.
 * @throws AdministratorConsentRequired
 */
async function requireConsent(
  tx: Db,
  pending: PendingAuthorization,
  userId: string,
  now: number,
): Promise<string | null> {
  const { key, scopes, status } = await readConsentStatus(tx, pending, userId);
  if (status.kind === "settled") return status.consentId;
  if (status.kind === "ask-administrator") throw new AdministratorConsentRequired();
  return grantUserConsent(tx, { ...key, ...scopes, now });
}

/** Checked before the question is shown: no user gives a consent that does not count. */
export async function requiresAdministrator(
  db: Db,
  pending: PendingAuthorization,
  { user }: SignedIn,
): Promise<boolean> {
  const { status } = await readConsentStatus(db, pending, user.id);
  return status.kind === "ask-administrator";
}

async function readConsentStatus(db: Db, pending: PendingAuthorization, userId: string) {
  const { authorization, application } = pending;
  const key = { orgId: authorization.orgId, applicationId: application.id, userId };
  const scopes = requestedScopes(pending);
  const mode = consentModeOf(application.settings);
  return { key, scopes, status: consentStatus(mode, await findConsents(db, key), scopes) };
}
