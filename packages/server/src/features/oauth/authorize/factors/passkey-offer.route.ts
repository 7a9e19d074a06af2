/** POST passkey-offer: no passkey for now; in this browser its user is asked again in a month. */
import type { FastifyInstance } from "fastify";
import { parsedForm } from "../../../../http/form-body.ts";
import {
  type BrowserDeps,
  browserRoute,
  continueFlow,
  hasValidCsrfToken,
  pageFormOptions,
  type Visit,
} from "../browser.ts";
import { postponed } from "../sign-in-context.ts";
import { readSealedFlow, takeStep } from "../take-step.ts";

const POSTPONED_SECONDS = 30 * 86_400;

export function passkeyOfferRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.post("/oauth/:org/passkey-offer", pageFormOptions, browserRoute(deps, postpone));
}

async function postpone(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  const { flow, step } = current;
  if (step.kind !== "passkey-offer" || !hasValidCsrfToken(deps, visit, form))
    return takeStep(deps, visit, current);
  const { reply, organisation } = visit;
  deps.postponedPasskeys.write(reply, organisation.id, postponed(step.signedIn.user), POSTPONED_SECONDS);
  return continueFlow(deps, visit, flow);
}
