/**
 * GET and POST /oauth/{org}/device/verify (RFC 8628 §3.3): a signed-in user enters a code, sees which application requests
 * what and from where, and allows or denies it. A code in the URL only fills the field. GET /oauth/{org}/device leads here.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { consentRequestHash } from "../../../core/consents/consent.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { RateLimited, rateLimitHeaders } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../core/tokens/signer.ts";
import { type PageForm, parsedForm, parseQuery } from "../../../http/form-body.ts";
import { refusePageToProgram } from "../../../http/method-not-allowed.ts";
import {
  type BrowserDeps,
  browserRoute,
  formBinding,
  hasValidCsrfToken,
  orgPath,
  pageApplication,
  pageFormOptions,
  pageFrame,
  redirectTo,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { scopeText } from "../authorize/consent/requested-access.ts";
import type { InternalPage } from "../authorize/flow.ts";
import { pageFlow } from "../authorize/page-request.ts";
import { waitBriefly, waitPath } from "../authorize/request/pool-signed-code.ts";
import { readFlow, takeStep } from "../authorize/take-step.ts";
import { decideAuthorization, requiresAdministrator } from "./decide-authorization.ts";
import {
  findPendingAuthorization,
  type PendingAuthorization,
  requestedScopes,
} from "./find-authorization.ts";

import {
  type CodeFailure,
  codePage,
  deviceAdministratorPage,
  deviceDonePage,
  deviceQuestionPage,
} from "./verify.page.ts";

const MAX_INPUT_LENGTH = 64;

export function verifyRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/device", browserRoute(deps, redirectToVerify));
  app.get("/oauth/:org/device/verify", browserRoute(deps, askForCode));
  app.post("/oauth/:org/device/verify", pageFormOptions, browserRoute(deps, processForm));
}

async function redirectToVerify(_deps: BrowserDeps, visit: Visit): Promise<void> {
  if (await refusePageToProgram(visit.request, visit.reply, "POST")) return;
  const query = parseQuery(visit.request);
  requireSingle(query);
  return redirectTo(visit, verifyPage(visit, readUserCodeField(query)).path);
}

async function askForCode(deps: BrowserDeps, visit: Visit): Promise<void> {
  const query = parseQuery(visit.request);
  requireSingle(query);
  const input = readUserCodeField(query);
  const signedIn = await requireSignIn(deps, visit, input);
  const otherAccountUri = otherAccountLocation(deps, visit, input);
  if (signedIn) await showCodeForm(deps, visit, { signedIn, input, otherAccountUri });
}

async function processForm(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const input = readUserCodeField(form);
  const signedIn = await requireSignIn(deps, visit, input);
  if (!signedIn) return;
  const otherAccountUri = otherAccountLocation(deps, visit, input);
  const page = { signedIn, input, otherAccountUri };
  if (!hasValidCsrfToken(deps, visit, form))
    return showCodeForm(deps, visit, { ...page, error: "session-expired", status: 403 });
  try {
    const found = await findPendingAuthorization(deps, visit, signedIn.user, input);
    if (typeof found === "string") return showCodeForm(deps, visit, { ...page, error: found, status: 400 });
    // The application's sign-in requirements (RFC 9470) apply here too.
    const proven = await requireSignIn(deps, visit, input, found.application);
    if (!proven) return;
    return await handleDecision(deps, visit, { ...page, signedIn: proven, found }, form);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    visit.reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return showCodeForm(deps, visit, { ...page, error: "rate-limited", status: 429, retryAfterSeconds });
  }
}

async function handleDecision(
  deps: BrowserDeps,
  visit: Visit,
  page: QuestionPage,
  { values }: PageForm,
): Promise<void> {
  const { found, signedIn } = page;
  const decision = values.get("decision");
  if (decision !== "deny" && (await requiresAdministrator(deps.database.query, found, signedIn)))
    return showAdministratorConsentRequired(deps, visit, page);
  const isYes = decision === "allow" && values.get("asked") === consentRequestHash(requestedScopes(found));
  if (!isYes && decision !== "deny") return showDeviceQuestion(deps, visit, page);
  const outcome = await decideAuthorization(deps, visit, found, signedIn, decision);
  switch (outcome.kind) {
    case "signing":
      return showSigning(deps, visit, found, outcome.signingRequest);
    case "done":
      return showDone(visit, { decision, application: found.application });
    case "ask-administrator":
      return showAdministratorConsentRequired(deps, visit, page);
    case "already-decided":
      return showCodeForm(deps, visit, { ...page, error: "used-code", status: 400 });
  }
}

/** A quick agent has signed by now; otherwise the browser waits on the wait page. */
async function showSigning(
  deps: BrowserDeps,
  visit: Visit,
  { application }: PendingAuthorization,
  signingRequest: SigningRequestRef,
): Promise<void> {
  const outcome = await waitBriefly(deps, application, signingRequest);
  if (outcome === "signed") return showDone(visit, { decision: "allow", application });
  return redirectTo(visit, waitPath(visit, signingRequest.requestId));
}

