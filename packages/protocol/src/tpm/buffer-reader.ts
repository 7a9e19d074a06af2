/** The TPM's wire format: big-endian numbers, and TPM2B values after their size in 16 bits (TPM 2.0 Part 2 §4, §10.4). */

/** A malformed or unsupported TPM 2.0 structure. */
export type TpmFault = "malformed" | "unsupported";

export class TpmError extends Error {
  override readonly name = "TpmError";
  /** `unsupported`: well-formed as far as it was read, of an algorithm that is not accepted. */
  readonly fault: TpmFault;

  constructor(fault: TpmFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

export interface BufferReader {
  u8(): number;
  u16(): number;
  u32(): number;
  u64(): bigint;
  /** The next bytes; a view, not a copy. */
  bytes(length: number): Buffer;
  /** A TPM2B's content. */
  sized(): Buffer;
  /** Reads the remaining bytes. */
  rest(): Buffer;
  /** The current offset. */
  position(): number;
  /** @throws TpmError when something is left */
  end(): void;
}

/** Methods throw TpmError `malformed` when the value is truncated. */
export function bufferReader(from: Buffer): BufferReader {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (at + length > from.length) throw new TpmError("malformed", "the value ends too early");
    at += length;
    return from.subarray(at - length, at);
  };
  const u16 = () => bytes(2).readUInt16BE();
  return {
    u8: () => bytes(1).readUInt8(),
    u16,
    u32: () => bytes(4).readUInt32BE(),
    u64: () => bytes(8).readBigUInt64BE(),
    bytes,
    sized: () => bytes(u16()),
    rest: () => bytes(from.length - at),
    position: () => at,
    end() {
      if (at < from.length) throw new TpmError("malformed", "there is something after the value");
    },
  };
}

export function u8(value: number): Buffer {
  return Buffer.from([value]);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A TPM2B: size, then content. */
export const sized = (content: Buffer): Buffer => Buffer.concat([u16(content.length), content]);

/** The content of one TPM2B that is all of `tpm2b`. @throws TpmError */
export function unsized(tpm2b: Buffer): Buffer {
  const reader = bufferReader(tpm2b);
  const content = reader.sized();
  reader.end();
  return content;
}
