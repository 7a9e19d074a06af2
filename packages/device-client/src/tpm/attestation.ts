/** Proof that the attestation key is in the TPM (credential activation), and that another key is too (certification). */
import { hashNumber, tpmAlg } from "@signet/protocol/tpm/algorithms";
import { sized, u16 } from "@signet/protocol/tpm/buffer-reader";
import { keyAttributes } from "@signet/protocol/tpm/public-area";
import { byPassword } from "./command.ts";
import { type LoadedKey, withEndorsementSession } from "./objects.ts";
import type { Tpm } from "./tpm.ts";

export interface SealedCredential {
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
