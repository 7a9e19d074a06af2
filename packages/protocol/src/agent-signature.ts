/** Signatures of signing agents (sovereign-signing.md §6): each algorithm has one kind of key, one length and one encoding. */
import { type KeyObject, verify } from "node:crypto";
import { ecdsaOptions, MIN_MODULUS_BITS, type SignatureAlgorithm, tokenAlgorithms } from "./jose/jws.ts";
import { isMlDsaAlg, mlDsaAlgs, mlDsaSizes } from "./jose/ml-dsa.ts";

export const agentAlgs = ["ES256", "ES384", "PS256", "RS256", "EdDSA", ...mlDsaAlgs] as const;
export type AgentAlg = (typeof agentAlgs)[number];

export const agentAlgorithms: Readonly<Record<AgentAlg, SignatureAlgorithm>> = {
  ...tokenAlgorithms,
  ES384: { digest: "sha384", options: ecdsaOptions, keyType: "ec", namedCurve: "secp384r1" },
};

export interface AgentVerificationKey {
  readonly publicKey: KeyObject;
  readonly alg: AgentAlg;
}

export const isAgentAlg = (alg: unknown): alg is AgentAlg => agentAlgs.some((one) => one === alg);

/** What a key without `alg` signs with: by its type (sovereign-signing.md §5). Undefined for a key that no algorithm has. */
export function defaultAgentAlg(publicKey: KeyObject): AgentAlg | undefined {
  const byType = ["ES256", "ES384", "EdDSA", "PS256", ...mlDsaAlgs] as const;
  return byType.find((alg) => fitsAgentAlg({ publicKey, alg }));
}

/** A longer one only makes the check of a signature slow. */
const MAX_MODULUS_BITS = 8192;
/** FIPS 186-5 §5.4: an exponent of 1 would make every message its own signature. */
const MIN_EXPONENT = 65_537n;

/** Whether the key is of the algorithm's kind, curve and size. */
export function fitsAgentAlg({ publicKey, alg }: AgentVerificationKey): boolean {
  const { keyType, namedCurve } = agentAlgorithms[alg];
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = publicKey;
  if (type !== keyType) return false;
  if (keyType === "ec") return details.namedCurve === namedCurve;
  // The type says it all: one curve, or one parameter set.
  if (keyType !== "rsa") return true;
  const { modulusLength = 0, publicExponent = 0n } = details;
  return (
    modulusLength >= MIN_MODULUS_BITS &&
    modulusLength <= MAX_MODULUS_BITS &&
    publicExponent >= MIN_EXPONENT &&
    publicExponent % 2n === 1n
  );
}

/** The only length in bytes that a signature of the key has; undefined when the key does not fit its algorithm. */
export function agentSignatureLength(key: AgentVerificationKey): number | undefined {
  if (!fitsAgentAlg(key)) return undefined;
  if (key.alg === "ES384") return 96;
  if (key.alg === "ES256" || key.alg === "EdDSA") return 64;
  if (isMlDsaAlg(key.alg)) return mlDsaSizes[key.alg].signature;
  return Math.ceil((key.publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

type Verdict = "good" | "bad_encoding" | "bad_signature";

/** @param signingInput `protected.payload`. @param signature canonical base64url; Node decodes other encodings too */
export function checkAgentSignature(
  key: AgentVerificationKey,
  signingInput: string,
  signature: string,
): Verdict {
  const bytes = signatureBytes(key, signature);
  if (typeof bytes === "string") return bytes;
  const { digest, options } = agentAlgorithms[key.alg];
  const holds = verify(digest, Buffer.from(signingInput), { key: key.publicKey, ...options }, bytes);
  return holds ? "good" : "bad_signature";
}

/** The same by a thread of the pool: for a server, which has other things to do meanwhile. */
export function verifyAgentSignature(
  key: AgentVerificationKey,
  signingInput: string,
  signature: string,
): Promise<Verdict> {
  const bytes = signatureBytes(key, signature);
  if (typeof bytes === "string") return Promise.resolve(bytes);
  const { digest, options } = agentAlgorithms[key.alg];
  return new Promise((resolve, reject) => {
    verify(digest, Buffer.from(signingInput), { key: key.publicKey, ...options }, bytes, (error, holds) =>
      error ? reject(error) : resolve(holds ? "good" : "bad_signature"),
    );
  });
}

function signatureBytes(key: AgentVerificationKey, signature: string): Buffer | Exclude<Verdict, "good"> {
  const bytes = Buffer.from(signature, "base64url");
  if (bytes.toString("base64url") !== signature) return "bad_encoding";
  // Also tells a DER signature: it never has this length and this form both.
  return bytes.length === agentSignatureLength(key) ? bytes : "bad_signature";
}
