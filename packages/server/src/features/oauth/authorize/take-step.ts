/** Carries out what next-step decided: the pages, the code, the refusal. Every browser step ends here. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { findConsents } from "../../../core/consents/consents.store.ts";
import { type BrowserDeps, goTo, orgPath, type Visit } from "./browser.ts";
import { type Asked, askedScopes } from "./consent/asked-scopes.ts";
import { showFactorStepOfSession } from "./factors/show-factor-step.ts";
import { type Flow, formOfFlow } from "./flow.ts";
import { type NextStep, nextStep, signInStep } from "./next-step.ts";
import { type PageRequest, readPageRequest } from "./page-request.ts";
import { answerWithCode, answerWithError } from "./request/answer.ts";
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  readTarget,
} from "./request/authorization-request.ts";
import { type CodeGround, issueCode } from "./request/issue-code.ts";
import { answerSigned } from "./request/pool-signed-code.ts";
import { showAccountChoice, showLogin } from "./sign-in/show-login.ts";
import { showNotAssigned } from "./sign-in/show-not-assigned.ts";
import { signInSituation } from "./sign-in-situation.ts";

/** Characters; beside the browser's own headers they must fit into the 16 KiB of a request's head. */
const MAX_SEALED = 12_000;

/** The flow of an authorization request. */
export interface ReadFlow {
  readonly kind: "authorization";
  readonly flow: Flow;
  readonly request: AuthorizationRequest;
  readonly asked: Asked;
  readonly step: NextStep;
}

/** The flow of a sign-in for a page of our own. */
export interface ReadPageFlow {
  readonly kind: "page";
  readonly flow: Flow;
  readonly request: PageRequest;
  readonly step: ReturnType<typeof signInStep>;
}

/**
 * Reads the flow's request anew and decides. A fault that the client must hear is answered here.
 * @returns undefined when the answer has been sent
 * @throws OAuthError for a page, when there is no address to answer to
 */
export async function readFlow(
  deps: BrowserDeps,
  visit: Visit,
  flow: Flow,
): Promise<ReadFlow | ReadPageFlow | undefined> {
  const page = await readPageRequest(deps.applications, flow);
  if (page) {
    const step = signInStep(await signInSituation(deps, visit, flow, page));
    return { kind: "page", flow, request: page, step };
  }
  const form = formOfFlow(flow);
  const target = await readTarget(deps.applications, visit.organisation.id, form);
  try {
    requireCarriable(deps, flow);
    const request = readAuthorizationRequest(target, form);
    const asked = askedScopes(request, await deps.customScopes.list(visit.organisation.id));
    const step = await decide(deps, visit, flow, request, asked);
    return { kind: "authorization", flow, request, asked, step };
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
  visit: Visit,
  flow: Flow,
  request: AuthorizationRequest,
  asked: Asked,
): Promise<NextStep> {
  const situation = await signInSituation(deps, visit, flow, request);
  const { signedIn } = situation;
  const key = {
    orgId: visit.organisation.id,
    applicationId: request.application.id,
    userId: signedIn?.user.id ?? "",
  };
  const consents = signedIn ? await findConsents(deps.database.query, key) : [];
  return nextStep({ ...situation, request, asked, consents });
}

/** Carries out the step of a flow that has been read. */
export async function takeStep(
  deps: BrowserDeps,
  visit: Visit,
  read: ReadFlow | ReadPageFlow,
): Promise<void> {
  const { flow, request, step } = read;
  switch (step.kind) {
    case "refuse":
      return refuse(deps, visit, read, step.error);
    case "login":
      return showLogin(deps, visit, { flow, request });
    case "select-account":
      return showAccountChoice(deps, visit, { flow, request }, step.signedIn);
    case "second-factor":
    case "enrolment":
      return showFactorStepOfSession(deps, visit, { flow, request, step });
    case "verify-email":
      return goTo(visit, `${orgPath(visit.organisation, "verify-email")}?flow=${deps.flows.seal(flow)}`);
    case "not-assigned":
      return showNotAssigned(deps, visit, { flow, request, user: step.signedIn.user });
    case "signed-in":
      if (read.kind === "page") await goTo(visit, read.request.page.path);
      return;
    case "consent":
    case "ask-administrator":
      return goTo(visit, `${orgPath(visit.organisation, "consent")}?flow=${deps.flows.seal(flow)}`);
    case "issue-code":
      if (read.kind === "authorization") await issue(deps, visit, read, step);
  }
}

/** Everything is decided: the code, or first the wait for the agent that signs what it stands for. */
export async function issue(
  deps: BrowserDeps,
  visit: Visit,
  read: ReadFlow,
  ground: CodeGround,
): Promise<void> {
  if (read.request.application.settings.signingPoolId !== undefined)
    return answerSigned(deps, visit, read, ground);
  const code = await issueCode(deps, deps.database.query, read, ground);
  await answerWithCode(deps, visit, read.request, code);
}

/** To the client; a page of our own has none, and shows it. @throws OAuthError for a page */
export function refuse(
  deps: BrowserDeps,
  visit: Visit,
  read: ReadFlow | ReadPageFlow,
  error: OAuthError,
): Promise<void> {
  if (read.kind === "page") throw error;
  return answerWithError(deps, visit, read.request, error);
}

/** On with the flow. */
export const goOn = (deps: BrowserDeps, visit: Visit, flow: Flow): Promise<void> =>
  goTo(visit, `${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(flow)}`);
