/**
 * Who signs tokens. Local keys here; a sovereign pool's agents look the same from outside, so that no grant knows where
 * the keys are. An application with a pool is never signed for by local keys, whatever has become of the pool.
 */
import { atHash } from "@signet/protocol/jose/at-hash";
import { signJws } from "@signet/protocol/jose/jws";
import type { Db } from "../../db/open.ts";
import type { Application, GrantType } from "../applications/application.ts";
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

/** What led to the tokens: agents judge by it, and a repeated request finds by it what its first one began. */
export interface SigningOccasion {
  readonly grantType: GrantType;
  /** Where the request came from. */
  readonly address: string;
  /** SHA-256 of the code or token that is presented; undefined when the client speaks for itself. */
  readonly proofHash?: string;
  /** What a browser waited for before: its tokens are given out when they still say the same. */
  readonly begun?: BegunSigning;
}

/** Kept with a code: the request whose tokens it stands for. */
export interface BegunSigning {
  readonly requestId: string;
  /** The token family that the tokens name; it begins when the code is redeemed. */
  readonly familyId: string;
  /** Of all that they say but their times and their `jti`. */
  readonly claimsHash: string;
}

export interface SignedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
  /** Of the access token, seconds: set by whoever renders the claims anew. */
  readonly exp?: number;
}

/** Signed already, and handed out once. */
export interface HeldTokens {
  /**
   * In the transaction that consumes the grant, so that both happen or neither.
   * @param db the plain connection when there is nothing to consume
   * @throws OAuthError temporarily_unavailable when they were handed out before
   */
  release(db?: Db): Promise<SignedTokens>;
}

export interface Signer {
  /** Both tokens or none. @throws OAuthError when an agent has to sign and does not */
  sign(tokens: TokensToSign, occasion: SigningOccasion): Promise<SignedTokens | HeldTokens>;
}

export function localSigner(keys: SigningKeys): Signer {
  return {
    sign: async ({ organisation, application, accessToken, idToken }) => {
      if (application.settings.signingPoolId !== undefined)
        throw new Error("the tokens of this application are signed by a pool");
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
