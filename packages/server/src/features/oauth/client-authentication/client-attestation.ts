/**
 * A device vouches for a client (draft-ietf-oauth-attestation-based-client-auth): by the key of its certificate it says that a
 * key belongs to the client on it, and whoever asks proves that it has that key, by a JWT of its own or by the DPoP proof of
 * the request. So the chain from the TPM to the token has no gap: the key is in the certificate's, the certificate is the
 * organisation's, and a revoked device ends all of it.
 */
import { createPublicKey, type KeyObject, type webcrypto, X509Certificate } from "node:crypto";
import { readCertificate } from "@signet/protocol/certificates/certificate";
import { hasClientName } from "@signet/protocol/certificates/client-certificate";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import { decodeJwsUnverified, verifyJws } from "@signet/protocol/jose/jws";
import type { Application } from "../../../core/applications/application.ts";
import { registeredName } from "../../../core/applications/certificate-names.ts";
import { clientJwkFault } from "../../../core/applications/client-jwks.ts";
import { seconds } from "../../../core/clock.ts";
import { consumeOnce } from "../../../core/consumed-values.store.ts";
import type { CertifiedDevice } from "../../../core/devices/devices.store.ts";
import { type PresentedDeviceDeps, presentedDevice } from "../../../core/devices/presented-device.ts";
import { readDpopProof } from "../../../core/dpop/dpop-proof.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { type ApplicationIssuerDeps, applicationIssuer } from "../../../core/signing-pools/directory.ts";
import type { Call } from "../../../http/calls/call.ts";
import { endpointUrls } from "../sender-constraint.ts";

export interface ClientAttestationDeps extends PresentedDeviceDeps, ApplicationIssuerDeps {
  readonly baseUrl: string;
  /** The base URL of the mTLS endpoints, when it differs. */
  readonly mtlsBaseUrl: string | undefined;
}

type Asked = Pick<Call, "headers" | "raw" | "route">;

const ATTESTATION = "oauth-client-attestation";
const PROOF = "oauth-client-attestation-pop";
const MAX_LENGTH = 16_384;
const MAX_PROOF_LENGTH = 4_096;
const MAX_CERTIFICATES = 4;
/** An attestation is used again and again: how long it outlives the program that it is for. */
const MAX_LIFETIME_SECONDS = 86_400;
const MAX_PROOF_AGE_SECONDS = 60;
const LEEWAY_SECONDS = 30;

/** The client that an attestation names; nothing is verified. For requests without `client_id` (§7.5). */
export function attestedClientId({ headers }: Pick<Call, "headers">): string | undefined {
  const text = headers[ATTESTATION];
  const sub = typeof text === "string" ? decodeJwsUnverified(text)?.payload["sub"] : undefined;
  return typeof sub === "string" ? sub : undefined;
}

/**
 * attest_jwt_client_auth (§7.2) and attest_jwt_client_auth_dpop (§7.3), as the client is registered.
 * @returns the device, or the reason for the log
 * @throws OAuthError invalid_dpop_proof
 */
export async function attestingDevice(
  deps: ClientAttestationDeps,
  organisation: Organisation,
  application: Application,
  call: Asked,
): Promise<CertifiedDevice | string> {
  const now = seconds(deps.clock());
  const attested = readAttestation(call.headers[ATTESTATION], application, now);
  if (typeof attested === "string") return attested;
  const audiences = [
    issuerOf(deps.baseUrl, organisation.id),
    // A client of a signing pool may have the metadata of the pool's issuer.
    await applicationIssuer(deps, application),
  ];
  const proof =
    application.settings.tokenEndpointAuthMethod === "attest_jwt_client_auth_dpop"
      ? readCombinedProof(deps, organisation, call, attested)
      : readProof(call.headers[PROOF], attested, { audiences, now });
  if (typeof proof === "string") return proof;
  // Last: whoever has no proof must not learn of a certificate, nor make a device seen.
  const presented = await presentedDevice(deps, organisation.id, attested.certificate);
  if (presented.kind === "refused") return `the device's certificate is ${presented.reason}`;
  const name = registeredName(application.settings);
  if (name !== undefined && !hasClientName(readCertificate(attested.certificate), name))
    return "the device's certificate does not have the registered name";
  const isFirst = await consumeOnce(deps.database.query, {
    orgId: organisation.id,
    kind: "client-attestation-proof",
    value: `${attested.jkt}|${proof.jti}`,
    // A NumericDate may have a fraction (RFC 7519 §2).
    expiresAt: Math.ceil((proof.iat + MAX_PROOF_AGE_SECONDS + 1) * 1000),
  });
  return isFirst ? presented : "the proof was used before";
}

