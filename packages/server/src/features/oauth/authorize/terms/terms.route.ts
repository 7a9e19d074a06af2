/** GET and POST terms: the organisation's terms, which a sign-in waits for. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { recordAcceptance } from "../../../../core/terms/terms.ts";
import { parsedForm, parseQuery } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  continueFlow,
  flowPath,
  hasValidCsrfToken,
  pageFormOptions,
  redirectTo,
  show,
  type Visit,
} from "../browser.ts";
import type { TermsStep } from "../next-step.ts";
import { flowPage } from "../page-request.ts";
import { type CurrentFlow, readSealedFlow, refuse, takeStep } from "../take-step.ts";
import { termsDeclinedPage, termsPage } from "./terms.page.ts";

export function termsRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/terms", browserRoute(deps, showTerms));
  app.post("/oauth/:org/terms", pageFormOptions, browserRoute(deps, decide));
}

async function showTerms(deps: BrowserDeps, visit: Visit): Promise<void> {
  const current = await readSealedFlow(deps, visit, parseQuery(visit.request).values.get("flow"));
  if (!current) return;
  return current.step.kind === "terms"
    ? showPage(deps, visit, current, current.step)
    : takeStep(deps, visit, current);
}

async function decide(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  const { step, flow } = current;
  if (step.kind !== "terms") return takeStep(deps, visit, current);
  const { values } = form;
  if (!hasValidCsrfToken(deps, visit, form)) return showPage(deps, visit, current, step, 403);
  if (values.get("decision") === "decline") return decline(deps, visit, current);
  const { version } = step.terms;
  // Another version has come while the page stood there: it is shown first.
  if (values.get("decision") !== "accept" || values.get("terms-version") !== version)
    return showPage(deps, visit, current, step);
  const { id: orgId } = visit.organisation;
  const acceptance = { orgId, userId: step.signedIn.user.id, version, acceptedAt: deps.clock() };
  await deps.database.transaction((tx) =>
    recordAcceptance(tx, deps, { ...acceptance, address: addressOf(visit.request) }),
  );
  return continueFlow(deps, visit, flow);
}

/** Back to the application, where there is one that waits for an answer. */
async function decline(deps: BrowserDeps, visit: Visit, current: CurrentFlow): Promise<void> {
  if (current.kind === "authorization") {
    const error = new OAuthError("access_denied", "the user has not accepted the terms", { status: 403 });
    return refuse(deps, visit, current, error);
  }
  const { page } = current.request;
  // The legacy federation tells its application.
  if (page.place === "application") return redirectTo(visit, `${page.path}&error=access_denied`);
  const { page: frame } = flowPage(deps, visit, current, undefined, "terms");
  const againUri = flowPath(deps, visit, "terms", current.flow);
  return show(visit, frame, termsDeclinedPage({ ...frame, againUri }), { status: 403 });
}

async function showPage(
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  { terms, signedIn: { user } }: TermsStep,
  status = 200,
): Promise<void> {
  const { page: frame, redirectsElsewhere } = flowPage(deps, visit, current, user, "terms");
  return show(visit, frame, termsPage({ ...frame, terms, user }), { status, redirectsElsewhere });
}
