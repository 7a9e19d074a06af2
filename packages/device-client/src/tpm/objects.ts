/** Keys in a TPM: create, load, sign, attest. They are flushed after use: without a resource manager it may hold only three. */
import { hash } from "node:crypto";
import { derInteger, derSequence } from "@signet/protocol/der/der-writer";
import { hashNumber, tpmAlg } from "@signet/protocol/tpm/algorithms";
import { readSignature } from "@signet/protocol/tpm/attest";
import { sized, u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { keyAttributes, type PublicArea, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { byPassword, permanentHandles } from "./command.ts";
import type { Tpm } from "./tpm.ts";

/** The result of TPM2_Create: usable only under its parent, in its TPM. */
export interface KeyBlobs {
  /** TPM2B_PUBLIC, including its size. */
  readonly publicPart: Buffer;
  /** TPM2B_PRIVATE, including its size; encrypted by the TPM. */
  readonly privatePart: Buffer;
}

export interface LoadedKey {
  readonly handle: number;
  readonly publicArea: PublicArea;
}

/** No password, data, outside information or PCRs (TPM 2.0 Part 3 §12.1). */
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
  return await flushAfter(tpm, handle, () =>
    use({ handle, publicArea: readSizedPublic(sized(parameters.sized())) }),
  );
}

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
  return await flushAfter(tpm, handle, () => use({ handle, publicArea }));
}

export async function readPublic(tpm: Tpm, handle: number): Promise<PublicArea> {
  const { parameters } = await tpm.execute({ name: "ReadPublic", handles: [handle] });
  return readSizedPublic(sized(parameters.sized()));
}

const POLICY_SESSION = 0x01;

/** A policy session authorised by the endorsement hierarchy's (empty) password, for an EK of the low range. */
export async function withEndorsementSession<Result>(
  tpm: Tpm,
  hashNumber: number,
  use: (session: number) => Promise<Result>,
): Promise<Result> {
  const { handle = 0 } = await tpm.execute({
    name: "StartAuthSession",
    handles: [permanentHandles.none, permanentHandles.none],
    parameters: Buffer.concat([
      // nonceCaller must have 16 bytes; without HMAC it protects nothing.
      sized(Buffer.alloc(16)),
      sized(Buffer.alloc(0)),
      Buffer.from([POLICY_SESSION]),
      u16(0x0010),
      u16(hashNumber),
    ]),
    returnsHandle: true,
  });
  return await flushAfter(tpm, handle, async () => {
    await tpm.execute({
      name: "PolicySecret",
      handles: [permanentHandles.endorsement, handle],
      authorisations: [byPassword],
      parameters: Buffer.concat([u16(0), u16(0), u16(0), u32(0)]),
    });
    return await use(handle);
  });
}

/** Flushes after success and failure; an error of the work itself takes precedence. */
async function flushAfter<Result>(tpm: Tpm, handle: number, work: () => Promise<Result>): Promise<Result> {
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

/** An empty TPM_ST_HASHCHECK: an unrestricted key signs any digest (TPM 2.0 Part 3 §20.2). */
const NO_TICKET = Buffer.concat([u16(0x8024), u32(permanentHandles.none), u16(0)]);

/** @returns ECDSA over SHA-256 of the data, as DER (RFC 3279 §2.2.3) */
export async function signWithTpm(tpm: Tpm, key: LoadedKey, data: Buffer): Promise<Buffer> {
  const { parameters } = await tpm.execute({
    name: "Sign",
    handles: [key.handle],
    authorisations: [byPassword],
    parameters: Buffer.concat([sized(hash("sha256", data, "buffer")), u16(tpmAlg.null), NO_TICKET]),
  });
  const signature = readSignature(parameters.rest());
  if (!("r" in signature)) throw new Error("the TPM signed with an unexpected algorithm");
  return derSequence(derInteger(signature.r), derInteger(signature.s));
}

interface SealedCredential {
  /** TPM2B_ID_OBJECT, including its size. */
  readonly credentialBlob: Buffer;
  /** TPM2B_ENCRYPTED_SECRET, including its size. */
  readonly encryptedSecret: Buffer;
}

/** TPM2_ActivateCredential (TPM 2.0 Part 3 §12.5). @returns the secret */
export async function activateCredential(
  tpm: Tpm,
  { ak, ek }: { ak: LoadedKey; ek: LoadedKey },
  { credentialBlob, encryptedSecret }: SealedCredential,
): Promise<Buffer> {
  const activate = async (ekSession: number): Promise<Buffer> => {
    const { parameters } = await tpm.execute({
      name: "ActivateCredential",
      handles: [ak.handle, ek.handle],
      authorisations: [byPassword, { session: ekSession }],
      parameters: Buffer.concat([credentialBlob, encryptedSecret]),
    });
    return parameters.sized();
  };
  // The high range accepts its empty password instead of a policy.
  if ((ek.publicArea.attributes & keyAttributes.userWithAuth) !== 0)
    return await activate(byPassword.session);
  return await withEndorsementSession(tpm, hashNumber(ek.publicArea.nameAlg), activate);
}

/** TPM2_Certify (TPM 2.0 Part 3 §18.2). @param qualifyingData becomes part of the signed statement. @returns TPMS_ATTEST without its size, and TPMT_SIGNATURE */
export async function certify(
  tpm: Tpm,
  { key, ak }: { key: LoadedKey; ak: LoadedKey },
  qualifyingData: Buffer,
) {
  const { parameters } = await tpm.execute({
    name: "Certify",
    handles: [key.handle, ak.handle],
    authorisations: [byPassword, byPassword],
    parameters: Buffer.concat([sized(qualifyingData), u16(tpmAlg.null)]),
  });
  const attest = parameters.sized();
  return { attest, signature: parameters.rest() };
}
