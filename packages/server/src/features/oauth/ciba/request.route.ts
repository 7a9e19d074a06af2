/**
 * GET and POST /oauth/{org}/account/requests/{id}: the user that a CIBA request names sees which application asks for what, and
 * approves or denies it. Looking and approving want a sign-in of the last ten minutes that is as strong as was asked for; denying
 * wants a session.
 */
import type { FastifyInstance } from "fastify";
import { consentRequestHash } from "../../../core/consents/consent.ts";
import { FRESH_SIGN_IN_MS, type SignedIn } from "../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../core/tokens/signer.ts";
import { parsedForm } from "../../../http/form-body.ts";
import {
  type BrowserDeps,
  browserRoute,
  currentSession,
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
import { pageFlow } from "../authorize/page-request.ts";
import { waitBriefly, waitPath } from "../authorize/request/pool-signed-code.ts";
import { readFlow, takeStep } from "../authorize/take-step.ts";
import { decideRequest, requiresAdministrator } from "./decide-request.ts";
import { findRequestOfUser, type OwnRequest } from "./own-request.ts";
import {
  type RequestEnd,
  requestAdministratorPage,
  requestEndPage,
  requestQuestionPage,
} from "./request.page.ts";

export function cibaRequestRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/account/requests/:id", browserRoute(deps, showRequest));
  app.post("/oauth/:org/account/requests/:id", pageFormOptions, browserRoute(deps, processDecision));
}

async function showRequest(deps: BrowserDeps, visit: Visit): Promise<void> {
  const found = await requireOwnRequest(deps, visit);
  if (!found) return;
  const { own, signedIn } = found;
  if (await requiresAdministrator(deps.database.query, own))
    return showAdministratorRequired(deps, visit, own, signedIn);
  return showQuestion(deps, visit, own, signedIn);
}

async function processDecision(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const decision = form.values.get("decision");
  const found = await requireOwnRequest(deps, visit, { isDenial: decision === "deny" });
  if (!found) return;
  const { own, signedIn } = found;
  if (!hasValidCsrfToken(deps, visit, form)) return showQuestion(deps, visit, own, signedIn, 403);
  if (decision !== "deny" && (await requiresAdministrator(deps.database.query, own)))
    return showAdministratorRequired(deps, visit, own, signedIn);
  const isYes = decision === "allow" && form.values.get("asked") === consentRequestHash(own.access);
  if (!isYes && decision !== "deny") return showQuestion(deps, visit, own, signedIn);
  const outcome = await decideRequest(deps, visit, own, signedIn, decision);
  switch (outcome.kind) {
    case "signing":
      return showSigning(deps, visit, own, outcome.signingRequest);
    case "done":
      return showEnd(visit, own, decision === "allow" ? "approved" : "denied");
    case "ask-administrator":
      return showAdministratorRequired(deps, visit, own, signedIn);
    case "already-decided":
      return showEnd(visit, own, "gone");
  }
}

/**
 * The request of whoever is signed in, as recently and as strongly as it wants.
 * @returns undefined when a page was shown instead: of a sign-in, after which the browser returns here, or that there is no request
 */
async function requireOwnRequest(
  deps: BrowserDeps,
  visit: Visit,
  { isDenial = false } = {},
): Promise<{ readonly own: OwnRequest; readonly signedIn: SignedIn } | undefined> {
  const session = await currentSession(deps, visit);
  const seen = session && (await findRequestOfUser(deps, visit, session.user));
  // What is asked, and by whom, is told to the user alone.
  const signedIn = isDenial && seen ? session : await requireSignIn(deps, visit, seen);
  if (!signedIn) return undefined;
  const own = await findRequestOfUser(deps, visit, signedIn.user);
  if (own?.request.status === "pending" && own.request.scopes.length > 0) return { own, signedIn };
  await showEnd(visit, own, "gone");
  return undefined;
}

async function requireSignIn(
  deps: BrowserDeps,
  visit: Visit,
  own: OwnRequest | undefined,
): Promise<SignedIn | undefined> {
  const { organisation } = visit;
  const page = { place: "request", path: requestPath(visit) } as const;
  const flow = own
    ? pageFlow(organisation.id, { ...page, applicationId: own.application.id }, deps.clock(), {
        maxAgeSeconds: FRESH_SIGN_IN_MS / 1000,
        requiredAcr: own.application.settings.requiredAcr,
        acrValues: own.request.acrValues ?? undefined,
      })
    : pageFlow(organisation.id, page, deps.clock());
  const read = await readFlow(deps, visit, flow);
  if (read?.step.kind === "signed-in") return read.step.signedIn;
  if (read) await takeStep(deps, visit, read);
  return undefined;
}

const requestPath = ({ organisation, request }: Visit): string => {
  const { id = "" } = request.params as { id?: string };
  return orgPath(organisation, `account/requests/${encodeURIComponent(id)}`);
};

/** A quick agent has signed by now; otherwise the browser waits on the wait page. */
async function showSigning(
  deps: BrowserDeps,
  visit: Visit,
  own: OwnRequest,
  signingRequest: SigningRequestRef,
): Promise<void> {
  const outcome = await waitBriefly(deps, own.application, signingRequest);
  if (outcome === "signed") return showEnd(visit, own, "approved");
  return redirectTo(visit, waitPath(visit, signingRequest.requestId));
}

const frameOf = (visit: Visit, { user }: SignedIn) => pageFrame(visit, undefined, user, requestPath(visit));

/** @param status 403 when the form was too old or not ours: nothing was decided, and the page says so */
async function showQuestion(
  deps: BrowserDeps,
  visit: Visit,
  own: OwnRequest,
  signedIn: SignedIn,
  status: 200 | 403 = 200,
): Promise<void> {
  const frame = frameOf(visit, signedIn);
  const now = deps.clock();
  const { request, access } = own;
  const page = requestQuestionPage({
    ...frame,
    ...questionView(deps, visit, own, signedIn),
    asked: consentRequestHash(access),
    hasExpired: status === 403,
    bindingMessage: request.bindingMessage ?? undefined,
    secondsAgo: Math.max(0, (now - request.createdAt) / 1000),
    details: access.details.map(({ detail, displayName, text }) => ({
      ...{ type: detail.type, displayName, parts: text },
    })),
  });
  return show(visit, frame, page, { status });
}

async function showAdministratorRequired(
  deps: BrowserDeps,
  visit: Visit,
  own: OwnRequest,
  signedIn: SignedIn,
): Promise<void> {
  const frame = frameOf(visit, signedIn);
  const page = requestAdministratorPage({ ...frame, ...questionView(deps, visit, own, signedIn) });
  return show(visit, frame, page, { status: 403 });
}

const questionView = (
  deps: BrowserDeps,
  visit: Visit,
  { application, access, customScopes }: OwnRequest,
  { user }: SignedIn,
) => ({
  application: pageApplication(application),
  action: requestPath(visit),
  csrf: formBinding(deps, visit).csrf,
  user: { email: user.email },
  scopes: access.scopes.map((name) => scopeText(name, customScopes)),
});

async function showEnd(visit: Visit, own: OwnRequest | undefined, end: RequestEnd): Promise<void> {
  const frame = pageFrame(visit, undefined, undefined, requestPath(visit));
  const name = own?.application.name ?? "";
  return show(visit, frame, requestEndPage({ ...frame, end, application: { name } }), {
    status: end === "gone" ? 404 : 200,
  });
}
