/** The key certified by the vendor, and its certificates (TCG EK Credential Profile for TPM 2.0). */
import { X509Certificate } from "node:crypto";
import { type PublicArea, publicKeyOf } from "@signet/protocol/tpm/public-area";
import { permanentHandles } from "./command.ts";
import { readNv, usedHandles } from "./nv.ts";
import { type LoadedKey, readPublic, withPrimary } from "./objects.ts";
import { type EkTemplate, type EkType, ekTemplates } from "./templates.ts";
import type { Tpm } from "./tpm.ts";

export interface EndorsementKey {
  readonly template: EkTemplate;
  readonly certificate: X509Certificate;
  /** Issuers' certificates that the vendor stored in the TPM; at most four. */
  readonly chain: readonly X509Certificate[];
}

export class NoEndorsementKey extends Error {
  override name = "NoEndorsementKey";
}

/** @param kind by default the first one with a certificate. @throws NoEndorsementKey */
export async function findEndorsementKey(tpm: Tpm, kind: EkType | undefined): Promise<EndorsementKey> {
  for (const template of ekTemplates) {
    if (kind !== undefined && template.kind !== kind) continue;
    const bytes = await readNv(tpm, template.certificateIndex);
    const [certificate] = bytes ? parseStoredCertificates(bytes) : [];
    if (certificate) return { template, certificate, chain: await readChain(tpm, certificate) };
  }
  throw new NoEndorsementKey(
    `the TPM holds no endorsement certificate${kind === undefined ? "" : ` for ${kind}`}`,
  );
}

const PERSISTENT_EKS = [0x8101_0000, 0x8101_ffff] as const;

/** Prefers a persistent handle: deriving an RSA key takes a TPM seconds. @throws NoEndorsementKey */
export async function withEndorsementKey<Result>(
  tpm: Tpm,
  { template, certificate }: EndorsementKey,
  use: (key: LoadedKey) => Promise<Result>,
): Promise<Result> {
  for (const handle of await usedHandles(tpm, ...PERSISTENT_EKS)) {
    // Other programs may keep keys there that cannot be read.
    const publicArea = await readPublic(tpm, handle).catch(() => undefined);
    if (publicArea && isCertified(publicArea, certificate)) return await use({ handle, publicArea });
  }
  const primary = { hierarchy: permanentHandles.endorsement, template: template.template };
  return await withPrimary(tpm, primary, async (key) => {
    if (!isCertified(key.publicArea, certificate))
      throw new NoEndorsementKey("the endorsement certificate is for a key outside the TCG's templates");
    return await use(key);
  });
}

/** A key of an unsupported type does not match. */
function isCertified(publicArea: PublicArea, { publicKey }: X509Certificate): boolean {
  try {
    return publicKeyOf(publicArea).equals(publicKey);
  } catch {
    return false;
  }
}

const CHAIN_INDICES = [0x01c0_0100, 0x01c0_01ff] as const;
const MAX_CHAIN = 4;

/** Concatenated certificates, which may continue in the next index. */
async function readChain(tpm: Tpm, leaf: X509Certificate): Promise<X509Certificate[]> {
  const parts: Buffer[] = [];
  for (const index of await usedHandles(tpm, ...CHAIN_INDICES))
    parts.push((await readNv(tpm, index)) ?? Buffer.alloc(0));
  const stored = parseStoredCertificates(Buffer.concat(parts));
  const chain: X509Certificate[] = [];
  let last = leaf;
  while (chain.length < MAX_CHAIN) {
    const issuer = stored.find((one) => last.checkIssued(one) && one.fingerprint256 !== last.fingerprint256);
    if (!issuer) break;
    chain.push(issuer);
    last = issuer;
  }
  return chain;
}

/**
 * Certificates at the start of an NV index, padded with zeros or ones. Some vendors put a header of an older specification in
 * front: `10 01 00` and two more bytes.
 */
export function parseStoredCertificates(bytes: Buffer): X509Certificate[] {
  const certificates: X509Certificate[] = [];
  const start = bytes.subarray(0, 3).equals(Buffer.from([0x10, 0x01, 0x00])) ? 5 : 0;
  for (let at = start; at + 4 < bytes.length; ) {
    // Every certificate is a SEQUENCE of more than 255 bytes.
    if (bytes.readUInt16BE(at) !== 0x3082) break;
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) break;
    try {
      certificates.push(new X509Certificate(bytes.subarray(at, end)));
    } catch {
      break;
    }
    at = end;
  }
  return certificates;
}
