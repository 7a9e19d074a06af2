/**
 * The signing request of an approved CIBA request, as of an approved device authorization (sovereign-signing.md §4): the user's
 * browser waits for the agent; polls get `authorization_pending` until the agent has signed.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { cibaGrantType } from "../../../core/applications/application.ts";
import { recordRequestSigning } from "../../../core/ciba-requests/ciba-requests.store.ts";
import type { DeviceSigning } from "../../../core/device-authorizations/device-authorization.ts";
import { readAccessRules, tokenResource } from "../../../core/protected-resources/asked-access.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { applicationIssuer } from "../../../core/signing-pools/directory.ts";
import { addedClaims } from "../../../core/tokens/claims.ts";
import { type SigningRequestRef, unsignedTokens } from "../../../core/tokens/signer.ts";
import type { Authentication } from "../../../core/tokens/token-family.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import type { OwnRequest } from "./own-request.ts";

export interface ApprovedRequest {
  readonly signedIn: SignedIn;
  readonly authentication: Authentication;
  readonly consentId: string | null;
  readonly signing: DeviceSigning;
}

/** @returns undefined when nothing can be queued now: the polls of the client try again */
export async function queueSigning(
  deps: BrowserDeps,
  visit: Visit,
  { request, application }: OwnRequest,
  { signedIn, authentication, consentId, signing }: ApprovedRequest,
): Promise<SigningRequestRef | undefined> {
  const { user, session } = signedIn;
  const { orgId, requestHash, scopes, definitions, resources, authorizationDetails, createdAt } = request;
  try {
    const rules = await readAccessRules(deps, orgId);
    const subject = {
      resource: tokenResource({ scopes, resources }, application, rules),
      issuer: await applicationIssuer(deps, application),
      ...{ application, scopes, resources, authorizationDetails },
      user: {
        ...{ user, authentication, consentId },
        nonce: null,
        sessionId: session.id,
        familyId: signing.familyId,
        requestedClaims: noRequestedClaims,
        granted: { definitions, createdAt },
      },
    };
    const added = await addedClaims(deps, subject);
    const tokens = unsignedTokens(visit.organisation, { ...subject, added }, deps.clock());
    const begun = await deps.poolSigning.begin(tokens, {
      grantType: cibaGrantType,
      address: addressOf(visit.request),
      waiting: {
        sessionId: session.id,
        continuation: { kind: "polled", applicationId: application.id },
      },
    });
    await recordRequestSigning(deps.database.query, { orgId, requestHash, signing: { ...signing, begun } });
    return begun;
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
