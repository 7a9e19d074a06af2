/** ECDSA with a key in a TPM. */
import { createHash } from "node:crypto";
import { derInteger, derSequence } from "@signet/protocol/der/der-writer";
import { tpmAlg } from "@signet/protocol/tpm/algorithms";
import { sized, u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { readSignature } from "@signet/protocol/tpm/attest";
import { byPassword, permanentHandles } from "./command.ts";
import type { LoadedKey } from "./objects.ts";
import type { Tpm } from "./tpm.ts";

/** An empty TPM_ST_HASHCHECK: an unrestricted key signs any digest (TPM 2.0 Part 3 §20.2). */
const NO_TICKET = Buffer.concat([u16(0x8024), u32(permanentHandles.none), u16(0)]);

/** @returns ECDSA over SHA-256 of the data, as DER (RFC 3279 §2.2.3) */
export async function signWithTpm(tpm: Tpm, key: LoadedKey, data: Buffer): Promise<Buffer> {
  const { parameters } = await tpm.execute({
    name: "Sign",
    handles: [key.handle],
    authorisations: [byPassword],
    parameters: Buffer.concat([
      sized(createHash("sha256").update(data).digest()),
      u16(tpmAlg.null),
      NO_TICKET,
    ]),
  });
  const signature = readSignature(parameters.rest());
  if (!("r" in signature)) throw new Error("the TPM signed with an unexpected algorithm");
  return derSequence(derInteger(signature.r), derInteger(signature.s));
}
