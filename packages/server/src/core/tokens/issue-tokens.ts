/** The last phase of every grant: claims, signatures, and the answer of RFC 6749 §5.1. */
import { formatScope } from "@signet/protocol/scope";
import type { Organisation } from "../organisations/organisation.ts";
import { accessTokenClaims, idTokenClaims, type TokenSubject } from "./claims.ts";
import type { Signer } from "./signer.ts";

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope?: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

/** Signs, but consumes nothing: a grant commits after it, so that a failed signature burns no code and no token. */
export async function signTokens(
  signer: Signer,
  organisation: Organisation,
  subject: TokenSubject,
  now: number,
): Promise<TokenAnswer> {
  const accessToken = accessTokenClaims(subject, now);
  const idToken = idTokenClaims(subject, now);
  const { application } = subject;
  const signed = await signer.sign({
    organisation,
    application,
    accessToken,
    ...(idToken ? { idToken } : {}),
  });
  return {
    access_token: signed.accessToken,
    token_type: "Bearer",
    expires_in: accessToken.exp - accessToken.iat,
    ...(subject.scopes.length > 0 ? { scope: formatScope(subject.scopes) } : {}),
    ...(signed.idToken === undefined ? {} : { id_token: signed.idToken }),
  };
}
