/**
 * The signing request of an approved device authorization (sovereign-signing.md §4): the user's browser waits for the agent,
 * which may ask for confirmation there; polls get `authorization_pending` until the agent has signed.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import type { DeviceSigning } from "../../../core/device-authorizations/device-authorization.ts";
import { recordSigning } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { readAccessRules, tokenResource } from "../../../core/protected-resources/asked-access.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { applicationIssuer } from "../../../core/signing-pools/directory.ts";
import { addedClaims } from "../../../core/tokens/claims.ts";
import { type SigningRequestRef, unsignedTokens } from "../../../core/tokens/signer.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import type { PendingAuthorization } from "./find-authorization.ts";

export interface ApprovedAuthorization {
  readonly signedIn: SignedIn;
  readonly consentId: string | null;
  readonly signing: DeviceSigning;
}

/** @returns undefined when nothing can be queued now: the polls of the client try again */
export async function queueSigning(
  deps: BrowserDeps,
  visit: Visit,
  { authorization, application }: PendingAuthorization,
  { signedIn, consentId, signing }: ApprovedAuthorization,
): Promise<SigningRequestRef | undefined> {
  const { organisation, request } = visit;
  const { user, session } = signedIn;
  const { orgId, deviceCodeHash, scopes, definitions, resources, createdAt } = authorization;
  const { authTime, amr, acr } = session;
  try {
    const rules = await readAccessRules(deps, orgId);
    const subject = {
      resource: tokenResource({ scopes, resources }, application, rules),
      issuer: await applicationIssuer(deps, application),
      application,
      scopes,
      resources,
      user: {
        user,
        authentication: { authTime, amr, acr },
        nonce: null,
        sessionId: session.id,
        familyId: signing.familyId,
        consentId,
        requestedClaims: noRequestedClaims,
        granted: { definitions, createdAt },
      },
    };
    const added = await addedClaims(deps, subject);
    const begun = await deps.poolSigning.begin(
      unsignedTokens(organisation, { ...subject, added }, deps.clock()),
      {
        grantType: deviceCodeGrantType,
        address: addressOf(request),
        waiting: {
          sessionId: session.id,
          continuation: { kind: "device", applicationId: application.id },
        },
      },
    );
    await recordSigning(deps.database.query, {
      orgId,
      deviceCodeHash,
      signing: { ...signing, begun },
    });
    return begun;
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
