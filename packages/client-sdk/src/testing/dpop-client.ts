/** A caller with DPoP proofs (RFC 9449), valid or invalid in every way. */
import { createHash } from "node:crypto";
import { calculateJwkThumbprint } from "jose";
import { signedToken, type TestKey, testKey } from "./signed-token.ts";

export interface DpopClient {
  readonly key: TestKey;
  /** For `cnf.jkt` of its tokens. */
  readonly thumbprint: string;
  /** @param changes of header and claims; undefined removes a member */
  proof(expected: DpopTarget, changes?: ProofChanges): Promise<string>;
}

export interface DpopTarget {
  readonly method: string;
  readonly url: string;
  readonly token: string;
  /** Milliseconds. */
  readonly now: number;
}

export interface ProofChanges {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs instead. */
  readonly key?: Pick<TestKey, "sign">;
}

export async function dpopClient(alg = "ES256"): Promise<DpopClient> {
  const key = await testKey("dpop", alg);
  const { kid, use, alg: _, ...members } = key.jwk;
  // Of an AKP key it is a member (RFC 9964 §3).
  const jwk = members.kty === "AKP" ? { ...members, alg } : members;
  return {
    key,
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: ({ method, url, token, now }, changes = {}) => {
      const ath = createHash("sha256").update(token).digest("base64url");
      const claims = { jti: crypto.randomUUID(), htm: method, htu: url, iat: now / 1000, ath };
      const header = { typ: "dpop+jwt", alg, jwk, ...changes.header };
      return signedToken(changes.key ?? key, header, { ...claims, ...changes.claims });
    },
  };
}
