/** What a TPM keeps without being asked to: certificates in NV memory, keys at persistent handles. */
import { u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { byPassword, permanentHandles } from "./command.ts";
import { type Tpm, TpmRefusal } from "./tpm.ts";

const CAPABILITY_HANDLES = 1;
/** More than any TPM has there. */
const MOST_HANDLES = 254;

/** The handles from `first` up to `last` that are in use (TPM2_GetCapability). */
export async function usedHandles(tpm: Tpm, first: number, last: number): Promise<number[]> {
  const { parameters } = await tpm.execute({
    name: "GetCapability",
    parameters: Buffer.concat([u32(CAPABILITY_HANDLES), u32(first), u32(MOST_HANDLES)]),
  });
  parameters.u8();
  parameters.u32();
  const count = parameters.u32();
  const handles = Array.from({ length: count }, () => parameters.u32());
  return handles.filter((handle) => handle >= first && handle <= last);
}

/** Every TPM takes that much at once. */
const PART_BYTES = 512;

/** @returns undefined when there is no such index. @throws TpmRefusal when nobody may read it with an empty password */
export async function readNv(tpm: Tpm, index: number): Promise<Buffer | undefined> {
  const [used] = await usedHandles(tpm, index, index);
  if (used === undefined) return undefined;
  const size = await sizeOf(tpm, index);
  // By the index's own password, or by the owner's: the vendor has chosen which.
  return await readAll(tpm, index, size, index).catch((error: unknown) => {
    if (!(error instanceof TpmRefusal)) throw error;
    return readAll(tpm, index, size, permanentHandles.owner);
  });
}

/** Of TPMS_NV_PUBLIC: index, hash, attributes, policy, size (TPM 2.0 Part 2 §13.5). */
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
  for (let at = 0; at < size; at += PART_BYTES) {
    const length = Math.min(PART_BYTES, size - at);
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
