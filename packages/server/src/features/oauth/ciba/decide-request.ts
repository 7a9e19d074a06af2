/** A user's decision about a CIBA request, once; an approval, its consent and its audit event are written together. */
import { newUuid } from "@signet/protocol/uuid";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { approveRequest, denyRequest } from "../../../core/ciba-requests/ciba-requests.store.ts";
import { consentStatus } from "../../../core/consents/consent.ts";
import { findConsents, grantUserConsent } from "../../../core/consents/consents.store.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../core/tokens/signer.ts";
import type { Db } from "../../../db/open.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import { readRequestedAcr, reportedAcr } from "../authorize/request/requested-acr.ts";
import type { OwnRequest } from "./own-request.ts";
import { queueSigning } from "./queue-signing.ts";

/** Another window has decided. */
class AlreadyDecided extends Error {}
class AdministratorConsentRequired extends Error {}

/** `signing`: approved, and an agent has to sign the tokens. `already-decided`, `ask-administrator`: nothing was written. */
export type DecisionOutcome =
  | { readonly kind: "done" | "already-decided" | "ask-administrator" }
  | { readonly kind: "signing"; readonly signingRequest: SigningRequestRef };

export async function decideRequest(
  deps: BrowserDeps,
  visit: Visit,
  own: OwnRequest,
  signedIn: SignedIn,
  decision: "allow" | "deny",
): Promise<DecisionOutcome> {
  const now = deps.clock();
  const { application, request } = own;
  const isAllowed = decision === "allow";
  const isPoolSigned = application.settings.signingPoolId !== undefined && isAllowed;
  const signing = isPoolSigned ? { familyId: newUuid(), approvedAt: now } : null;
  const authentication = authenticationFor(own, signedIn);
  try {
    const consentId = await deps.database.transaction(async (tx) => {
      const { orgId, requestHash, userId } = request;
      const key = { orgId, requestHash, now };
      const consentId = isAllowed ? await requireConsent(tx, own, now) : null;
      const approval = { userId, sessionId: signedIn.session.id, consentId, authentication };
      const isFirst = isAllowed
        ? await approveRequest(tx, key, request.scopes, approval, signing)
        : await denyRequest(tx, key, userId);
      if (!isFirst) throw new AlreadyDecided();
      await recordAuditEvent(tx, {
        ...{ orgId, at: now, actor: `user:${userId}`, address: addressOf(visit.request) },
        ...{ action: isAllowed ? "ciba-request.approved" : "ciba-request.denied", target: application.id },
        details: { scopes: request.scopes, types: request.authorizationDetails.map(({ type }) => type) },
      });
      return consentId;
    });
    const approved = signing && { signedIn, authentication, consentId, signing };
    const signingRequest = approved && (await queueSigning(deps, visit, own, approved));
    return signingRequest ? { kind: "signing", signingRequest } : { kind: "done" };
  } catch (error) {
    if (error instanceof AlreadyDecided) return { kind: "already-decided" };
    if (error instanceof AdministratorConsentRequired) return { kind: "ask-administrator" };
    throw error;
  }
}

/** With the `acr` that the client asked for, where the sign-in reaches it. */
function authenticationFor({ application, request }: OwnRequest, { session }: SignedIn) {
  const asked = readRequestedAcr(request.acrValues ?? undefined, noRequestedClaims, application.settings);
  const { authTime, amr, acr } = session;
  return { authTime, amr, acr: reportedAcr(asked, acr) };
}

/**
 * As in the code flow: an existing consent that covers the scopes, or this decision, stored. Null where none is needed.
 * @throws AdministratorConsentRequired
 */
async function requireConsent(tx: Db, own: OwnRequest, now: number): Promise<string | null> {
  const { key, status } = await readConsentStatus(tx, own);
  if (status.kind === "settled") return status.consentId;
  if (status.kind === "ask-administrator") throw new AdministratorConsentRequired();
  const { scopes, fingerprints, definitions } = own.access;
  return grantUserConsent(tx, { ...key, scopes, fingerprints, definitions, now });
}

/** Checked before the question is shown: no user gives a consent that does not count. */
export async function requiresAdministrator(db: Db, own: OwnRequest): Promise<boolean> {
  return (await readConsentStatus(db, own)).status.kind === "ask-administrator";
}

async function readConsentStatus(db: Db, { request, application, access }: OwnRequest) {
  const key = { orgId: request.orgId, applicationId: application.id, userId: request.userId };
  const mode = consentModeOf(application.settings);
  return { key, status: consentStatus(mode, await findConsents(db, key), access) };
}
