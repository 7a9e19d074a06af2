/**
 * GET authorize: an authorization request. POST authorize: the consent decision, or the choice of an account, of a page
 * of ours; or an authorization request that another site posts (OpenID Connect Core §3.1.2.1), which is turned into the
 * same request by GET, so that the browser sends its Lax cookies along.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { askedMark } from "../../../../core/consents/consent.ts";
import { grantUserConsent } from "../../../../core/consents/consents.store.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { formOf, type PageForm, queryOf } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../../http/organisation-lookup.ts";
import { type BrowserDeps, isOwnForm, openFlow, orgPath, type Visit } from "../browser.ts";
import { type Flow, flowOf, withAnotherAccount, withPrompts } from "../flow.ts";
import { issue, type ReadFlow, type ReadPageFlow, readFlow, takeStep } from "../take-step.ts";
import { answerWithCode, answerWithError } from "./answer.ts";
import { issueCode } from "./issue-code.ts";
import { repeatByGet } from "./repeat-by-get.ts";

export function authorizeRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/authorize",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const flow = flowOfQuery(deps, visit, queryOf(visit.request));
      const read = await readFlow(deps, visit, flow);
      if (read) await takeStep(deps, visit, read);
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/authorize",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const form = formOf(visit.request);
      if (isOfOurPages(form)) await processDecision(deps, visit, form);
      else await repeatByGet(visit, "authorize", form);
      return visit.reply;
    }),
  );
}

/** A request that another site makes may have a `flow` too, which means nothing here. */
function isOfOurPages({ values }: Form): boolean {
  return values.has("flow") && !values.has("response_type") && !values.has("client_id");
}

/** The request itself, or one of ours on its way. */
function flowOfQuery(deps: BrowserDeps, visit: Visit, query: Form): Flow {
  if (!isOfOurPages(query)) return flowOf(visit.organisation.id, query, deps.clock());
  requireSingle(query);
  return openFlow(deps, visit, query.values.get("flow"));
}

async function processDecision(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const flow = openFlow(deps, visit, form.values.get("flow"));
  const read = await readFlow(deps, visit, flow);
  if (!read) return;
  // Not from our page, or signed in anew meanwhile: the step is shown again and nothing is decided.
  if (!isOwnForm(deps, visit, form)) return takeStep(deps, visit, read);
  const { step } = read;
  const decision = form.values.get("decision");
  if (step.kind === "not-assigned" && read.kind === "authorization" && decision === "deny")
    return answerWithError(deps, visit, read.request, keptOut());
  if (step.kind === "select-account") return chooseAccount(deps, visit, read, form.values.get("account"));
  if (read.kind === "page" || (step.kind !== "consent" && step.kind !== "ask-administrator"))
    return takeStep(deps, visit, read);
  const isOfThis = form.values.get("asked") === askedMark(read.asked);
  if (decision === "allow" && step.kind === "consent" && isOfThis) return allow(deps, visit, read, step);
  if (decision !== "deny") return takeStep(deps, visit, read);
  if (step.kind === "consent") await recordDenial(deps, visit, read, step.signedIn);
  const denied = new OAuthError("access_denied", "the user did not consent", { status: 400 });
  return answerWithError(deps, visit, read.request, denied);
}

const recordDenial = (deps: BrowserDeps, visit: Visit, { request, asked }: ReadFlow, { user }: SignedIn) =>
  recordAuditEvent(deps.database.query, {
    orgId: visit.organisation.id,
    at: deps.clock(),
    actor: `user:${user.id}`,
    action: "consent.denied",
    target: request.application.id,
    address: addressOf(visit.request),
    details: { scopes: asked.scopes },
  });

const keptOut = () =>
  new OAuthError("access_denied", "the user may not use this application", { status: 400 });

async function allow(
  deps: BrowserDeps,
  visit: Visit,
  read: ReadFlow,
  { signedIn, restsOn }: { signedIn: SignedIn; restsOn: string | null },
): Promise<void> {
  const now = deps.clock();
  const { id: orgId } = visit.organisation;
  const { request, asked } = read;
  const { application } = request;
  const { scopes, fingerprints } = asked;
  const userId = signedIn.user.id;
  if (restsOn !== null) return issue(deps, visit, read, { signedIn, consentId: restsOn });
  const isPoolSigned = application.settings.signingPoolId !== undefined;
  const given = await deps.database.transaction(async (tx) => {
    const grant = { orgId, applicationId: application.id, userId, scopes, fingerprints, now };
    const consentId = await grantUserConsent(tx, grant);
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: `user:${userId}`,
      action: "consent.granted",
      target: application.id,
      address: addressOf(visit.request),
      details: { scopes },
    });
    // A code that waits for an agent is issued later; the consent is given all the same.
    return {
      consentId,
      code: isPoolSigned ? undefined : await issueCode(deps, tx, read, { signedIn, consentId }),
    };
  });
  if (given.code === undefined) return issue(deps, visit, read, { signedIn, consentId: given.consentId });
  return answerWithCode(deps, visit, request, given.code);
}

/** Either way the request goes on without the question. */
async function chooseAccount(
  deps: BrowserDeps,
  visit: Visit,
  read: ReadFlow | ReadPageFlow,
  account: string | undefined,
): Promise<void> {
  const { flow, request } = read;
  if (account !== "current" && account !== "other") return takeStep(deps, visit, read);
  const prompts = request.prompts.filter((prompt) => prompt !== "select_account");
  const chosen =
    account === "other" ? withAnotherAccount(flow, prompts, deps.clock()) : withPrompts(flow, prompts);
  await visit.reply
    .header("cache-control", "no-store")
    .redirect(`${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(chosen)}`, 303);
}
