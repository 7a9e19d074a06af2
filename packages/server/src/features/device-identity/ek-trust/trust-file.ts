/** Reads trust files of operators: certificates and public keys, PEM or DER, several per file. */

export class InvalidTrustFile extends Error {
  override name = "InvalidTrustFile";
}

export interface TrustBlock {
  readonly kind: "certificate" | "public-key";
  readonly der: Buffer;
}

export interface TrustFile {
  readonly name: string;
  readonly blocks: readonly TrustBlock[];
}

export const MAX_TRUST_FILE_BYTES = 4 * 1024 * 1024;
const MAX_BLOCKS = 10_000;
/** RFC 7468 §5 and §13. */
const kinds = { CERTIFICATE: "certificate", "PUBLIC KEY": "public-key" } as const;
const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)-----END \1-----/g;

/** @throws InvalidTrustFile unless the file contains only certificates and public keys */
export function readTrustFile(name: string, bytes: Buffer): TrustFile {
  if (bytes.length > MAX_TRUST_FILE_BYTES) throw new InvalidTrustFile(`${name} is larger than 4 MiB`);
  const text = bytes.toString("latin1");
  if (!text.includes("-----BEGIN ")) return { name, blocks: [{ kind: "certificate", der: bytes }] };
  const blocks = [...text.matchAll(BLOCK)].map(([, label = "", base64 = ""]): TrustBlock => {
    const kind = Object.entries(kinds).find(([known]) => known === label)?.[1];
    if (!kind) throw new InvalidTrustFile(`${name} contains an unsupported "${label}"`);
    return { kind, der: Buffer.from(base64, "base64") };
  });
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  if (blocks.length !== begun) throw new InvalidTrustFile(`${name} has an unterminated part`);
  if (blocks.length > MAX_BLOCKS) throw new InvalidTrustFile(`${name} has more than ${MAX_BLOCKS} parts`);
  return { name, blocks };
}

export const displayHash = (base64url: string): string => Buffer.from(base64url, "base64url").toString("hex");
