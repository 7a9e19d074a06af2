/** The code of an authorization request that everything is decided for. */

import { CODE_LIFETIME_MS, newCode } from "../../../../core/codes/authorization-code.ts";
import { insertCode } from "../../../../core/codes/codes.store.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import type { BegunSigning } from "../../../../core/tokens/signer.ts";
import type { Authentication } from "../../../../core/tokens/token-family.ts";
import type { Db } from "../../../../db/open.ts";
import type { BrowserDeps } from "../browser.ts";
import type { Asked } from "../consent/asked-scopes.ts";
import type { Flow } from "../flow.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import { reportedAcr } from "./requested-acr.ts";

export interface DecidedRequest {
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  readonly asked: Asked;
}

/** What a code rests on. */
export interface CodeGround {
  readonly signedIn: SignedIn;
  readonly consentId: string | null;
}

/**
 * @param db the transaction in which the consent was given, or the plain connection
 * @param signing what an agent has signed for it
 */
export async function issueCode(
  deps: BrowserDeps,
  db: Db,
  { request, asked }: DecidedRequest,
  { signedIn, consentId }: CodeGround,
  signing: BegunSigning | null = null,
): Promise<string> {
  const now = deps.clock();
  const { session, user } = signedIn;
  const { plaintext, hash } = newCode();
  await insertCode(db, {
    orgId: session.orgId,
    codeHash: hash,
    applicationId: request.application.id,
    userId: user.id,
    sessionId: session.id,
    consentId,
    redirectUri: request.redirectUri,
    scopes: request.scopes,
    resources: request.resources,
    codeChallenge: request.codeChallenge,
    nonce: request.nonce,
    requestedClaims: asked.requestedClaims,
    authentication: authenticationFor(request, signedIn),
    createdAt: now,
    expiresAt: now + CODE_LIFETIME_MS,
    usedAt: null,
    familyId: null,
    signing,
  });
  return plaintext;
}

/** As the tokens will tell it. */
export const authenticationFor = (request: AuthorizationRequest, { session }: SignedIn): Authentication => ({
  authTime: session.authTime,
  amr: session.amr,
  acr: reportedAcr(request.acr, session.acr),
});
