/**
 * The code of an application whose tokens an agent signs (sovereign-signing.md §4): the request is made when everything
 * is decided, and the code is issued when it is signed. Who is quick enough never sees the wait page.
 */

import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../../../../core/applications/application.ts";
import { CODE_LIFETIME_MS } from "../../../../core/codes/authorization-code.ts";
import { addedClaims } from "../../../../core/tokens/claims.ts";
import type { BrowserOccasion, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import {
  type BegunSigning,
  claimsHash,
  type TokensToSign,
  unsignedTokens,
} from "../../../../core/tokens/signer.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, goTo, orgPath, type Visit } from "../browser.ts";
import { withPrompts } from "../flow.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { authenticationFor, type CodeGround, type DecidedRequest, issueCode } from "./issue-code.ts";

/** The longest that the answer is held for an agent that signs without asking anybody. */
const HOLD_MS = 1_500;

export async function answerSigned(
  deps: BrowserDeps,
  visit: Visit,
  decided: DecidedRequest,
  ground: CodeGround,
): Promise<void> {
  const { request } = decided;
  try {
    const begun = await begin(deps, visit, decided, ground);
    const outcome = isSilent(decided)
      ? await waitAsClientsDo(deps, request.application, begun)
      : await holdAnswer(deps, request.application, begun);
    if (outcome === "signed") {
      const code = await issueSignedCode(deps, decided, ground, begun);
      if (code !== undefined) return await answerWithCode(deps, visit, request, code);
    }
    // The wait page tells what went wrong, and leads back to the application.
    if (!isSilent(decided)) return await goTo(visit, waitPath(visit, begun.requestId));
    throw outcome instanceof OAuthError ? outcome : notInTime();
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    await answerWithError(deps, visit, request, error);
  }
}

async function waitAsClientsDo(
  { poolSigning }: Pick<BrowserDeps, "poolSigning">,
  application: Application,
  { requestId }: BegunSigning,
  longestMs = Number.POSITIVE_INFINITY,
): Promise<SigningOutcome> {
  const ms = Math.min(await poolSigning.waitMs(application), longestMs);
  return poolSigning.waitFor(application.orgId, requestId, ms);
}

/** For a browser, which has the wait page to go to. */
export const holdAnswer = (
  deps: Pick<BrowserDeps, "poolSigning">,
  application: Application,
  begun: BegunSigning,
): Promise<SigningOutcome> => waitAsClientsDo(deps, application, begun, HOLD_MS);

export const waitPath = ({ organisation }: Visit, requestId: string): string =>
  orgPath(organisation, `sovereign/wait/${requestId}`);

const notInTime = () =>
  new OAuthError("temporarily_unavailable", "no signing agent has signed in time", { status: 400 });

/** The single use of a signed request. @returns undefined when its code was issued before */
export function issueSignedCode(
  deps: BrowserDeps,
  decided: DecidedRequest,
  ground: CodeGround,
  begun: BegunSigning,
): Promise<string | undefined> {
  const which = { orgId: ground.signedIn.session.orgId, requestId: begun.requestId };
  return deps.database.transaction(async (tx) => {
    // With `prompt=none` there is no page that a second browser could come from.
    const isOnce = isSilent(decided) || (await deps.poolSigning.takeContinuation(tx, which));
    if (!isOnce) return undefined;
    await deps.poolSigning.keepUntil(tx, { ...which, until: deps.clock() + CODE_LIFETIME_MS });
    return issueCode(deps, tx, decided, ground, begun);
  });
}

const isSilent = ({ request }: DecidedRequest): boolean => request.prompts.includes("none");

async function begin(
  deps: BrowserDeps,
  visit: Visit,
  decided: DecidedRequest,
  ground: CodeGround,
): Promise<BegunSigning> {
  const familyId = newUuid();
  const tokens = await tokensOf(deps, visit, decided, ground, familyId);
  const occasion: BrowserOccasion = { grantType: "authorization_code", address: addressOf(visit.request) };
  if (isSilent(decided)) return deps.poolSigning.begin(tokens, occasion);
  const { flow, request } = decided;
  // The consent that was asked for has been given: it is not asked for again when the browser comes back.
  const prompts = request.prompts.filter((prompt) => prompt !== "consent");
  const continuation = {
    kind: "authorization",
    flow: deps.flows.seal(withPrompts(flow, prompts)),
    familyId,
    claimsHash: claimsHash(tokens),
  } as const;
  const waiting = { sessionId: ground.signedIn.session.id, continuation };
  return deps.poolSigning.begin(tokens, { ...occasion, waiting });
}

/** What the token endpoint will find when the code is redeemed, unless something has changed by then. */
async function tokensOf(
  deps: BrowserDeps,
  { organisation }: Visit,
  { request, asked }: DecidedRequest,
  { signedIn, consentId }: CodeGround,
  familyId: string,
): Promise<TokensToSign> {
  const { application, scopes, resources, nonce } = request;
  const subject = {
    issuer: await deps.poolSigning.issuer(organisation, application),
    application,
    scopes,
    resources,
    user: {
      user: signedIn.user,
      authentication: authenticationFor(request, signedIn),
      nonce,
      sessionId: signedIn.session.id,
      familyId,
      consentId,
      requestedClaims: asked.requestedClaims,
    },
  };
  return unsignedTokens(organisation, { ...subject, added: await addedClaims(deps, subject) }, deps.clock());
}
