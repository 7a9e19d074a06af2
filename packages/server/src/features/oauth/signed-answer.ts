/** An answer as a JWT that the organisation signs: introspection (RFC 9701), userinfo (OpenID Connect Core §5.3.2). */
import { type SigningAlg, signJws } from "@signet/protocol/jose/jws";
import type { SigningKeys } from "../../core/signing-keys/signing-keys.ts";
import type { Answer } from "../../http/calls/call.ts";

export interface SignedAnswer {
  readonly orgId: string;
  readonly alg: SigningAlg;
  readonly typ: string;
  readonly mediaType: string;
  readonly payload: object;
}

/** Answers are not in the ledger: they give nobody access, and the hash of one with few claims could be guessed. */
export async function signedAnswer(
  keys: Pick<SigningKeys, "signer">,
  { orgId, alg: wanted, typ, mediaType, payload }: SignedAnswer,
): Promise<Answer> {
  const { alg, kid, privateKey } = await keys.signer(orgId, wanted);
  return {
    status: 200,
    headers: ["Content-Type", mediaType, "Cache-Control", "no-store", "Pragma", "no-cache"],
    body: await signJws({ alg, kid, privateKey, typ, payload }),
  };
}
