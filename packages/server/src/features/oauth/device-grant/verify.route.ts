/**
 * GET and POST /oauth/{org}/device/verify (RFC 8628 §3.3): a signed-in user enters a code, sees which application requests
 * what and from where, and allows or denies it. A code in the URL only fills the field.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { consentRequestHash } from "../../../core/consents/consent.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { RateLimited, rateLimitHeaders } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningRequestRef } from "../../../core/tokens/signer.ts";
import { type PageForm, parsedForm, parseQuery } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  redirectTo,
  type Visit,
} from "../authorize/browser.ts";
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
  showAdministratorConsentRequired,
  showCodeForm,
  showDeviceQuestion,
  showDone,
  type VerifyPage,
} from "./show-verify.ts";

const MAX_INPUT_LENGTH = 64;

export function verifyRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/device/verify",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const query = parseQuery(visit.request);
      requireSingle(query);
      const input = readUserCodeField(query);
      const signedIn = await requireSignIn(deps, visit, input);
      if (signedIn)
        await showCodeForm(deps, visit, {
          signedIn,
          input,
          otherAccountUri: otherAccountLocation(deps, visit, input),
        });
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/device/verify",
    pageFormOptions,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processForm(deps, visit, parsedForm(visit.request));
      return visit.reply;
    }),
  );
}

async function processForm(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const input = readUserCodeField(form);
  const signedIn = await requireSignIn(deps, visit, input);
  if (!signedIn) return;
  const otherAccountUri = otherAccountLocation(deps, visit, input);
  const shown = { signedIn, input, otherAccountUri };
  if (!hasValidCsrfToken(deps, visit, form))
    return showCodeForm(deps, visit, { ...shown, error: "session-expired", status: 403 });
  try {
    const found = await findPendingAuthorization(deps, visit, signedIn.user, input);
    if (typeof found === "string") return showCodeForm(deps, visit, { ...shown, error: found, status: 400 });
    // The application's sign-in requirements (RFC 9470) apply here too.
    const proven = await requireSignIn(deps, visit, input, found.application);
    if (!proven) return;
    return await handleDecision(deps, visit, { ...shown, signedIn: proven, found }, form);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    visit.reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return showCodeForm(deps, visit, { ...shown, error: "rate-limited", status: 429, retryAfterSeconds });
  }
}

async function handleDecision(
  deps: BrowserDeps,
  visit: Visit,
  shown: VerifyPage & { readonly found: PendingAuthorization },
  { values }: PageForm,
): Promise<void> {
  const { found, signedIn } = shown;
  const decision = values.get("decision");
  if (decision !== "deny" && (await requiresAdministrator(deps.database.query, found, signedIn)))
    return showAdministratorConsentRequired(deps, visit, shown);
  const isYes = decision === "allow" && values.get("asked") === consentRequestHash(requestedScopes(found));
  if (!isYes && decision !== "deny") return showDeviceQuestion(deps, visit, shown);
  const outcome = await decideAuthorization(deps, visit, found, signedIn, decision);
  switch (outcome.kind) {
    case "signing":
      return showSigning(deps, visit, found, outcome.begun);
    case "done":
      return showDone(visit, { decision, application: found.application });
    case "ask-administrator":
      return showAdministratorConsentRequired(deps, visit, shown);
    case "already-decided":
      return showCodeForm(deps, visit, { ...shown, error: "used-code", status: 400 });
  }
}

/** A quick agent has signed by now; otherwise the browser waits on the wait page. */
async function showSigning(
  deps: BrowserDeps,
  visit: Visit,
  { application }: PendingAuthorization,
  begun: SigningRequestRef,
): Promise<void> {
  const outcome = await waitBriefly(deps, application, begun);
  if (outcome === "signed") return showDone(visit, { decision: "allow", application });
  return redirectTo(visit, waitPath(visit, begun.requestId));
}

function readUserCodeField(form: Form): string {
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
  const query = input === "" ? "" : `?${new URLSearchParams({ user_code: input })}`;
  return { place: "device", path: `${orgPath(organisation, "device/verify")}${query}` };
}

/** The same page after a sign-in with another account. */
function otherAccountLocation(deps: BrowserDeps, visit: Visit, input: string): string {
  const options = { prompt: "login" } as const;
  const flow = pageFlow(visit.organisation.id, verifyPage(visit, input), deps.clock(), options);
  return `${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(flow)}`;
}
