/** The last phase of every grant: claims, signatures, and the answer of RFC 6749 §5.1. */
import { formatScope } from "@signet/protocol/oauth/scope";
import type { Db } from "../../db/open.ts";
import { type Clock, seconds } from "../clock.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { accessTokenClaims, idTokenClaims, type TokenSubject } from "./claims.ts";
import type { SignedTokens, Signer, SigningOccasion, TokensToSign } from "./signer.ts";

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope?: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

export interface SignedAnswer {
  /** After the release, where there is one. */
  answer(): TokenAnswer;
  /** To go with what consumes the grant. */
  readonly release?: Release;
}

/** Hands held tokens out, in the transaction that consumes the grant. */
export type Release = (db?: Db) => Promise<void>;

/** What is to be signed for a subject. */
export function unsignedTokens(organisation: Organisation, subject: TokenSubject, now: number): TokensToSign {
  const idToken = idTokenClaims(subject, now);
  return {
    organisation,
    application: subject.application,
    accessToken: accessTokenClaims(subject, now),
    ...(idToken ? { idToken } : {}),
  };
}

/**
 * Signs, but consumes nothing: a grant commits after it, so that a failed signature burns no code and no token.
 * @param at when the request came, milliseconds, and what led to the tokens
 */
export async function signTokens(
  signer: Signer,
  organisation: Organisation,
  subject: TokenSubject,
  {
    clock,
    now,
    occasion,
  }: { readonly clock: Clock; readonly now: number; readonly occasion: SigningOccasion },
): Promise<SignedAnswer> {
  const tokens = unsignedTokens(organisation, subject, now);
  const signed = await signer.sign(tokens, occasion);
  const { exp, iat } = tokens.accessToken;
  const answerOf = (made: SignedTokens): TokenAnswer => ({
    access_token: made.accessToken,
    token_type: "Bearer",
    expires_in: made.exp === undefined ? exp - iat : made.exp - seconds(clock()),
    ...(subject.scopes.length > 0 ? { scope: formatScope(subject.scopes) } : {}),
    ...(made.idToken === undefined ? {} : { id_token: made.idToken }),
  });
  if (!("release" in signed)) return { answer: () => answerOf(signed) };
  let released: SignedTokens | undefined;
  return {
    release: async (db) => {
      released = await signed.release(db);
    },
    answer: () => {
      if (!released) throw new Error("the grant was consumed, but its tokens were not released");
      return answerOf(released);
    },
  };
}
