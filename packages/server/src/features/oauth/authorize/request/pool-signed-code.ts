/**
 * The code of an application whose tokens an agent signs (sovereign-signing.md §4): a granted request goes to the agent, and
 * its code is issued with the signature. A fast agent answers before the wait page is shown.
 */

import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../../../../core/applications/application.ts";
import { CODE_LIFETIME_MS, newCode } from "../../../../core/codes/authorization-code.ts";
import { readAccessRules, tokenResource } from "../../../../core/protected-resources/asked-access.ts";
import { applicationIssuer } from "../../../../core/signing-pools/directory.ts";
import { addedClaims } from "../../../../core/tokens/claims.ts";
import type { BrowserSigningContext, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import {
  claimsHash,
  type SigningRequestRef,
  type TokensToSign,
  unsignedTokens,
} from "../../../../core/tokens/signer.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, orgPath, redirectTo, type Visit } from "../browser.ts";
import { withConsent, withPrompts } from "../flow.ts";
import { answerWithCode, answerWithError, codeResponse } from "./answer.ts";
import { authenticationClaims, type CodeBasis, type GrantedRequest, issueCode } from "./issue-code.ts";

/** How long the response waits for an agent that signs without a person's approval. */
const HOLD_MS = 1_500;

export async function answerWithPoolSignedCode(
  deps: BrowserDeps,
  visit: Visit,
  granted: GrantedRequest,
  basis: CodeBasis,
): Promise<void> {
  const { application } = granted.request;
  const { orgId } = application;
  try {
    const signing = await beginSigning(deps, visit, granted, basis);
    const outcome = await waitBriefly(
      deps,
      application,
      signing,
      isSilent(granted) ? Number.POSITIVE_INFINITY : HOLD_MS,
    );
    if (outcome === "signed") {
      const response = await deps.poolSigning.signedResponse({ orgId, requestId: signing.requestId });
      const code = await issueSignedCode(deps, granted, basis, { signing, plaintext: codeOf(response) });
      if (code !== undefined) return await answerWithCode(deps, visit, granted.request, { code, response });
    }
    // The wait page shows an error and leads back to the application.
    if (!isSilent(granted)) return await redirectTo(visit, waitPath(visit, signing.requestId));
    throw outcome instanceof OAuthError
      ? outcome
      : new OAuthError("temporarily_unavailable", "no signing agent has signed in time", { status: 400 });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    await answerWithError(deps, visit, granted.request, error);
  }
}

/** Waits for the agent. @param maxMs short for a browser, which has the wait page; the pool sets the limit otherwise */
export async function waitBriefly(
  { poolSigning }: Pick<BrowserDeps, "poolSigning">,
  application: Application,
  { requestId }: SigningRequestRef,
  maxMs = HOLD_MS,
): Promise<SigningOutcome> {
  const ms = Math.min(await poolSigning.waitMs(application), maxMs);
  return poolSigning.waitFor(application.orgId, requestId, ms);
}

export const waitPath = ({ organisation }: Visit, requestId: string): string =>
  orgPath(organisation, `sovereign/wait/${requestId}`);

/** The code of a response that was signed with the tokens. */
export function codeOf(response: string | undefined): string | undefined {
  const code = response === undefined ? undefined : decodeJwsUnverified(response)?.payload["code"];
  return typeof code === "string" ? code : undefined;
}

/** Consumes the signed request. @returns undefined when its code was issued before */
export function issueSignedCode(
  deps: BrowserDeps,
  granted: GrantedRequest,
  basis: CodeBasis,
  signed: { readonly signing: SigningRequestRef; readonly plaintext: string | undefined },
): Promise<string | undefined> {
  const key = { orgId: basis.signedIn.session.orgId, requestId: signed.signing.requestId };
  return deps.database.transaction(async (tx) => {
    // `prompt=none` shows no wait page, so no second request can continue it.
    if (!isSilent(granted) && !(await deps.poolSigning.takeContinuation(tx, key))) return undefined;
    await deps.poolSigning.keepUntil(tx, { ...key, until: deps.clock() + CODE_LIFETIME_MS });
    return issueCode(deps, tx, granted, basis, signed);
  });
}

const isSilent = ({ request }: GrantedRequest): boolean => request.prompts.includes("none");

async function beginSigning(
  deps: BrowserDeps,
  visit: Visit,
  granted: GrantedRequest,
  basis: CodeBasis,
): Promise<SigningRequestRef> {
  const familyId = newUuid();
  const tokens = await tokensToSign(deps, visit, granted, basis, familyId);
  const response = await codeResponse(deps, granted.request, newCode().plaintext);
  const signingContext: BrowserSigningContext = {
    grantType: "authorization_code",
    address: addressOf(visit.request),
    ...(response ? { response } : {}),
  };
  if (isSilent(granted)) return deps.poolSigning.begin(tokens, signingContext);
  const { flow, request } = granted;
  // The user has consented; the consent page is not shown again after the wait.
  const prompts = request.prompts.filter((prompt) => prompt !== "consent");
  const consented = withConsent(withPrompts(flow, prompts), granted.access, basis.signedIn.user.id);
  const continuation = {
    kind: "authorization",
    flow: deps.flows.seal(consented),
    familyId,
    claimsHash: claimsHash(tokens),
    requestSigned: tokens.request?.requestSigned ?? null,
  } as const;
  const waiting = { sessionId: basis.signedIn.session.id, continuation };
  return deps.poolSigning.begin(tokens, { ...signingContext, waiting });
}

/** What the token endpoint will issue for the code, unless something changes by then. */
async function tokensToSign(
  deps: BrowserDeps,
  { organisation }: Visit,
  { flow, request, access }: GrantedRequest,
  { signedIn, consentId }: CodeBasis,
  familyId: string,
): Promise<TokensToSign> {
  const { application, scopes, resources, authorizationDetails, nonce, dpopJkt } = request;
  const now = deps.clock();
  const rules = await readAccessRules(deps, application.orgId);
  const subject = {
    resource: tokenResource({ scopes, resources }, application, rules),
    issuer: await applicationIssuer(deps, application),
    application,
    scopes,
    resources,
    authorizationDetails,
    jkt: dpopJkt ?? undefined,
    user: {
      user: signedIn.user,
      authentication: authenticationClaims(request, signedIn),
      nonce,
      sessionId: signedIn.session.id,
      familyId,
      consentId,
      requestedClaims: access.requestedClaims,
      granted: { definitions: access.definitions, createdAt: now },
    },
  };
  const added = await addedClaims(deps, subject);
  return unsignedTokens(organisation, { ...subject, added }, now, flow.origin?.isSigned === true);
}
