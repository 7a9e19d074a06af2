/**
 * GET and POST recovery: a person has forgotten the password and says for which address. What is answered, and how long
 * it takes, is the same for every address.
 */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import { formOf, type PageForm, queryOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  isOwnForm,
  orgPath,
  ownForm,
  show,
  type Visit,
  whoIsThere,
} from "../authorize/browser.ts";
import { countRequest } from "./count-request.ts";
import { sendResetMail } from "./link-mail.ts";
import { noMailPage, type RecoveryFailure, recoveryPage, recoverySentPage } from "./recovery.page.ts";
import { hiddenOf, type Surroundings, surroundings, withFlow } from "./recovery-context.ts";

export function recoveryRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/recovery",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const around = await aroundForm(deps, visit, queryOf(visit.request));
      await showForm(deps, visit, around, {});
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/recovery",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processRequest(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

/** Whoever is signed in reads their own language, whichever address they type. */
async function aroundForm(deps: BrowserDeps, visit: Visit, { values }: Form): Promise<Surroundings> {
  const signedIn = await whoIsThere(deps, visit);
  return surroundings(deps, visit, values.get("flow"), signedIn?.user);
}

async function processRequest(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const around = await aroundForm(deps, visit, form);
  const email = (form.values.get("email") ?? "").trim().slice(0, 300);
  const again = (shown: Omit<FormShown, "email">) => showForm(deps, visit, around, { ...shown, email });

  if (!isOwnForm(deps, visit, form)) return again({ error: "session-expired", status: 403 });
  if (!deps.outbox.isOpen) return again({});
  if (!isEmail(email)) return again({ error: "invalid-email", status: 422 });
  const limited = await countRequest(deps, visit, emailKey(email));
  if (limited) return again({ error: "rate-limited", status: 429, ...limited });
  const { flow, frame } = around;
  await sendResetMail(deps, visit, email, { flow, locale: frame.messages.locale });
  const page = recoverySentPage({
    ...around,
    ...frame,
    email,
    againUri: withFlow(deps, visit, "recovery", flow),
  });
  return show(visit, frame, page);
}

interface FormShown {
  readonly email?: string;
  readonly error?: RecoveryFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  around: Surroundings,
  { status = 200, ...shown }: FormShown,
): Promise<void> {
  const { frame, flow, organisation } = around;
  const signInUri = flow && withFlow(deps, visit, "authorize", flow);
  if (!deps.outbox.isOpen) {
    const advice = frame.messages.recovery.notSetUp({ organisation: organisation.name });
    return show(visit, frame, noMailPage({ ...around, ...frame, advice, signInUri }));
  }
  const page = recoveryPage({
    ...around,
    ...frame,
    ...shown,
    action: orgPath(visit.organisation, "recovery"),
    hidden: hiddenOf(deps, visit, flow),
    signInUri,
  });
  return show(visit, frame, page, { status });
}
