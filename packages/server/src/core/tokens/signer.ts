/**
 * Signing tokens: by the organisation's local keys, or by the agents of the application's signing pool behind the same
 * interface. Local keys never sign for an application with a pool, whatever the state of the pool.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { atHash, signJws } from "@signet/protocol/jose/jws";
import type { Db } from "../../db/open.ts";
import type { Application, GrantType } from "../applications/application.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import {
  type AccessTokenClaims,
  accessTokenClaims,
  type IdTokenClaims,
  idTokenClaims,
  type SigningConnection,
  type TokenSubject,
} from "./claims.ts";

export interface TokensToSign {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly accessToken: AccessTokenClaims;
  /** Without `at_hash`, which depends on the signature of the access token. */
  readonly idToken?: IdTokenClaims;
  /** For agents. */
  readonly connection?: SigningConnection;
}

export function unsignedTokens(organisation: Organisation, subject: TokenSubject, now: number): TokensToSign {
  const idToken = idTokenClaims(subject, now);
  return {
    organisation,
    application: subject.application,
    accessToken: accessTokenClaims(subject, now),
    ...(idToken ? { idToken } : {}),
    ...(subject.added?.connection ? { connection: subject.added.connection } : {}),
  };
}

/** Equal for tokens that say the same, apart from their times and `jti`. A changed lifetime changes the hash. */
export function claimsHash({ accessToken, idToken }: TokensToSign): string {
  return sha256Base64url(JSON.stringify([withoutTimes(accessToken), idToken && withoutTimes(idToken)]));
}

function withoutTimes<Claims extends { iat: number; exp: number; jti?: unknown }>(claims: Claims): object {
  const { iat, exp, jti, ...rest } = claims;
  return { ...rest, lifetime: exp - iat };
}

/** The request behind the tokens: agents decide by it, and a repeated request finds the signing request of the first. */
export interface SigningContext {
  readonly grantType: GrantType;
  /** The client's network address. */
  readonly address: string;
  /** SHA-256 of the presented code or token; undefined for client credentials. */
  readonly proofHash?: string;
  /** The signing request that a browser waited for: its tokens are released while their claims are still right. */
  readonly signingRequest?: SigningRequestRef;
}

/** A signing request that a code refers to. */
export interface SigningRequestRef {
  readonly requestId: string;
  /** The token family that the tokens name; it starts when the code is redeemed. */
  readonly familyId: string;
  readonly claimsHash: string;
}

export interface SignedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
  /** Expiry of the access token in seconds, when the agent signed later than the claims were built. */
  readonly exp?: number;
}

/** Tokens that an agent has signed; they are released once. */
export interface HeldTokens {
  /**
   * @param db the transaction that consumes the grant; left out when nothing is consumed
   * @throws OAuthError temporarily_unavailable when the tokens were released before
   */
  release(db?: Db): Promise<SignedTokens>;
}

export interface Signer {
  /** Signs both tokens or neither. @throws OAuthError when no agent signs */
  sign(tokens: TokensToSign, signingContext: SigningContext): Promise<SignedTokens | HeldTokens>;
}

/** @param db the transaction that consumes the grant */
export async function releaseTokens(signed: SignedTokens | HeldTokens, db?: Db): Promise<SignedTokens> {
  return "release" in signed ? signed.release(db) : signed;
}

export function localSigner(keys: SigningKeys): Signer {
  return {
    sign: async ({ organisation, application, accessToken, idToken }) => {
      if (application.settings.signingPoolId !== undefined)
        throw new Error("the tokens of this application are signed by a pool");
      const { accessTokenSignedResponseAlg, accessTokenType, idTokenSignedResponseAlg } =
        application.settings;
      const accessKey = await keys.signer(organisation.id, accessTokenSignedResponseAlg);
      const signed = await signJws({
        ...signingInput(accessKey),
        typ: accessTokenType,
        payload: accessToken,
      });
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
