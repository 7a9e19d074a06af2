/** The JWT of a browser's key (DBSC §9.10, "DBSC proof"): what it says, and whether the key signed it. */
import { createPublicKey, type webcrypto } from "node:crypto";
import { decodeJwsUnverified, type TokenAlg, verifyJws } from "@signet/protocol/jose/jws";
import type { FastifyRequest } from "fastify";
import { clientJwkFault } from "../../../core/applications/client-jwks.ts";

const MAX_LENGTH = 4_096;
const PROOF_TYPE = { typ: ["dbsc+jwt"] };

/** The public members alone are kept, whatever else the browser sends. */
const kinds = {
  ES256: { kty: "EC", members: ["kty", "crv", "x", "y"] },
  RS256: { kty: "RSA", members: ["kty", "n", "e"] },
} as const;
export type BindingAlg = keyof typeof kinds;

const isBindingAlg = (alg: unknown): alg is BindingAlg => alg === "ES256" || alg === "RS256";

/** `Secure-Session-Response`: a structured string; quotes are left out by some versions. */
export function presentedProof({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const text = headers["secure-session-response"];
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  return /^\s*"?([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)"?\s*(?:;.*)?$/.exec(text)?.[1];
}

/** `Sec-Secure-Session-Id`, which no script of a page can set. */
export function presentedSessionId({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const text = headers["sec-secure-session-id"];
  return typeof text === "string" ? /^\s*"?([0-9a-f-]{36})"?\s*(?:;.*)?$/.exec(text)?.[1] : undefined;
}

/** The challenge that a proof answers; nothing is verified. */
export function answeredChallenge(proof: string): string {
  const jti = decodeJwsUnverified(proof)?.payload["jti"];
  return typeof jti === "string" ? jti : "";
}

/** The key of a registration, which has signed it, as JSON; or why it is not taken. */
export function registeredKey(
  proof: string,
): { readonly alg: BindingAlg; readonly boundKey: string } | { readonly fault: string } {
  const header = decodeJwsUnverified(proof)?.header;
  const alg = header?.["alg"];
  if (!header || !isBindingAlg(alg)) return { fault: "the proof is not signed by ES256 or RS256" };
  const fault = clientJwkFault(header["jwk"]);
  if (fault !== undefined) return { fault: `the key ${fault}` };
  const sent = header["jwk"] as Readonly<Record<string, unknown>>;
  const { kty, members } = kinds[alg];
  if (sent["kty"] !== kty) return { fault: `the key is none for ${alg}` };
  const boundKey = JSON.stringify(Object.fromEntries(members.map((name) => [name, sent[name]])));
  return isSignedBy(proof, boundKey) ? { alg, boundKey } : { fault: "the proof has no signature of its key" };
}

/** Whether the session's own key signed it. A key that the proof brings along is of no account. */
export function isSignedBy(proof: string, boundKey: string): boolean {
  const jwk = JSON.parse(boundKey) as webcrypto.JsonWebKey;
  const alg: TokenAlg = jwk.kty === "EC" ? "ES256" : "RS256";
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  return verifyJws(proof, () => ({ publicKey, alg }), PROOF_TYPE) !== undefined;
}
