/**
 * GET authorize: an authorization request (RFC 6749 §4.1.1). POST authorize: the decision on the consent or account page;
 * or an authorization request posted by another site (OpenID Connect Core §3.1.2.1), which is repeated by GET.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { consentRequestHash } from "../../../../core/consents/consent.ts";
import { grantUserConsent } from "../../../../core/consents/consents.store.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { parsedForm, parseQuery } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  continueFlow,
  hasValidCsrfToken,
  openFlow,
  redirectToGet,
  type Visit,
} from "../browser.ts";
import { type Flow, withAnotherAccount, withPrompts } from "../flow.ts";
import {
  type AuthorizationFlow,
  answerGranted,
  type CurrentFlow,
  readFlow,
  readSealedFlow,
  takeStep,
} from "../take-step.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { issueCode } from "./issue-code.ts";
import { receivedFlow } from "./received-request.ts";

export interface AuthorizeDeps extends BrowserDeps {
  /** Of an application that is offered to the organisation, which has not enabled it. @returns whether it has answered */
  answerNotEnabled(deps: BrowserDeps, visit: Visit, query: Form): Promise<boolean>;
}

export function authorizeRoutes(app: FastifyInstance, deps: AuthorizeDeps): void {
  app.get("/oauth/:org/authorize", browserRoute(deps, authorize));
  app.post("/oauth/:org/authorize", browserRoute(deps, decideOrRepeat));
}

async function authorize(deps: AuthorizeDeps, visit: Visit): Promise<void> {
  const query = parseQuery(visit.request);
  if (!carriesFlow(query) && (await deps.answerNotEnabled(deps, visit, query))) return;
  const flow = await requestedFlow(deps, visit, query);
  const current = flow && (await readFlow(deps, visit, flow));
  if (current) await takeStep(deps, visit, current);
}

async function decideOrRepeat(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  if (!carriesFlow(form)) return repeatByGet(deps, visit, form);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  // A foreign form, or one that another sign-in has overtaken, decides nothing: its step is shown again.
  if (!hasValidCsrfToken(deps, visit, form)) return takeStep(deps, visit, current);
  const { step } = current;
  const decision = form.values.get("decision");
  if (step.kind === "not-assigned" && current.kind === "authorization" && decision === "deny")
    return answerWithError(
      deps,
      visit,
      current.request,
      accessDenied("the user may not use this application"),
    );
  if (step.kind === "select-account") return chooseAccount(deps, visit, current, form.values.get("account"));
  if (current.kind === "page" || (step.kind !== "consent" && step.kind !== "ask-administrator"))
    return takeStep(deps, visit, current);
  const isCurrent = form.values.get("asked") === consentRequestHash(current.access);
  if (decision === "allow" && step.kind === "consent" && isCurrent) return allow(deps, visit, current, step);
  if (decision !== "deny") return takeStep(deps, visit, current);
  if (step.kind === "consent") await recordDecision(deps, visit, current, step.signedIn, "consent.denied");
  return answerWithError(deps, visit, current.request, accessDenied("the user did not consent"));
}

/** A page of this server sent the form. A client's own request may have a `flow` parameter too, which is ignored. */
function carriesFlow({ values }: Form): boolean {
  return values.has("flow") && !values.has("response_type") && !values.has("client_id");
}

/** A request object need not fit into a query: what it asks for goes on sealed. */
async function repeatByGet(deps: BrowserDeps, visit: Visit, form: Form): Promise<void> {
  if (!form.values.has("request")) return redirectToGet(visit, "authorize", form);
  const flow = await receivedFlow(deps, visit, form);
  if (flow) await continueFlow(deps, visit, flow);
}

async function requestedFlow(deps: BrowserDeps, visit: Visit, query: Form): Promise<Flow | undefined> {
  if (!carriesFlow(query)) return receivedFlow(deps, visit, query);
  requireSingle(query);
  return openFlow(deps, visit, query.values.get("flow"));
}

const accessDenied = (description: string) => new OAuthError("access_denied", description, { status: 400 });

const recordDecision = (
  { clock, database }: BrowserDeps,
  visit: Visit,
  { request, access }: AuthorizationFlow,
  { user }: SignedIn,
  action: "consent.granted" | "consent.denied",
  db = database.query,
) =>
  recordAuditEvent(db, {
    orgId: visit.organisation.id,
    at: clock(),
    actor: `user:${user.id}`,
    action,
    target: request.application.id,
    address: addressOf(visit.request),
    details: {
      scopes: access.scopes,
      ...(access.details.length > 0
        ? { authorizationDetails: access.details.map(({ detail }) => detail.type) }
        : {}),
    },
  });

async function allow(
  deps: BrowserDeps,
  visit: Visit,
  current: AuthorizationFlow,
  { signedIn, adminConsentId }: { signedIn: SignedIn; adminConsentId: string | null },
): Promise<void> {
  if (adminConsentId !== null) {
    if (current.access.details.length > 0)
      await recordDecision(deps, visit, current, signedIn, "consent.granted");
    return answerGranted(deps, visit, current, { signedIn, consentId: adminConsentId });
  }
  const { application } = current.request;
  const { scopes, fingerprints, definitions } = current.access;
  const { id: orgId } = visit.organisation;
  const { id: userId } = signedIn.user;
  const granted = { scopes, fingerprints, definitions, now: deps.clock() };
  const grant = { orgId, applicationId: application.id, userId, ...granted };
  const isPoolSigned = application.settings.signingPoolId !== undefined;
  const { consentId, code } = await deps.database.transaction(async (tx) => {
    const consentId = await grantUserConsent(tx, grant);
    await recordDecision(deps, visit, current, signedIn, "consent.granted", tx);
    // A pool-signed code is issued later; the consent is recorded now.
    if (isPoolSigned) return { consentId };
    return { consentId, code: await issueCode(deps, tx, current, { signedIn, consentId }) };
  });
  if (code === undefined) return answerGranted(deps, visit, current, { signedIn, consentId });
  return answerWithCode(deps, visit, current.request, { code });
}

/** The flow continues without `select_account`. */
async function chooseAccount(
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  account: string | undefined,
): Promise<void> {
  if (account !== "current" && account !== "other") return takeStep(deps, visit, current);
  const { flow, request } = current;
  const prompts = request.prompts.filter((prompt) => prompt !== "select_account");
  const chosen =
    account === "other" ? withAnotherAccount(flow, prompts, deps.clock()) : withPrompts(flow, prompts);
  return continueFlow(deps, visit, chosen);
}
