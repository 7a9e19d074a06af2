/**
 * The signing request of a device that a person has allowed (sovereign-signing.md §4): the person's browser waits for the
 * agent, who may ask there, and the device's polls are told `authorization_pending` until it has signed.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import type { DeviceSigning } from "../../../core/device-authorizations/device-authorization.ts";
import { recordDeviceSigning } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { addedClaims } from "../../../core/tokens/claims.ts";
import { type BegunSigning, unsignedTokens } from "../../../core/tokens/signer.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import type { WaitingDevice } from "./find-device.ts";

export interface AllowedDevice {
  readonly signedIn: SignedIn;
  readonly consentId: string | null;
  readonly signing: DeviceSigning;
}

/** @returns undefined when nothing can be queued now: the device's own polls try it then */
export async function beginDeviceSigning(
  deps: BrowserDeps,
  visit: Visit,
  { device, application }: WaitingDevice,
  { signedIn, consentId, signing }: AllowedDevice,
): Promise<BegunSigning | undefined> {
  const { organisation, request } = visit;
  const { user, session } = signedIn;
  const { orgId, deviceCodeHash, scopes, resources } = device;
  const { authTime, amr, acr } = session;
  const subject = {
    issuer: await deps.poolSigning.issuer(organisation, application),
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
    },
  };
  const added = await addedClaims(deps, subject);
  try {
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
    await recordDeviceSigning(deps.database.query, {
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
