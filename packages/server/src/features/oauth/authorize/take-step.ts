/** Reads a flow, decides its next step (next-step.ts) and carries the step out. Every handler of the flow ends here. */

import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { findConsents } from "../../../core/consents/consents.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { readAccessRules } from "../../../core/protected-resources/asked-access.ts";
import { grantableByUser } from "../../../core/scopes/api-scopes.ts";
import type { Db } from "../../../db/open.ts";
import { type BrowserDeps, flowPath, openFlow, redirectTo, type Visit } from "./browser.ts";
import { type RequestedAccess, requestedAccess } from "./consent/requested-access.ts";
import { showPasskeyOffer, showStepUp } from "./factors/factor-step.ts";
import { type Flow, flowForm, hasConsented } from "./flow.ts";
import { type NextStep, nextStep, signInStep } from "./next-step.ts";
import { type PageRequest, readPageRequest } from "./page-request.ts";
import { answerWithCode, answerWithError } from "./request/answer.ts";
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  readTarget,
} from "./request/authorization-request.ts";
import { type CodeBasis, issueCode } from "./request/issue-code.ts";
import { answerWithPoolSignedCode } from "./request/pool-signed-code.ts";
import { requireOrigin } from "./request/request-origin.ts";
import { showAccountChoice, showLogin, showNotAssigned } from "./sign-in/show-login.ts";
import { loadSignInContext } from "./sign-in-context.ts";

/** Characters; with the browser's own headers they must fit into the 16 KiB of a request's head. */
export const MAX_SEALED = 12_000;

export interface AuthorizationFlow {
  readonly kind: "authorization";
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  readonly access: RequestedAccess;
  readonly step: NextStep;
}

export interface PageFlow {
  readonly kind: "page";
  readonly flow: Flow;
  readonly request: PageRequest;
  readonly step: ReturnType<typeof signInStep>;
}

export type CurrentFlow = AuthorizationFlow | PageFlow;

/** As `readFlow`, for the sealed flow that a form or a query carries. */
export const readSealedFlow = async (
  deps: BrowserDeps,
  visit: Visit,
  sealed: string | undefined,
): Promise<CurrentFlow | undefined> => readFlow(deps, visit, openFlow(deps, visit, sealed));

/**
 * Reads the flow's request again and decides its next step. Errors that belong to the client are sent to it.
 * @returns undefined when the response has been sent
 * @throws OAuthError shown on a page, when there is no verified redirect URI
 */
export async function readFlow(
  deps: BrowserDeps,
  visit: Visit,
  flow: Flow,
): Promise<CurrentFlow | undefined> {
  const page = await readPageRequest(deps.applications, flow);
  if (page) {
    const step = signInStep(await loadSignInContext(deps, visit, flow, page));
    return { kind: "page", flow, request: page, step };
  }
  const form = flowForm(flow);
  const verified = await readTarget(deps, visit.organisation.id, form, visit.request, deps.refusedRequests);
  const target = { ...verified, pushed: flow.origin?.pushed };
  try {
    requireOrigin(visit.organisation, target.application, flow.origin);
    // The pages carry the sealed flow in their addresses.
    if (deps.flows.seal(flow).length > MAX_SEALED)
      throw new OAuthError("invalid_request", "the request is too long");
    const rules = await readAccessRules(deps, visit.organisation.id);
    const asked = readAuthorizationRequest(target, form, rules);
    requireKnownPrompts(visit.organisation, asked);
    const context = await loadSignInContext(deps, visit, flow, asked);
    const request = grantableRequest(asked, context.signedIn?.user);
    const access = requestedAccess(request, rules);
    const consents = await activeConsents(deps, request, context.signedIn?.user.id);
    const isConsented = hasConsented(flow, access, context.signedIn?.user.id);
    const step = nextStep({ ...context, request, access, consents, isConsented });
    return { kind: "authorization", flow, request, access, step };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    await answerWithError(deps, visit, target, error);
    return undefined;
  }
}

/** Where nobody signs up, `create` is as unknown as any other value (Initiating User Registration 1.0 §4.1). @throws OAuthError */
export function requireKnownPrompts({ settings }: Organisation, { prompts }: AuthorizationRequest): void {
  if (prompts.includes("create") && settings.signUp.mode === "off")
    throw new OAuthError("invalid_request", "prompt has an unknown value: create");
}

/** @throws OAuthError invalid_scope when this user may grant nothing of what is asked for */
function grantableRequest(
  request: AuthorizationRequest,
  user: { readonly role: string } | undefined,
): AuthorizationRequest {
  const scopes = grantableByUser(request.scopes, user, request.application.settings);
  if (scopes.length > 0) return { ...request, scopes };
  throw new OAuthError("invalid_scope", "only an administrator may grant these scopes", {
    reason: "scope-not-allowed",
  });
}

const activeConsents = async (
  { database }: BrowserDeps,
  { application }: AuthorizationRequest,
  userId: string | undefined,
) =>
  userId === undefined
    ? []
    : findConsents(database.query, { orgId: application.orgId, applicationId: application.id, userId });

export async function takeStep(deps: BrowserDeps, visit: Visit, current: CurrentFlow): Promise<void> {
  const { flow, request, step } = current;
  switch (step.kind) {
    case "refuse":
      return refuse(deps, visit, current, step.error);
    case "login":
      return showLogin(deps, visit, { flow, request });
    case "select-account":
      return showAccountChoice(deps, visit, { flow, request }, step.signedIn);
    case "second-factor":
    case "enrolment":
      return showStepUp(deps, visit, { flow, request, step });
    case "passkey-offer":
      return showPasskeyOffer(deps, visit, { flow, request }, step.signedIn);
    case "terms":
      return redirectTo(visit, flowPath(deps, visit, "terms", flow));
    case "sign-up":
      return redirectTo(visit, flowPath(deps, visit, "sign-up", flow));
    case "verify-email":
      return redirectTo(visit, flowPath(deps, visit, "verify-email", flow));
    case "not-assigned":
      return showNotAssigned(deps, visit, { flow, request, user: step.signedIn.user });
    case "signed-in":
      if (current.kind === "page") await redirectTo(visit, current.request.page.path);
      return;
    case "consent":
    case "ask-administrator":
      return redirectTo(visit, flowPath(deps, visit, "consent", flow));
    case "issue-code":
      if (current.kind === "authorization") await answerGranted(deps, visit, current, step);
  }
}

/** The code; for an application of a signing pool, first the wait for the agent's signature. */
export async function answerGranted(
  deps: BrowserDeps,
  visit: Visit,
  current: AuthorizationFlow,
  basis: CodeBasis,
): Promise<void> {
  if (current.request.application.settings.signingPoolId !== undefined)
    return answerWithPoolSignedCode(deps, visit, current, basis);
  // A pushed request is used up with its code, or not at all.
  const issue = (db: Db) => issueCode(deps, db, current, basis);
  const isPushed = current.request.pushed !== undefined;
  const code = await (isPushed ? deps.database.transaction(issue) : issue(deps.database.query));
  await answerWithCode(deps, visit, current.request, { code });
}

/** Sends the error to the client. @throws OAuthError shown on a page, when the flow has no client */
export function refuse(
  deps: BrowserDeps,
  visit: Visit,
  { kind, request }: CurrentFlow,
  error: OAuthError,
): Promise<void> {
  if (kind === "page") throw error;
  return answerWithError(deps, visit, request, error);
}
