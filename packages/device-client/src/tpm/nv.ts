/** NV memory and persistent handles. */
import { u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { byPassword, permanentHandles } from "./command.ts";
import { type Tpm, TpmRefusal } from "./tpm.ts";

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
export async function readNv(tpm: Tpm, index: number): Promise<Buffer | undefined> {
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
