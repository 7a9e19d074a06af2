/** The key certified by the vendor, and its certificates (TCG EK Credential Profile for TPM 2.0). */
import { X509Certificate } from "node:crypto";
import { u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { type PublicArea, publicKeyOf } from "@signet/protocol/tpm/public-area";
import { byPassword, permanentHandles } from "./command.ts";
import { type LoadedKey, readPublic, withPrimary } from "./objects.ts";
import { type EkTemplate, type EkType, ekTemplates } from "./templates.ts";
import { type Tpm, TpmRefusal } from "./tpm.ts";

export interface EndorsementKey {
  readonly template: EkTemplate;
  readonly certificate: X509Certificate;
  /** Issuers' certificates that the vendor stored in the TPM; at most four. */
  readonly chain: readonly X509Certificate[];
}

class NoEndorsementKey extends Error {
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

const CAPABILITY_HANDLES = 1;
/** More than any TPM has. */
const MAX_HANDLES = 254;

/** Handles in use from `first` to `last` (TPM2_GetCapability). */
export async function usedHandles(tpm: Tpm, first: number, last: number): Promise<number[]> {
  const { parameters } = await tpm.execute({
    name: "GetCapability",
    parameters: Buffer.concat([u32(CAPABILITY_HANDLES), u32(first), u32(MAX_HANDLES)]),
  });
  parameters.u8();
  parameters.u32();
  const count = parameters.u32();
  const handles = Array.from({ length: count }, () => parameters.u32());
  return handles.filter((handle) => handle >= first && handle <= last);
}

/** Every TPM can read this much at a time. */
const CHUNK_BYTES = 512;

/** @returns undefined when there is no such index. @throws TpmRefusal when an empty password is not enough */
async function readNv(tpm: Tpm, index: number): Promise<Buffer | undefined> {
  const [used] = await usedHandles(tpm, index, index);
  if (used === undefined) return undefined;
  const size = await sizeOf(tpm, index);
  // With the index's own password or the owner's, depending on the vendor.
  return await readAll(tpm, index, size, index).catch((error: unknown) => {
    if (!(error instanceof TpmRefusal)) throw error;
    return readAll(tpm, index, size, permanentHandles.owner);
  });
}

/** The last field of TPMS_NV_PUBLIC (TPM 2.0 Part 2 §13.5). */
async function sizeOf(tpm: Tpm, index: number): Promise<number> {
  const { parameters } = await tpm.execute({ name: "NV_ReadPublic", handles: [index] });
  parameters.u16();
  parameters.u32();
  parameters.u16();
  parameters.u32();
  parameters.sized();
  return parameters.u16();
}

async function readAll(tpm: Tpm, index: number, size: number, by: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, size - at);
    const { parameters } = await tpm.execute({
      name: "NV_Read",
      handles: [by, index],
      authorisations: [byPassword],
      parameters: Buffer.concat([u16(length), u16(at)]),
    });
    parts.push(parameters.sized());
  }
  return Buffer.concat(parts);
}
