/** GET consent: the consent screen of a flow. The decision goes to POST authorize. */
import { requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { askedMark } from "../../../../core/consents/consent.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import { queryOf } from "../../../../http/form-body.ts";
import { inOrganisation } from "../../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  csrfToken,
  openFlow,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
} from "../browser.ts";
import { withAnotherAccount } from "../flow.ts";
import { readFlow, takeStep } from "../take-step.ts";
import { administratorConsentPage } from "./administrator-consent.page.ts";
import { consentPage } from "./consent.page.ts";
import { scopeText } from "./scope-text.ts";

export function consentRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/consent",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const { organisation, reply } = visit;
      const query = queryOf(visit.request);
      requireSingle(query);
      const flow = openFlow(deps, visit, query.values.get("flow"));
      const read = await readFlow(deps, visit, flow);
      if (!read) return reply;
      const { step } = read;
      if (read.kind === "page" || (step.kind !== "consent" && step.kind !== "ask-administrator")) {
        await takeStep(deps, visit, read);
        return reply;
      }
      const { request, asked } = read;
      const customScopes = await deps.customScopes.list(organisation.id);
      const frame = pageFrame(visit, request.uiLocales, step.signedIn.user);
      const otherAccount = withAnotherAccount(flow, request.prompts, deps.clock());
      const view = {
        ...frame,
        organisation: pageOrganisation(organisation),
        application: pageApplication(request.application),
        action: orgPath(organisation, "authorize"),
        csrf: csrfToken(deps, visit),
        flow: deps.flows.seal(flow),
        user: { email: step.signedIn.user.email },
        asked: askedMark(asked),
        scopes: asked.scopes.map((name) => scopeText(name, customScopes)),
        redirectHost: destination(request.redirectUri),
        otherAccountUri: `${orgPath(organisation, "authorize")}?flow=${deps.flows.seal(otherAccount)}`,
      };
      const page = step.kind === "consent" ? consentPage(view) : administratorConsentPage(view);
      await show(visit, frame, page, { leadsAway: true });
      return reply;
    }),
  );
}

/** Where the browser goes next, for reading: a host, or the scheme of an app. */
function destination(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.host === "" ? url.protocol : url.host;
}
