/**
 * The device behind a request, by its TLS client certificate (RFC 8705). Looked up only for clients that use certificates,
 * at every request (device-identity.md §3).
 */

import { readCertificate } from "@signet/protocol/certificates/certificate";
import { certificateBinding } from "@signet/protocol/certificates/certificate-binding";
import { hasClientName } from "@signet/protocol/certificates/client-certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import { registeredName } from "../../../core/applications/certificate-names.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../../../core/applications/client-keys.ts";
import { trustedClientFault } from "../../../core/client-authorities/trusted-client.ts";
import type { CertifiedDevice } from "../../../core/devices/devices.store.ts";
import { type PresentedDeviceDeps, presentedDevice } from "../../../core/devices/presented-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { AccessTokenClaims, TokenDevice } from "../../../core/tokens/claims.ts";
import {
  type Arrived,
  clientCertificate,
  clientCertificateChain,
} from "../../../http/listeners/client-certificate.ts";

/**
 * Whose certificate authenticated a client: a device's, or one of an authority that the organisation trusts; or the device that
 * vouched for it, with no certificate in TLS.
 */
export type AuthenticatedCertificate =
  | { readonly kind: "device" | "attested"; readonly device: CertifiedDevice }
  | { readonly kind: "authority" };

/**
 * tls_client_auth (RFC 8705 §2.1): any device of the organisation, or what has the one name that the client has registered: a
 * device, or a certificate of an authority that the organisation trusts.
 * @returns the certificate, or the reason for the log
 */
export async function authenticatingCertificate(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  call: Arrived,
): Promise<AuthenticatedCertificate | string> {
  const der = clientCertificate(call);
  if (!der) return "the request has no client certificate";
  const name = registeredName(settings);
  const presented = await presentedDevice(deps, orgId, der);
  if (presented.kind === "good") {
    const { certificate } = presented;
    const isNamed = name === undefined || hasClientName(readCertificate(certificate.der), name);
    return isNamed
      ? { kind: "device", device: presented }
      : "the certificate does not have the registered name";
  }
  // A device's certificate is of its own CA alone: revoked there, it is of no other authority.
  if (presented.reason !== "unknown" || name === undefined) return `the certificate is ${presented.reason}`;
  const chain = clientCertificateChain(call);
  const fault = await trustedClientFault(deps, orgId, { der, chain, name });
  return fault === undefined ? { kind: "authority" } : `the certificate ${fault}`;
}

/**
 * self_signed_tls_client_auth (RFC 8705 §2.2): a certificate of the client's JWKS, compared byte by byte; whoever can change the
 * JWKS ends it, its dates and issuer say nothing.
 * @returns the reason for the log when it is refused
 */
export async function selfSignedRefusal(
  clientKeys: ClientKeys,
  application: Application,
  call: Arrived,
): Promise<string | undefined> {
  const der = clientCertificate(call);
  if (!der) return "the request has no client certificate";
  try {
    const isRegistered = await clientKeys.hasCertificate(application, der);
    return isRegistered ? undefined : "the certificate is not in the client's JWKS";
  } catch (error) {
    if (error instanceof ClientKeysUnavailable) return error.message;
    throw error;
  }
}

/**
 * The device that the tokens name: the one that authenticated the client, or for certificate-bound tokens the one whose
 * certificate came beside another method. A certificate of no device binds tokens and names nothing (RFC 8705 §3: whatever
 * authenticated the client).
 * @throws OAuthError when bound tokens lack a certificate
 */
export async function tokenDevice(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  authenticated: AuthenticatedCertificate | undefined,
  call: Arrived,
): Promise<TokenDevice | undefined> {
  const isBound = settings.tlsClientCertificateBoundAccessTokens;
  const { tokenEndpointAuthMethod: method } = settings;
  if (authenticated?.kind === "device") return namedDevice(authenticated.device, isBound);
  const attesting = authenticated?.kind === "attested" ? authenticated.device : undefined;
  if (!isBound) return attesting && namedDevice(attesting, false);
  const der = clientCertificate(call);
  if (!der) throw lackingCertificate("the request has no client certificate");
  const bare = { thumbprint: sha256Base64url(der) };
  if (authenticated?.kind === "authority" || method === "self_signed_tls_client_auth") return bare;
  const presented = await presentedDevice(deps, orgId, der);
  if (presented.kind === "good") {
    if (attesting && attesting.device.id !== presented.device.id)
      throw lackingCertificate("the certificate is not of the device that vouches for the client");
    return namedDevice(presented, isBound);
  }
  // A public client's refresh tokens are bound to a device (§4): it has no other proof of who refreshes.
  if (presented.reason === "unknown" && method !== "none" && !attesting) return bare;
  throw lackingCertificate(`the certificate is ${presented.reason}`);
}

const namedDevice = (
  { device: { id, attestation }, certificate }: CertifiedDevice,
  isBound: boolean,
): TokenDevice => ({ id, attestation, ...(isBound ? { thumbprint: certificate.fingerprint } : {}) });

const lackingCertificate = (cause: string): OAuthError =>
  new OAuthError("invalid_request", "the client's tokens are bound to a certificate: send one", { cause });

/** RFC 8705 §3: whether the request has the certificate that the token is bound to. True for a token of none. */
export async function hasBoundCertificate(
  deps: PresentedDeviceDeps,
  { id: orgId }: Organisation,
  call: Arrived,
  claims: AccessTokenClaims,
): Promise<boolean> {
  // Of a key alone: see sender-constraint.ts.
  if (typeof claims.cnf?.jkt === "string" && claims.cnf["x5t#S256"] === undefined) return true;
  const der = claims.cnf === undefined ? undefined : clientCertificate(call);
  const binding = certificateBinding(claims, der);
  if (binding !== "holds" || der === undefined) return binding === "unbound";
  // A self-signed certificate, and one of an authority, is of no device: the key that TLS has proven is all there is.
  if (claims.device_id === undefined) return true;
  const presented = await presentedDevice(deps, orgId, der);
  return presented.kind === "good" && presented.device.id === claims.device_id;
}
