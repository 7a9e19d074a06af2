/** Keys in a TPM: made, loaded, used, and flushed again, since without a resource manager it holds but three at once. */

import { sized, u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { type PublicArea, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { byPassword, permanentHandles } from "./command.ts";
import type { Tpm } from "./tpm.ts";

/** As TPM2_Create gives it: only under its parent, in its TPM, is it a key. */
export interface KeyBlobs {
  /** TPM2B_PUBLIC, its size included. */
  readonly publicPart: Buffer;
  /** TPM2B_PRIVATE, its size included; encrypted by the TPM. */
  readonly privatePart: Buffer;
}

export interface LoadedKey {
  readonly handle: number;
  readonly publicArea: PublicArea;
}

/** No secret of its own and no data, no outside information, no PCRs (TPM 2.0 Part 3 §12.1). */
const createParameters = (template: Buffer): Buffer =>
  Buffer.concat([sized(Buffer.concat([u16(0), u16(0)])), sized(template), sized(Buffer.alloc(0)), u32(0)]);

/** @param hierarchy of `permanentHandles`. @param template TPMT_PUBLIC */
export async function withPrimary<Result>(
  tpm: Tpm,
  { hierarchy, template }: { hierarchy: number; template: Buffer },
  use: (key: LoadedKey) => Promise<Result>,
): Promise<Result> {
  const { handle = 0, parameters } = await tpm.execute({
    name: "CreatePrimary",
    handles: [hierarchy],
    authorisations: [byPassword],
    parameters: createParameters(template),
    returnsHandle: true,
  });
  return await flushedAfter(tpm, handle, () =>
    use({ handle, publicArea: readSizedPublic(sized(parameters.sized())) }),
  );
}

/** A new key under a parent that is loaded. */
export async function createKey(tpm: Tpm, parent: LoadedKey, template: Buffer): Promise<KeyBlobs> {
  const { parameters } = await tpm.execute({
    name: "Create",
    handles: [parent.handle],
    authorisations: [byPassword],
    parameters: createParameters(template),
  });
  const privatePart = sized(parameters.sized());
  return { privatePart, publicPart: sized(parameters.sized()) };
}

export async function withLoaded<Result>(
  tpm: Tpm,
  parent: LoadedKey,
  { publicPart, privatePart }: KeyBlobs,
  use: (key: LoadedKey) => Promise<Result>,
): Promise<Result> {
  const publicArea = readSizedPublic(publicPart);
  const { handle = 0 } = await tpm.execute({
    name: "Load",
    handles: [parent.handle],
    authorisations: [byPassword],
    parameters: Buffer.concat([privatePart, publicPart]),
    returnsHandle: true,
  });
  return await flushedAfter(tpm, handle, () => use({ handle, publicArea }));
}

/** Of a key that is loaded or persistent. */
export async function readPublic(tpm: Tpm, handle: number): Promise<PublicArea> {
  const { parameters } = await tpm.execute({ name: "ReadPublic", handles: [handle] });
  return readSizedPublic(sized(parameters.sized()));
}

const POLICY_SESSION = 0x01;

/** A session that the holder of the endorsement hierarchy's (empty) password has approved: what uses an EK of the low range. */
export async function withEndorsementSession<Result>(
  tpm: Tpm,
  hashNumber: number,
  use: (session: number) => Promise<Result>,
): Promise<Result> {
  const { handle = 0 } = await tpm.execute({
    name: "StartAuthSession",
    handles: [permanentHandles.none, permanentHandles.none],
    parameters: Buffer.concat([
      // nonceCaller must have 16 bytes; in a policy session without HMAC it protects nothing.
      sized(Buffer.alloc(16)),
      sized(Buffer.alloc(0)),
      Buffer.from([POLICY_SESSION]),
      u16(0x0010),
      u16(hashNumber),
    ]),
    returnsHandle: true,
  });
  return await flushedAfter(tpm, handle, async () => {
    await tpm.execute({
      name: "PolicySecret",
      handles: [permanentHandles.endorsement, handle],
      authorisations: [byPassword],
      parameters: Buffer.concat([u16(0), u16(0), u16(0), u32(0)]),
    });
    return await use(handle);
  });
}

/** Whatever happens in between. An error of the work itself is the one that is told. */
async function flushedAfter<Result>(tpm: Tpm, handle: number, work: () => Promise<Result>): Promise<Result> {
  const flush = () => tpm.execute({ name: "FlushContext", parameters: u32(handle) });
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await flush().catch(() => undefined);
    throw error;
  }
  await flush();
  return result;
}
