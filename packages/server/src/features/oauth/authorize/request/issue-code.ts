/** Issues the authorization code of a granted request. */
import { sha256Base64url } from "@signet/protocol/hash";
import { codeLifetimeMs, newCode } from "../../../../core/codes/authorization-code.ts";
import { insertCode } from "../../../../core/codes/codes.store.ts";
import { usePushedRequest } from "../../../../core/pushed-requests/pushed-request.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../../core/tokens/signer.ts";
import type { Authentication } from "../../../../core/tokens/token-family.ts";
import type { Db } from "../../../../db/open.ts";
import type { BrowserDeps } from "../browser.ts";
import type { RequestedAccess } from "../consent/requested-access.ts";
import type { Flow } from "../flow.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import { reportedAcr } from "./requested-acr.ts";

export interface GrantedRequest {
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  readonly access: RequestedAccess;
}

export interface CodeBasis {
  readonly signedIn: SignedIn;
  readonly consentId: string | null;
}

/** What only a code of agents' tokens has. */
interface PoolSigned {
  /** The tokens that an agent has signed for the code. */
  readonly signing: SigningRequestRef;
  /** The code that stands in the signed response. */
  readonly plaintext?: string | undefined;
}

/**
 * @param db the transaction that records the consent, or the plain connection
 * @throws OAuthError shown on a page when another response has used the pushed request
 */
export async function issueCode(
  deps: BrowserDeps,
  db: Db,
  { request, access }: GrantedRequest,
  { signedIn, consentId }: CodeBasis,
  signed?: PoolSigned,
): Promise<string> {
  const now = deps.clock();
  const { session, user } = signedIn;
  const { pushed: uriHash } = request;
  if (uriHash !== undefined) await usePushedRequest(db, { orgId: session.orgId, uriHash }, now);
  const plaintext = signed?.plaintext ?? newCode().plaintext;
  await insertCode(db, {
    orgId: session.orgId,
    codeHash: sha256Base64url(plaintext),
    applicationId: request.application.id,
    userId: user.id,
    sessionId: session.id,
    consentId,
    redirectUri: request.redirectUri,
    scopes: request.scopes,
    definitions: access.definitions,
    resources: request.resources,
    authorizationDetails: request.authorizationDetails,
    codeChallenge: request.codeChallenge,
    dpopJkt: request.dpopJkt,
    nonce: request.nonce,
    requestedClaims: access.requestedClaims,
    authentication: authenticationClaims(request, signedIn),
    createdAt: now,
    expiresAt: now + codeLifetimeMs(request.application.settings),
    usedAt: null,
    familyId: null,
    signing: signed?.signing ?? null,
  });
  return plaintext;
}

export const authenticationClaims = (
  request: AuthorizationRequest,
  { session }: SignedIn,
): Authentication => ({
  authTime: session.authTime,
  amr: session.amr,
  acr: reportedAcr(request.acr, session.acr),
});
