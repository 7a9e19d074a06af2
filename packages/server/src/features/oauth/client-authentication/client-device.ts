/**
 * The device behind a request, by its TLS client certificate (RFC 8705). Looked up only for clients that use certificates,
 * at every request (device-identity.md §3).
 */

import { readCertificate } from "@signet/protocol/certificates/certificate";
import { certificateBinding } from "@signet/protocol/certificates/certificate-binding";
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../../../core/applications/client-keys.ts";
import type { CertifiedDevice } from "../../../core/devices/devices.store.ts";
import { type PresentedDeviceDeps, presentedDevice } from "../../../core/devices/presented-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { AccessTokenClaims, TokenDevice } from "../../../core/tokens/claims.ts";
import { type Arrived, clientCertificate } from "../../../http/listeners/client-certificate.ts";

/** @returns the device, or the reason for the log */
async function requestDevice(
  deps: PresentedDeviceDeps,
  orgId: string,
  call: Arrived,
): Promise<CertifiedDevice | string> {
  const der = clientCertificate(call);
  if (!der) return "the request has no client certificate";
  const presented = await presentedDevice(deps, orgId, der);
  return presented.kind === "good" ? presented : `the certificate is ${presented.reason}`;
}

/**
 * tls_client_auth (RFC 8705 §2.1): the device whose URI the client has registered, or any device of the organisation.
 * @returns the device, or the reason for the log
 */
export async function authenticatingDevice(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  call: Arrived,
): Promise<CertifiedDevice | string> {
  const presented = await requestDevice(deps, orgId, call);
  const { tlsClientAuthSanUri: uri } = settings;
  if (typeof presented === "string" || uri === undefined) return presented;
  const isNamed = readCertificate(presented.certificate.der).subjectUris.includes(uri);
  return isNamed ? presented : "the certificate does not have tlsClientAuthSanUri";
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
 * certificate came beside another method. @throws OAuthError when bound tokens lack a certificate
 */
export async function tokenDevice(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  clientDevice: CertifiedDevice | undefined,
  call: Arrived,
): Promise<TokenDevice | undefined> {
  const isBound = settings.tlsClientCertificateBoundAccessTokens;
  if (settings.tokenEndpointAuthMethod === "self_signed_tls_client_auth") {
    const der = isBound ? clientCertificate(call) : undefined;
    return der && { thumbprint: sha256Base64url(der) };
  }
  const presented = clientDevice ?? (isBound ? await requestDevice(deps, orgId, call) : undefined);
  if (presented === undefined) return undefined;
  if (typeof presented === "string")
    throw new OAuthError("invalid_request", "the client's tokens are bound to a certificate: send one", {
      cause: presented,
    });
  const { device, certificate } = presented;
  const { id, attestation } = device;
  return { id, attestation, ...(isBound ? { thumbprint: certificate.fingerprint } : {}) };
}

/**
 * Whether a request without a DPoP proof may use the token: with the certificate that it is bound to (RFC 8705 §3). True for an
 * unbound token.
 */
export const hasValidBinding = async (
  deps: PresentedDeviceDeps,
  organisation: Organisation,
  call: Arrived,
  claims: AccessTokenClaims,
): Promise<boolean> =>
  claims.cnf?.jkt === undefined && (await hasBoundCertificate(deps, organisation, call, claims));

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
  // A self-signed certificate is of no device: the key that TLS has proven is all there is.
  if (claims.device_id === undefined) return true;
  const presented = await presentedDevice(deps, orgId, der);
  return presented.kind === "good" && presented.device.id === claims.device_id;
}
