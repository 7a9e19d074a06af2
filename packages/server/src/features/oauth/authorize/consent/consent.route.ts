/** GET consent: the consent page of a flow. Its form posts the decision to authorize. */
import { requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../../core/applications/application.ts";
import { consentRequestHash } from "../../../../core/consents/consent.ts";
import { parseQuery } from "../../../../http/form-body.ts";
import { type BrowserDeps, browserRoute, flowPath, show, type Visit } from "../browser.ts";
import { withAnotherAccount } from "../flow.ts";
import { flowPage } from "../page-request.ts";
import { readSealedFlow, takeStep } from "../take-step.ts";
import { administratorConsentPage, type ConsentView, consentPage } from "./consent.page.ts";
import { scopeText } from "./requested-access.ts";

export function consentRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/consent", browserRoute(deps, showConsent));
}

async function showConsent(deps: BrowserDeps, visit: Visit): Promise<void> {
  const query = parseQuery(visit.request);
  requireSingle(query);
  const current = await readSealedFlow(deps, visit, query.values.get("flow"));
  if (!current) return;
  const { step } = current;
  if (current.kind === "page" || (step.kind !== "consent" && step.kind !== "ask-administrator"))
    return takeStep(deps, visit, current);
  const { flow, request, access } = current;
  const { user } = step.signedIn;
  const customScopes = await deps.customScopes.list(visit.organisation.id);
  const { page: shared } = flowPage(deps, visit, current, user, "authorize");
  const otherAccount = withAnotherAccount(flow, request.prompts, deps.clock());
  const view = {
    ...shared,
    user: { email: user.email },
    asked: consentRequestHash(access),
    scopes: access.scopes.map((name) => scopeText(name, customScopes)),
    details: access.details.map(({ detail, displayName, text }) => ({
      ...{ type: detail.type, displayName, parts: text },
    })),
    redirectHost: redirectHost(request.redirectUri),
    unreviewed: unreviewed(request.application),
    otherAccountUri: flowPath(deps, visit, "authorize", otherAccount),
  };
  const page = step.kind === "consent" ? consentPage(view) : administratorConsentPage(view);
  return show(visit, shared, page, { redirectsElsewhere: true });
}

function unreviewed({ source, id }: Application): ConsentView["unreviewed"] {
  if (source === "registered") return undefined;
  return source === "metadata-document" ? { host: new URL(id).host } : {};
}

/** A host, or the scheme of a native app. */
function redirectHost(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.host === "" ? url.protocol : url.host;
}