interface VerifyPage {
  readonly signedIn: SignedIn;
  readonly input: string;
  readonly otherAccountUri: string;
}

interface QuestionPage extends VerifyPage {
  readonly found: PendingAuthorization;
}

/** In another language the page begins again with the code that was entered. */
const verifyFrame = (visit: Visit, { user }: SignedIn, input: string) =>
  pageFrame(visit, undefined, user, verifyPath(visit.organisation, input));

interface CodeFormPage extends VerifyPage {
  readonly error?: CodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showCodeForm(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, input, status = 200, ...failure }: CodeFormPage,
): Promise<void> {
  const frame = verifyFrame(visit, signedIn, input);
  const page = codePage({ ...frame, ...common(deps, visit, signedIn), ...failure, userCode: input });
  return show(visit, frame, page, { status });
}

async function showDeviceQuestion(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, input, otherAccountUri, found }: QuestionPage,
): Promise<void> {
  const frame = verifyFrame(visit, signedIn, input);
  const { authorization } = found;
  const page = deviceQuestionPage({
    ...frame,
    ...request(deps, visit, { signedIn, found }),
    otherAccountUri,
    asked: consentRequestHash(requestedScopes(found)),
    origin: {
      address: authorization.address,
      device: requesterName(authorization.userAgent),
      secondsAgo: Math.max(0, (deps.clock() - authorization.createdAt) / 1000),
    },
  });
  return show(visit, frame, page);
}

async function showAdministratorConsentRequired(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, input, otherAccountUri, found }: QuestionPage,
): Promise<void> {
  const frame = verifyFrame(visit, signedIn, input);
  const view = { ...frame, ...request(deps, visit, { signedIn, found }), otherAccountUri };
  return show(visit, frame, deviceAdministratorPage(view), { status: 403 });
}

function request(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, found }: Pick<QuestionPage, "signedIn" | "found">,
) {
  const { authorization, application, userCode, customScopes } = found;
  return {
    ...common(deps, visit, signedIn),
    application: pageApplication(application),
    userCode,
    scopes: authorization.scopes.map((name) => scopeText(name, customScopes)),
  };
}

async function showDone(
  visit: Visit,
  { decision, application }: { readonly decision: "allow" | "deny"; readonly application: Application },
): Promise<void> {
  const frame = pageFrame(visit, undefined, undefined, verifyPath(visit.organisation, ""));
  const page = deviceDonePage({ ...frame, application: pageApplication(application), decision });
  return show(visit, frame, page);
}

function common(deps: BrowserDeps, visit: Visit, { user }: SignedIn) {
  return {
    action: orgPath(visit.organisation, "device/verify"),
    csrf: formBinding(deps, visit).csrf,
    user: { email: user.email },
  };
}

/** A product with its version, or one word alone: the header is untrusted text. */
const product = /^[A-Za-z][A-Za-z0-9_.-]{0,29}(?:\/v?[0-9][0-9A-Za-z.-]{0,14}(?=$|[ ;(])|$)/;

/** @returns e.g. `Firefox, Windows` or `curl/8.5.0`; undefined when the header names neither browser nor product */
export function requesterName(userAgent: string): string | undefined {
  return browserName(userAgent) ?? product.exec(userAgent)?.[0];
}

export function readUserCodeField(form: Form): string {
  return (form.values.get("user_code") ?? "").trim().slice(0, MAX_INPUT_LENGTH);
}

/** @returns undefined when a sign-in page was shown instead: the browser returns here afterwards */
async function requireSignIn(
  deps: BrowserDeps,
  visit: Visit,
  input: string,
  application?: Application,
): Promise<SignedIn | undefined> {
  const page = verifyPage(visit, input);
  const { requiredAcr } = application?.settings ?? {};
  const flow = pageFlow(
    visit.organisation.id,
    application ? { ...page, applicationId: application.id } : page,
    deps.clock(),
    requiredAcr === undefined ? {} : { requiredAcr },
  );
  const read = await readFlow(deps, visit, flow);
  if (read?.step.kind === "signed-in") return read.step.signedIn;
  if (read) await takeStep(deps, visit, read);
  return undefined;
}

function verifyPage({ organisation }: Visit, input: string): InternalPage {
  return { place: "device", path: verifyPath(organisation, input) };
}

export function verifyPath(organisation: Organisation, userCode: string): string {
  const query = userCode === "" ? "" : `?${new URLSearchParams({ user_code: userCode })}`;
  return `${orgPath(organisation, "device/verify")}${query}`;
}

/** The same page after a sign-in with another account. */
function otherAccountLocation(deps: BrowserDeps, visit: Visit, input: string): string {
  const options = { prompt: "login" } as const;
  const flow = pageFlow(visit.organisation.id, verifyPage(visit, input), deps.clock(), options);
  return `${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(flow)}`;
}
