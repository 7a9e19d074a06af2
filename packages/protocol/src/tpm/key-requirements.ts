/** What the keys of a device must be that a TPM vouches for (device-identity.md §5, "Attributes required"). */
import { tpmAlg } from "./algorithms.ts";
import { keyAttributes, type PublicFields } from "./public-area.ts";

const { fixedTpm, fixedParent, sensitiveDataOrigin, restricted, decrypt, sign } = keyAttributes;

/** Made in the TPM, and never to leave it. */
const STAYS = fixedTpm | fixedParent | sensitiveDataOrigin;

const has = ({ attributes }: PublicFields, wanted: number, unwanted: number): boolean =>
  (attributes & wanted) === wanted && (attributes & unwanted) === 0;

/** Restricted: it signs nothing that looks like the TPM's own words unless the TPM has said them. */
export const isAttestationKey = (area: PublicFields): boolean =>
  has(area, STAYS | restricted | sign, decrypt);

/** Not restricted: it signs what TLS asks it to. */
export const isDeviceKey = (area: PublicFields): boolean => has(area, STAYS | sign, restricted | decrypt);

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;

/** Whether an attestation key says how it signs, and that is good enough: SHA-2, and RSA of 2048 bits or an EC curve. */
export function hasAttestationAlgorithm({ scheme, key }: PublicFields): boolean {
  if (scheme?.hash === undefined) return false;
  if (key.kind === "ecc") return scheme.alg === tpmAlg.ecdsa;
  const isLong = key.bits >= MIN_RSA_BITS && key.bits <= MAX_RSA_BITS;
  return isLong && (scheme.alg === tpmAlg.rsaSsa || scheme.alg === tpmAlg.rsaPss);
}
