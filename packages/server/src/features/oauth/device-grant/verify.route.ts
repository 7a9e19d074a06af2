/**
 * GET and POST device/verify (RFC 8628 §3.3): a signed-in person types the code of a device, sees what asks for what and
 * from where, and allows or denies it. A code in the address fills the field and opens nothing.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { askedMark } from "../../../core/consents/consent.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { rateLimitHeaders } from "../../../core/rate-limits/rate-limit-headers.ts";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { BegunSigning } from "../../../core/tokens/signer.ts";
import { formOf, type PageForm, queryOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type BrowserDeps, goTo, isOwnForm, orgPath, ownForm, type Visit } from "../authorize/browser.ts";
import type { OwnPage } from "../authorize/flow.ts";
import { pageFlow } from "../authorize/page-request.ts";
import { holdAnswer, waitPath } from "../authorize/request/pool-signed-code.ts";
import { readFlow, takeStep } from "../authorize/take-step.ts";
import { answerDevice, needsAdministrator } from "./answer-device.ts";
import { askedOf, findDevice, type WaitingDevice } from "./find-device.ts";
import {
  showAdministratorFirst,
  showCodeForm,
  showDeviceQuestion,
  showDone,
  type VerifyShown,
} from "./show-verify.ts";

/** Longer input is nobody's code. */
const MOST_TYPED = 64;

export function verifyRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/device/verify",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const query = queryOf(visit.request);
      requireSingle(query);
      const typed = typedCode(query);
      const signedIn = await signedInFor(deps, visit, typed);
      if (signedIn)
        await showCodeForm(deps, visit, {
          signedIn,
          typed,
          otherAccountUri: otherAccount(deps, visit, typed),
        });
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/device/verify",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processForm(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

async function processForm(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const typed = typedCode(form);
  const signedIn = await signedInFor(deps, visit, typed);
  if (!signedIn) return;
  const otherAccountUri = otherAccount(deps, visit, typed);
  const shown = { signedIn, typed, otherAccountUri };
  if (!isOwnForm(deps, visit, form))
    return showCodeForm(deps, visit, { ...shown, error: "session-expired", status: 403 });
  try {
    const found = await findDevice(deps, visit, signedIn.user, typed);
    if (typeof found === "string") return showCodeForm(deps, visit, { ...shown, error: found, status: 400 });
    // What the application demands of a sign-in (RFC 9470), and of who signs in, holds for its devices too.
    const proven = await signedInFor(deps, visit, typed, found.application);
    if (!proven) return;
    return await decideOn(deps, visit, { ...shown, signedIn: proven, found }, form);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    visit.reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return showCodeForm(deps, visit, { ...shown, error: "rate-limited", status: 429, retryAfterSeconds });
  }
}

async function decideOn(
  deps: BrowserDeps,
  visit: Visit,
  shown: VerifyShown & { readonly found: WaitingDevice },
  { values }: PageForm,
): Promise<void> {
  const { found, signedIn } = shown;
  const decision = values.get("decision");
  if (decision !== "deny" && (await needsAdministrator(deps.database.query, found, signedIn)))
    return showAdministratorFirst(deps, visit, shown);
  const isYes = decision === "allow" && values.get("asked") === askedMark(askedOf(found));
  if (!isYes && decision !== "deny") return showDeviceQuestion(deps, visit, shown);
  const answered = await answerDevice(deps, visit, found, signedIn, decision);
  switch (answered.kind) {
    case "signing":
      return showSigning(deps, visit, found, answered.begun);
    case "done":
      return showDone(visit, { decision, application: found.application });
    case "ask-administrator":
      return showAdministratorFirst(deps, visit, shown);
    case "answered-before":
      return showCodeForm(deps, visit, { ...shown, error: "used-code", status: 400 });
  }
}

/** Who has a quick agent sees the end at once, everybody else waits for it on its page. */
async function showSigning(
  deps: BrowserDeps,
  visit: Visit,
  { application }: WaitingDevice,
  begun: BegunSigning,
): Promise<void> {
  const outcome = await holdAnswer(deps, application, begun);
  if (outcome === "signed") return showDone(visit, { decision: "allow", application });
  return goTo(visit, waitPath(visit, begun.requestId));
}

function typedCode(form: Form): string {
  return (form.values.get("user_code") ?? "").trim().slice(0, MOST_TYPED);
}

/** @returns undefined when the sign-in, or what it lacks, has been shown: at its end the browser comes back here */
async function signedInFor(
  deps: BrowserDeps,
  visit: Visit,
  typed: string,
  application?: Application,
): Promise<SignedIn | undefined> {
  const page = verifyPage(visit, typed);
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

function verifyPage({ organisation }: Visit, typed: string): OwnPage {
  const query = typed === "" ? "" : `?${new URLSearchParams({ user_code: typed })}`;
  return { place: "device", path: `${orgPath(organisation, "device/verify")}${query}` };
}

/** The same page, signed in as somebody else. */
function otherAccount(deps: BrowserDeps, visit: Visit, typed: string): string {
  const wish = { prompt: "login" } as const;
  const flow = pageFlow(visit.organisation.id, verifyPage(visit, typed), deps.clock(), wish);
  return `${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(flow)}`;
}
