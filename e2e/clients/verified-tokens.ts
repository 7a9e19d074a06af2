/** What an application and an API find out about the tokens by themselves, with `jose` and the published keys. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from "jose";

export type TokenExpectations = {
  issuer: string;
  jwksUri: string;
  clientId: string;
  /** Undefined: of a refresh, without a nonce of its own. */
  nonce?: string | undefined;
};

/** The answer's tokens, verified as OpenID Connect Core §3.1.3.7 and RFC 9068 §4 ask for. */
export async function verifyTokens(
  tokens: { id_token?: string | undefined; access_token: string },
  expected: TokenExpectations,
): Promise<{ idToken: JWTPayload; accessToken: JWTPayload }> {
  const { issuer, clientId } = expected;
  const keys = createRemoteJWKSet(new URL(expected.jwksUri));
  const idToken = await jwtVerify(tokens.id_token ?? "", keys, {
    issuer,
    audience: clientId,
    requiredClaims: ["sub", "iat", "exp", "auth_time", "sid"],
  });
  if (expected.nonce !== undefined) assert.equal(idToken.payload["nonce"], expected.nonce);
  const digest = createHash("sha256").update(tokens.access_token).digest();
  assert.equal(idToken.payload["at_hash"], digest.subarray(0, 16).toString("base64url"));

  const accessToken = await verifyAccessToken(tokens.access_token, expected);
  assert.equal(accessToken.sub, idToken.payload.sub);
  assert.equal(accessToken["auth_time"], idToken.payload["auth_time"]);
  return { idToken: idToken.payload, accessToken };
}

/** @throws JOSEError when an API that follows RFC 9068 would not accept it */
export async function verifyAccessToken(
  token: string,
  { issuer, jwksUri, clientId }: TokenExpectations,
): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(jwksUri)), {
    issuer,
    audience: issuer,
    typ: "at+jwt",
    requiredClaims: ["sub", "iat", "exp", "jti", "client_id"],
  });
  assert.equal(payload["client_id"], clientId);
  assert.equal(protectedHeader.alg, "ES256");
  return payload;
}
