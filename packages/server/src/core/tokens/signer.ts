/**
 * Who signs tokens. Local keys here; a sovereign pool's agents look the same from outside, so that no grant knows where
 * the keys are.
 */
import { atHash } from "@signet/protocol/at-hash";
import { signJws } from "@signet/protocol/jws";
import type { Application } from "../applications/application.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { AccessTokenClaims, IdTokenClaims } from "./claims.ts";

export interface TokensToSign {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly accessToken: AccessTokenClaims;
  /** Without `at_hash`: it depends on a signature that does not exist yet. */
  readonly idToken?: IdTokenClaims;
}

export interface SignedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
}

export interface Signer {
  /** Both or none. */
  sign(tokens: TokensToSign): Promise<SignedTokens>;
}

export function localSigner(keys: SigningKeys): Signer {
  return {
    sign: async ({ organisation, application, accessToken, idToken }) => {
      const { accessTokenSignedResponseAlg, idTokenSignedResponseAlg } = application.settings;
      const accessKey = await keys.signer(organisation.id, accessTokenSignedResponseAlg);
      const signed = await signJws({ ...signingInput(accessKey), typ: "at+jwt", payload: accessToken });
      if (!idToken) return { accessToken: signed };
      const idKey = await keys.signer(organisation.id, idTokenSignedResponseAlg);
      const payload = { ...idToken, at_hash: atHash(signed, idKey.alg) };
      return { accessToken: signed, idToken: await signJws({ ...signingInput(idKey), typ: "JWT", payload }) };
    },
  };
}

const signingInput = ({ alg, kid, privateKey }: Awaited<ReturnType<SigningKeys["signer"]>>) => ({
  alg,
  kid,
  privateKey,
});
