/** Signed authorization requests (RFC 9101; FAPI 2.0 Message Signing §5.3.2). */
import { importJWK, SignJWT } from "jose";
import type { RequestSigner } from "./client-security.ts";

const LIFETIME_SECONDS = 300;

interface RequestObjectContext {
  readonly signer: RequestSigner;
  readonly clientId: string;
  /** The only audience: another provider must not take it. */
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Everything that the request asks for, in one object that nobody else can make. */
export async function signRequestObject(
  parameters: Readonly<Record<string, string>>,
  { signer, clientId, issuer, clock }: RequestObjectContext,
): Promise<string> {
  const { alg, kid } = signer;
  const key = "kty" in signer.key ? await importJWK(signer.key, alg) : signer.key;
  const now = Math.floor(clock() / 1000);
  const header = { alg, typ: "oauth-authz-req+jwt", ...(kid === undefined ? {} : { kid }) };
  return new SignJWT({ ...parameters, client_id: clientId, jti: crypto.randomUUID() })
    .setProtectedHeader(header)
    .setIssuer(clientId)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .sign(key);
}
