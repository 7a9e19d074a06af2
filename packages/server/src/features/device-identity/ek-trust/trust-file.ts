/** What operators bring to say which TPMs are believed: certificates and public keys, in PEM or DER, several in a file. */

export class UnusableTrustFile extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnusableTrustFile";
  }
}

export interface TrustBlock {
  readonly kind: "certificate" | "public-key";
  readonly der: Buffer;
}

export interface TrustFile {
  /** As the operator typed it. */
  readonly name: string;
  readonly blocks: readonly TrustBlock[];
}

/** Bytes. */
export const LARGEST_TRUST_FILE = 4 * 1024 * 1024;
const MOST_BLOCKS = 10_000;
/** RFC 7468 §5 and §13. */
const kinds = { CERTIFICATE: "certificate", "PUBLIC KEY": "public-key" } as const;
const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)-----END \1-----/g;

/** @throws UnusableTrustFile for what has neither certificates nor public keys in it, or something else as well */
export function readTrustFile(name: string, bytes: Buffer): TrustFile {
  if (bytes.length > LARGEST_TRUST_FILE) throw new UnusableTrustFile(`${name} is larger than 4 MiB`);
  const text = bytes.toString("latin1");
  if (!text.includes("-----BEGIN ")) return { name, blocks: [{ kind: "certificate", der: bytes }] };
  const blocks = [...text.matchAll(BLOCK)].map(([, label = "", base64 = ""]): TrustBlock => {
    const kind = Object.entries(kinds).find(([known]) => known === label)?.[1];
    if (!kind) throw new UnusableTrustFile(`${name} has a "${label}" in it, which is not taken`);
    return { kind, der: Buffer.from(base64, "base64") };
  });
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  if (blocks.length !== begun) throw new UnusableTrustFile(`${name} has a part that does not end`);
  if (blocks.length > MOST_BLOCKS) throw new UnusableTrustFile(`${name} has more than ${MOST_BLOCKS} parts`);
  return { name, blocks };
}
