/** Forged tokens, each one change away from a valid one. */
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Service } from "../../modules/open-service.ts";
import { headerOf, payloadOf } from "./answers.ts";

const encode = (part: object | string): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

export function signedWith(
  header: object,
  payload: object,
  key: KeyObject,
  digest: string | null = "sha256",
) {
  const input = `${encode(header)}.${encode(payload)}`;
  const signature = sign(digest, Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
  return `${input}.${signature.toString("base64url")}`;
}

/** @param service whose public keys are misused as HMAC keys; its private keys are not used */
export async function forgedTokens(
  service: Service,
  orgId: string,
  token: string,
): Promise<Record<string, string>> {
  const [header, payload] = [headerOf(token), payloadOf(token)];
  const [first = "", second = "", third = ""] = token.split(".");
  const unsigned = (alg: string) => `${encode({ ...header, alg })}.${second}.`;
  const key = (await service.keys.published(orgId)).find(({ kid }) => kid === header["kid"]);
  if (!key) throw new Error("the token's key is not published");
  const secrets = {
    pem: String(key.publicKey.export({ format: "pem", type: "spki" })),
    der: key.publicKey.export({ format: "der", type: "spki" }),
    jwk: JSON.stringify(key.publicJwk),
    kid: key.kid,
    empty: "",
  };
  const hmac = Object.entries(secrets).map(([name, secret]) => {
    const input = `${encode({ ...header, alg: "HS256" })}.${second}`;
    const signature = createHmac("sha256", secret).update(input).digest("base64url");
    return [`HS256 with the public ${name}`, `${input}.${signature}`] as const;
  });
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = own.publicKey.export({ format: "jwk" });
  const byOwnKey = (more: object) => signedWith({ ...header, ...more }, payload, own.privateKey);
  return {
    ...Object.fromEntries(hmac),
    "alg none": unsigned("none"),
    "alg None": unsigned("None"),
    "alg none with the old signature": `${encode({ ...header, alg: "none" })}.${second}.${third}`,
    "no alg": `${encode({ ...header, alg: undefined })}.${second}.${third}`,
    "another alg of the same key": `${encode({ ...header, alg: "RS256" })}.${second}.${third}`,
    "no signature": `${first}.${second}.`,
    "the attacker's key under our kid": byOwnKey({}),
    "the attacker's key in the header": byOwnKey({ jwk }),
    "the attacker's key by address": byOwnKey({ jku: "http://127.0.0.1:9/jwks", kid: "own" }),
    "the attacker's certificate": byOwnKey({ x5c: ["AAAA"], x5u: "http://127.0.0.1:9/" }),
    "no kid": byOwnKey({ kid: undefined }),
    "a kid that is no text": byOwnKey({ kid: { $ne: "" } }),
    "a kid that looks for a file": byOwnKey({ kid: "../../../../dev/null" }),
    "a kid that looks like SQL": byOwnKey({ kid: "' or '1'='1" }),
    "a kid of the prototype": byOwnKey({ kid: "__proto__" }),
    "another subject": `${first}.${encode({ ...payload, sub: "00000000-0000-4000-8000-000000000000" })}.${third}`,
    "a later end": `${first}.${encode({ ...payload, exp: Number(payload["exp"]) + 9_999 })}.${third}`,
    "a zero signature": `${first}.${second}.${Buffer.alloc(64).toString("base64url")}`,
    "a signature in DER": `${first}.${second}.${Buffer.concat([Buffer.of(0x30, 0x44), Buffer.from(third, "base64url")]).toString("base64url")}`,
    "another spelling of the signature": `${first}.${second}.${third}=`,
    "a critical extension": `${encode({ ...header, crit: ["exp"] })}.${second}.${third}`,
    "five parts": `${token}.a.b`,
  };
}

/** A token with other claims or another header, signed with the service's active key. */
export async function signedByService(
  service: Service,
  orgId: string,
  header: object,
  payload: object,
): Promise<string> {
  const { privateKey, kid, alg } = await service.keys.signer(orgId, "ES256");
  return signedWith(
    { alg, kid, ...header },
    payload,
    createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })),
  );
}
