/** What one member keeps secret in a key ceremony: its polynomial, and the key that the others encrypt their shares to. */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from "node:crypto";
import { ed25519_FROST as frost } from "@noble/curves/ed25519.js";
import { frostIdentifier, type Threshold } from "@signet/protocol/threshold/group";
import type { Join } from "@signet/protocol/threshold/messages";

/** Between round 1 and the share; texts are base64url. */
export interface CeremonySecrets extends Threshold {
  readonly ceremony: string;
  readonly pool: string;
  /** The kid of this machine's identity key. */
  readonly own: string;
  readonly coefficients: readonly string[];
  readonly commitment: readonly string[];
  readonly proof: string;
  /** X25519, PKCS #8. */
  readonly encryptionKey: string;
  /** As they were sent: sent again, they are the same. */
  readonly joinMessage: string;
  readonly sharesMessage?: string;
}

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64url"));
const { Fn } = frost.utils;

export function newSecrets(own: string, threshold: Threshold) {
  const { public: said, secret } = frost.DKG.round1(frostIdentifier(own), { ...threshold });
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  const der = privateKey.export({ type: "pkcs8", format: "der" });
  return {
    coefficients: (secret.coefficients ?? []).map((one) => toText(Fn.toBytes(one))),
    commitment: said.commitment.map(toText),
    proof: toText(said.proofOfKnowledge),
    encryptionKey: der.toString("base64url"),
    publicEncryptionKey: String(publicKey.export({ format: "jwk" }).x),
  };
}

/** Noble's form of the state after round 1. */
const dkgState = ({ own, coefficients, commitment, min, max }: CeremonySecrets) => ({
  identifier: Fn.fromBytes(new Uint8Array(Buffer.from(frostIdentifier(own), "hex"))),
  coefficients: coefficients.map((one) => Fn.fromBytes(toBytes(one))),
  commitment: commitment.map(toBytes),
  signers: { min, max },
  step: 1 as const,
});

const round1Of = ({ kid, commitment, proof }: Join) => ({
  identifier: frostIdentifier(kid),
  commitment: commitment.map(toBytes),
  proofOfKnowledge: toBytes(proof),
});

/** A share for each other member, by kid. @throws Error when a member does not know what it committed to */
export function dealShares(secrets: CeremonySecrets, others: readonly Join[]): Record<string, Uint8Array> {
  const dealt = frost.DKG.round2(dkgState(secrets), others.map(round1Of));
  return Object.fromEntries(
    others.map(({ kid }) => [kid, dealt[frostIdentifier(kid)]?.signingShare ?? new Uint8Array()]),
  );
}

/** Whether a member's share is the one that its commitment promises this machine. */
export function isPromisedShare(
  own: string,
  { commitment, max }: Pick<Join, "commitment" | "max">,
  share: Uint8Array,
): boolean {
  const group = {
    signers: { min: commitment.length, max },
    commitments: commitment.map(toBytes),
    verifyingShares: {},
  };
  try {
    frost.validateSecret({ identifier: frostIdentifier(own), signingShare: share }, group);
    return true;
  } catch {
    return false;
  }
}

/** This machine's share of the key, and everybody's verifying shares. @param received by kid of who dealt them */
export function finishCeremony(
  secrets: CeremonySecrets,
  others: readonly Join[],
  received: Readonly<Record<string, Uint8Array>>,
) {
  const state = dkgState(secrets);
  const round1 = others.map(round1Of);
  frost.DKG.round2(state, round1);
  const round2 = others.map(({ kid }) => ({
    identifier: frostIdentifier(kid),
    signingShare: received[kid] ?? new Uint8Array(),
  }));
  return frost.DKG.round3(state, round1, round2);
}

interface Between {
  /** X25519, PKCS #8, base64url. */
  readonly privateKey: string;
  /** X25519, base64url. */
  readonly publicKey: string;
  readonly from: string;
  readonly to: string;
  /** Hash of all messages of round 1: another ceremony has another key. */
  readonly joins: string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** One key for each pair and direction; both public keys are signed by the members' identity keys. */
function sharedKey({ privateKey, publicKey, from, to, joins }: Between): Buffer {
  const own = createPrivateKey({ key: Buffer.from(privateKey, "base64url"), format: "der", type: "pkcs8" });
  const jwk = { kty: "OKP", crv: "X25519", x: publicKey };
  const secret = diffieHellman({ privateKey: own, publicKey: createPublicKey({ key: jwk, format: "jwk" }) });
  const info = `signet-threshold-share-v1|${from}|${to}`;
  return Buffer.from(hkdfSync("sha256", secret, Buffer.from(joins), info, 32));
}

export function encryptShare(share: Uint8Array, between: Between): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sharedKey(between), iv);
  const sealed = Buffer.concat([cipher.update(share), cipher.final()]);
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString("base64url");
}

/** @returns undefined for what was not encrypted by this member for this one in this ceremony */
export function decryptShare(text: string, between: Between): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== IV_BYTES + 32 + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", sharedKey(between), bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return new Uint8Array(
      Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]),
    );
  } catch {
    return undefined;
  }
}
