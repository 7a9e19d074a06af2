/**
 * The device that a client's request comes from, by the certificate that came with it (RFC 8705): asked only for clients
 * that use certificates, and anew at every request (device-identity.md §3).
 */
import { readCertificate } from "@signet/protocol/certificates/certificate";
import { certificateBinding } from "@signet/protocol/certificates/certificate-binding";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyRequest } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import type { CertifiedDevice } from "../../../core/devices/devices.store.ts";
import { type PresentedDeviceDeps, presentedDevice } from "../../../core/devices/presented-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { AccessTokenClaims, TokenDevice } from "../../../core/tokens/claims.ts";
import { clientCertificateOf } from "../../../http/listeners/client-certificate.ts";

/** @returns the device, or why there is none: for the log */
async function deviceOf(
  deps: PresentedDeviceDeps,
  orgId: string,
  request: FastifyRequest,
): Promise<CertifiedDevice | string> {
  const der = clientCertificateOf(request);
  if (!der) return "no certificate came with the request";
  const presented = await presentedDevice(deps, orgId, der);
  return presented.kind === "good" ? presented : `the certificate is ${presented.reason}`;
}

/**
 * tls_client_auth (RFC 8705 §2.1): one device that the client has registered, or any of its organisation.
 * @returns the device, or why the client has not proven itself
 */
export async function authenticatingDevice(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  request: FastifyRequest,
): Promise<CertifiedDevice | string> {
  const found = await deviceOf(deps, orgId, request);
  const { tlsClientAuthSanUri: uri } = settings;
  if (typeof found === "string" || uri === undefined) return found;
  const isNamed = readCertificate(found.certificate.der).subjectUris.includes(uri);
  return isNamed ? found : "the certificate is not for tlsClientAuthSanUri";
}

/**
 * The device that the tokens will be about: the one that has proven the client, or for bound tokens the one whose certificate
 * came beside another proof. @throws OAuthError when bound tokens have nothing to be bound to
 */
export async function tokenDevice(
  deps: PresentedDeviceDeps,
  { orgId, settings }: Application,
  proven: CertifiedDevice | undefined,
  request: FastifyRequest,
): Promise<TokenDevice | undefined> {
  const isBound = settings.tlsClientCertificateBoundAccessTokens;
  const found = proven ?? (isBound ? await deviceOf(deps, orgId, request) : undefined);
  if (found === undefined) return undefined;
  if (typeof found === "string")
    throw new OAuthError(
      "invalid_request",
      "the client's tokens are bound to a device: its certificate is needed",
      {
        cause: found,
      },
    );
  const { device, certificate } = found;
  const { id, attestation } = device;
  return { id, attestation, ...(isBound ? { thumbprint: certificate.fingerprint } : {}) };
}

/** RFC 8705 §3: whether a token is in the hands that it was given to. A token that is bound to nothing is. */
export async function isInItsHands(
  deps: PresentedDeviceDeps,
  { id: orgId }: Organisation,
  request: FastifyRequest,
  claims: AccessTokenClaims,
): Promise<boolean> {
  const der = claims.cnf === undefined ? undefined : clientCertificateOf(request);
  const binding = certificateBinding(claims, der);
  if (binding !== "holds" || der === undefined) return binding === "unbound";
  const presented = await presentedDevice(deps, orgId, der);
  return presented.kind === "good" && presented.device.id === claims.device_id;
}
