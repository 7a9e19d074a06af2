/** GET and POST verify-email: a sign-in that waits for a confirmed address, and the mail that confirms it. */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { User } from "../../../core/users/user.ts";
import { formOf, type PageForm, queryOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  isOwnForm,
  openFlow,
  orgPath,
  ownForm,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { readFlow, takeStep } from "../authorize/take-step.ts";
import { countRequest } from "./count-request.ts";
import { sendVerifyMail } from "./link-mail.ts";
import { noMailPage } from "./recovery.page.ts";
import { fromTheStart, hiddenOf, type Surroundings, surroundings, withFlow } from "./recovery-context.ts";
import { type VerifyOfferView, verifyOfferPage, verifySentPage } from "./verify-email.page.ts";

export function verifyOfferRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/verify-email",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const waiting = await waitingFor(deps, visit, queryOf(visit.request));
      if (waiting) await showOffer(deps, visit, waiting, {});
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/verify-email",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processOffer(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

interface Waiting {
  readonly user: User;
  readonly around: Surroundings;
}

/** The sign-in that waits for a confirmed address. @returns undefined when it waits for something else: that is shown */
async function waitingFor(deps: BrowserDeps, visit: Visit, form: Form): Promise<Waiting | undefined> {
  const sealed = form.values.get("flow");
  const read = await readFlow(deps, visit, openFlow(deps, visit, sealed));
  if (!read) return undefined;
  const { step } = read;
  if (step.kind === "verify-email") {
    const { user } = step.signedIn;
    return { user, around: await surroundings(deps, visit, sealed, user) };
  }
  await takeStep(deps, visit, read);
  return undefined;
}

async function processOffer(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const waiting = await waitingFor(deps, visit, form);
  if (!waiting) return;
  const { user, around } = waiting;
  const again = (shown: OfferShown) => showOffer(deps, visit, waiting, shown);
  if (!isOwnForm(deps, visit, form)) return again({ error: "session-expired", status: 403 });
  if (!deps.outbox.isOpen) return again({});
  const limited = await countRequest(deps, visit, `verify|${user.id}`);
  if (limited) return again({ error: "rate-limited", status: 429, ...limited });
  await sendVerifyMail(deps, visit, user, { flow: around.flow, locale: around.frame.messages.locale });
  return show(visit, around.frame, verifySentPage({ ...around, ...around.frame, email: user.email }));
}

type OfferShown = Pick<VerifyOfferView, "error" | "retryAfterSeconds"> & { readonly status?: number };

async function showOffer(
  deps: BrowserDeps,
  visit: Visit,
  { user, around }: Waiting,
  { status = 200, ...shown }: OfferShown,
): Promise<void> {
  const { frame, flow, organisation } = around;
  if (!deps.outbox.isOpen) {
    const advice = frame.messages.verifyEmail.notSetUp({ organisation: organisation.name });
    return show(visit, frame, noMailPage({ ...around, ...frame, advice }));
  }
  const page = verifyOfferPage({
    ...around,
    ...frame,
    ...shown,
    action: orgPath(visit.organisation, "verify-email"),
    hidden: hiddenOf(deps, visit, flow),
    email: user.email,
    otherAccountUri: withFlow(deps, visit, "authorize", flow && fromTheStart(flow, deps.clock())),
  });
  return show(visit, frame, page, { status });
}