interface Attested {
  /** The device's, DER. */
  readonly certificate: Buffer;
  /** Of the key that the attestation is bound to (RFC 7638). */
  readonly jkt: string;
  readonly publicKey: KeyObject;
}

/** §4, §7.1. The attester is the holder of the certificate in `x5c`, which is looked up afterwards. */
function readAttestation(text: unknown, { id }: Application, now: number): Attested | string {
  if (typeof text !== "string") return "the request has no client attestation";
  if (text.length > MAX_LENGTH) return "the client attestation is too long";
  const certificate = leafOf(decodeJwsUnverified(text)?.header["x5c"]);
  if (typeof certificate === "string") return certificate;
  const { publicKey } = certificate;
  const verified = verifyJws(text, (_, alg) => ({ publicKey, alg }), {
    typ: ["oauth-client-attestation+jwt"],
  });
  if (!verified) return "the client attestation has no valid signature of its certificate";
  const { sub, iat, exp, cnf } = verified.payload;
  if (sub !== id) return "the client attestation is of another client";
  const fault = lifetimeFault(iat, exp, now);
  if (fault !== undefined) return fault;
  const jwk = (cnf as { jwk?: unknown } | undefined)?.jwk;
  const keyFault = clientJwkFault(jwk);
  if (keyFault !== undefined) return `the key of the client attestation ${keyFault}`;
  const members = jwk as webcrypto.JsonWebKey;
  return {
    certificate: certificate.raw,
    jkt: jwkThumbprint(members),
    publicKey: createPublicKey({ key: members, format: "jwk" }),
  };
}

function leafOf(x5c: unknown): X509Certificate | string {
  const isChain = Array.isArray(x5c) && x5c.length > 0 && x5c.length <= MAX_CERTIFICATES;
  const [leaf] = isChain ? (x5c as unknown[]) : [];
  if (typeof leaf !== "string") return "the client attestation has no certificate in x5c";
  try {
    return new X509Certificate(Buffer.from(leaf, "base64"));
  } catch {
    return "the certificate of the client attestation cannot be read";
  }
}

function lifetimeFault(iat: unknown, exp: unknown, now: number): string | undefined {
  if (typeof iat !== "number" || typeof exp !== "number") return "the client attestation has no iat or exp";
  if (iat > now + LEEWAY_SECONDS) return "the client attestation is of the future";
  if (exp <= now - LEEWAY_SECONDS) return "the client attestation has expired";
  return exp - iat > MAX_LIFETIME_SECONDS ? "the client attestation lasts longer than a day" : undefined;
}

interface Proof {
  readonly jti: string;
  /** Seconds. */
  readonly iat: number;
}

/** §5.1, §7.2. */
function readProof(
  text: unknown,
  { publicKey }: Attested,
  { audiences, now }: { readonly audiences: readonly string[]; readonly now: number },
): Proof | string {
  if (typeof text !== "string") return "the request has no proof for its client attestation";
  if (text.length > MAX_PROOF_LENGTH) return "the proof is too long";
  const verified = verifyJws(text, (_, alg) => ({ publicKey, alg }), {
    typ: ["oauth-client-attestation-pop+jwt"],
  });
  if (!verified) return "the proof has no valid signature of the attested key";
  const { aud, jti, iat } = verified.payload;
  if (typeof aud !== "string" || !audiences.includes(aud)) return "the proof is for another audience";
  if (typeof jti !== "string" || jti === "" || jti.length > 255) return "the proof has no valid jti";
  const age = typeof iat === "number" ? now - iat : Number.NaN;
  if (!(age <= MAX_PROOF_AGE_SECONDS && age >= -LEEWAY_SECONDS))
    return "the proof is too old, or of the future";
  return { jti, iat: Number(iat) };
}

/** §5.2, §7.3: one proof for both; its nonce is looked at where tokens are issued. @throws OAuthError invalid_dpop_proof */
function readCombinedProof(
  deps: ClientAttestationDeps,
  organisation: Organisation,
  { headers, raw, route }: Asked,
  { jkt }: Attested,
): Proof | string {
  if (headers[PROOF] !== undefined) return "the request has a proof beside the DPoP proof";
  if (headers["dpop"] === undefined) return "the request has no DPoP proof for its client attestation";
  const proof = readDpopProof(String(headers["dpop"]), {
    method: raw.method ?? "",
    urls: endpointUrls(deps, organisation, route),
    now: deps.clock(),
  });
  return proof.jkt === jkt ? proof : "the DPoP proof is of another key than the attested one";
}
