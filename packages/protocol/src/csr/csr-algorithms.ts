/** Accepted keys of devices, and signatures of their requests (device-identity.md §2). */
import { derNull, derOid, derSequence } from "../der/der-writer.ts";

export type DeviceKeyKind = "ec" | "rsa" | "ed25519";

/** Each by its whole AlgorithmIdentifier, as DER. */
interface Algorithm {
  readonly kind: DeviceKeyKind;
  readonly identifier: Buffer;
}

export interface CsrSignatureAlgorithm extends Algorithm {
  /** Ed25519 has its own. */
  readonly digest: "sha256" | "sha384" | "sha512" | null;
}

const ED25519 = derSequence(derOid("2b6570"));
const ecKey = (curve: string) => derSequence(derOid("2a8648ce3d0201"), derOid(curve));
const ecdsa = (last: string) => derSequence(derOid(`2a8648ce3d0403${last}`));
// RFC 4055 §5: PKCS #1 v1.5 has NULL parameters, never absent ones.
const rsa = (last: string) => derSequence(derOid(`2a864886f70d0101${last}`), derNull);

/** RFC 5480 §2.1.1, RFC 3279 §2.3.1, RFC 8410 §3; `pointBytes` of an uncompressed point. */
export const deviceKeyAlgorithms: readonly (Algorithm & { readonly pointBytes?: number })[] = [
  { kind: "ec", identifier: ecKey("2a8648ce3d030107"), pointBytes: 65 },
  { kind: "ec", identifier: ecKey("2b81040022"), pointBytes: 97 },
  { kind: "rsa", identifier: rsa("01") },
  { kind: "ed25519", identifier: ED25519 },
];

/** RFC 5758 §3.2, RFC 4055 §5, RFC 8410 §3: SHA-2 only. */
export const csrSignatureAlgorithms = {
  "ecdsa-sha256": { kind: "ec", identifier: ecdsa("02"), digest: "sha256" },
  "ecdsa-sha384": { kind: "ec", identifier: ecdsa("03"), digest: "sha384" },
  "ecdsa-sha512": { kind: "ec", identifier: ecdsa("04"), digest: "sha512" },
  "rsa-sha256": { kind: "rsa", identifier: rsa("0b"), digest: "sha256" },
  "rsa-sha384": { kind: "rsa", identifier: rsa("0c"), digest: "sha384" },
  "rsa-sha512": { kind: "rsa", identifier: rsa("0d"), digest: "sha512" },
  ed25519: { kind: "ed25519", identifier: ED25519, digest: null },
} as const satisfies Record<string, CsrSignatureAlgorithm>;

export type CsrSignatureName = keyof typeof csrSignatureAlgorithms;
