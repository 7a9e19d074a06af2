/** The TPM's two key derivations (TPM 2.0 Part 1 §11.4.10), which are those of NIST SP 800-108 and SP 800-56A. */
import { createHash, createHmac } from "node:crypto";
import { hashSize, type TpmHash } from "./algorithms.ts";
import { u32 } from "./buffer-reader.ts";

export interface KdfA {
  readonly hash: TpmHash;
  readonly key: Buffer;
  readonly label: string;
  readonly contextU?: Buffer;
  readonly contextV?: Buffer;
  readonly bits: number;
}

/** SP 800-108 in counter mode, over HMAC. */
export function kdfA({ hash, key, label, contextU, contextV, bits }: KdfA): Buffer {
  const none = Buffer.alloc(0);
  return counted(hash, bits, (counter) =>
    createHmac(hash, key)
      .update(counter)
      .update(`${label}\0`)
      .update(contextU ?? none)
      .update(contextV ?? none)
      .update(u32(bits))
      .digest(),
  );
}

export interface KdfE {
  readonly hash: TpmHash;
  /** The x coordinate of the shared point, as wide as the field. */
  readonly z: Buffer;
  readonly label: string;
  /** x of the ephemeral key. */
  readonly partyU: Buffer;
  /** x of the static key. */
  readonly partyV: Buffer;
  readonly bits: number;
}

/** SP 800-56A's concatenation. */
export function kdfE({ hash, z, label, partyU, partyV, bits }: KdfE): Buffer {
  return counted(hash, bits, (counter) =>
    createHash(hash).update(counter).update(z).update(`${label}\0`).update(partyU).update(partyV).digest(),
  );
}

function counted(hash: TpmHash, bits: number, block: (counter: Buffer) => Buffer): Buffer {
  const size = bits / 8;
  const blocks = Array.from({ length: Math.ceil(size / hashSize(hash)) }, (_, index) =>
    block(u32(index + 1)),
  );
  return Buffer.concat(blocks).subarray(0, size);
}
