/** Carries out what next-step decided: the pages, the code, the refusal. Every browser step ends here. */

import { verifyJws } from "@signet/protocol/jws";
import { OAuthError } from "@signet/protocol/oauth-error";
import { CODE_LIFETIME_MS, newCode } from "../../../core/codes/authorization-code.ts";
import { insertCode } from "../../../core/codes/store.ts";
import { findConsents } from "../../../core/consents/store.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { Db } from "../../../db/open.ts";
import { accountPage } from "./account.page.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { type AuthorizationRequest, readAuthorizationRequest, readTarget } from "./authorization-request.ts";
import {
  type BrowserDeps,
  csrfToken,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
  whoIsThere,
} from "./browser.ts";
import { type Flow, formOfFlow } from "./flow.ts";
import { type LoginFailure, loginPage } from "./login.page.ts";
import { type NextStep, nextStep } from "./next-step.ts";

/** Characters; beside the browser's own headers they must fit into the 16 KiB of a request's head. */
const MAX_SEALED = 12_000;

export interface ReadFlow {
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  readonly step: NextStep;
}

/**
 * Reads the flow's request anew and decides. A fault that the client must hear is answered here.
 * @returns undefined when the answer has been sent
 * @throws OAuthError for a page, when there is no address to answer to
 */
export async function readFlow(deps: BrowserDeps, visit: Visit, flow: Flow): Promise<ReadFlow | undefined> {
  const form = formOfFlow(flow);
  const target = await readTarget(deps.applications, visit.organisation.id, form);
  try {
    requireCarriable(deps, flow);
    const request = readAuthorizationRequest(target, form);
    const signedIn = await whoIsThere(deps, visit);
    return { flow, request, step: await decide(deps, visit, flow, request, signedIn) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    await answerWithError(deps, visit, target, error);
    return undefined;
  }
}

/** The pages carry the sealed request in their addresses: one that would not fit there is refused before they begin. */
function requireCarriable(deps: BrowserDeps, flow: Flow): void {
  if (deps.flows.seal(flow).length <= MAX_SEALED) return;
  throw new OAuthError("invalid_request", "the request is too long");
}

async function decide(
  deps: BrowserDeps,
  { organisation }: Visit,
  flow: Flow,
  request: AuthorizationRequest,
  signedIn: SignedIn | undefined,
): Promise<NextStep> {
  const key = {
    orgId: organisation.id,
    applicationId: request.application.id,
    userId: signedIn?.user.id ?? "",
  };
  return nextStep({
    request,
    startedAt: flow.startedAt,
    now: deps.clock(),
    signedIn,
    hintedUser: await hintedUser(deps, organisation, request.idTokenHint),
    consents: signedIn ? await findConsents(deps.database.query, key) : [],
  });
}

/** Carries out the step of a flow that has been read. */
export async function takeStep(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request, step }: ReadFlow,
): Promise<void> {
  switch (step.kind) {
    case "refuse":
      return answerWithError(deps, visit, request, step.error);
    case "login":
      return showLogin(deps, visit, { flow, request });
    case "select-account":
      return showAccountChoice(deps, visit, { flow, request }, step.signedIn);
    case "consent": {
      const sealed = deps.flows.seal(flow);
      await visit.reply
        .header("cache-control", "no-store")
        .redirect(`${orgPath(visit.organisation, "consent")}?flow=${sealed}`, 303);
      return;
    }
    case "issue-code": {
      const code = await issueCode(deps, deps.database.query, request, step);
      return answerWithCode(deps, visit, request, code);
    }
  }
}

/** @param db the transaction in which the consent was given, or the plain connection */
export async function issueCode(
  deps: BrowserDeps,
  db: Db,
  request: AuthorizationRequest,
  { signedIn, consentId }: { signedIn: SignedIn; consentId: string | null },
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
    authentication: { authTime: session.authTime, amr: session.amr, acr: session.acr },
    createdAt: now,
    expiresAt: now + CODE_LIFETIME_MS,
    usedAt: null,
    familyId: null,
  });
  return plaintext;
}

export interface LoginShown {
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  /** What was typed; never the password. */
  readonly email?: string | undefined;
  readonly error?: LoginFailure;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
}

export async function showLogin(deps: BrowserDeps, visit: Visit, shown: LoginShown): Promise<void> {
  const { flow, request } = shown;
  const frame = pageFrame(visit, request.uiLocales);
  const page = loginPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    application: pageApplication(request.application),
    action: orgPath(visit.organisation, "login"),
    csrf: csrfToken(deps, visit),
    flow: deps.flows.seal(flow),
    email: shown.email ?? request.loginHint,
    ...(shown.error === undefined ? {} : { error: shown.error }),
    ...(shown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: shown.retryAfterSeconds }),
  });
  if (shown.retryAfterSeconds !== undefined)
    visit.reply.header("retry-after", String(shown.retryAfterSeconds));
  return show(visit, frame, page, { status: shown.status ?? 200, leadsAway: true });
}

async function showAccountChoice(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request }: Pick<ReadFlow, "flow" | "request">,
  { user }: SignedIn,
): Promise<void> {
  const frame = pageFrame(visit, request.uiLocales);
  const name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
  const page = accountPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    application: pageApplication(request.application),
    action: orgPath(visit.organisation, "authorize"),
    csrf: csrfToken(deps, visit),
    flow: deps.flows.seal(flow),
    user: { email: user.email, ...(name === "" ? {} : { name }) },
  });
  return show(visit, frame, page, { leadsAway: true });
}

/** An expired ID token is still a fine hint; one that we did not sign names nobody (null). */
async function hintedUser(
  deps: BrowserDeps,
  organisation: Organisation,
  hint: string | undefined,
): Promise<string | null | undefined> {
  if (hint === undefined) return undefined;
  const keys = await deps.keys.published(organisation.id);
  const jws = verifyJws(hint, (kid, alg) => keys.find((key) => key.kid === kid && key.alg === alg), {
    typ: ["JWT"],
  });
  if (jws?.payload.iss !== issuerOf(deps.baseUrl, organisation.id)) return null;
  return typeof jws?.payload.sub === "string" ? jws.payload.sub : null;
}
