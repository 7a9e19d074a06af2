/**
 * The link of the mail: GET shows a form and changes nothing, because mail scanners follow links; POST sets the new
 * password, once. It signs nobody in: whoever has the mailbox still shows the second factor, in the ordinary sign-in.
 */

import type { FastifyInstance } from "fastify";
import { completeAction } from "../../../core/actions/complete-action.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { PASSWORD_MAX_LENGTH, passwordFault } from "../../../core/passwords/password-policy.ts";
import { formOf, type PageForm } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  goTo,
  isOwnForm,
  orgPath,
  originOf,
  ownForm,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { donePage, type NewPasswordFailure, newPasswordPage } from "./new-password.page.ts";
import { type OpenedLink, openLink, showBrokenLink } from "./opened-link.ts";
import {
  donePath,
  doneSurroundings,
  fromTheStart,
  hiddenOf,
  surroundings,
  withFlow,
} from "./recovery-context.ts";

export interface NewPasswordDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
}

export function newPasswordRoutes(app: FastifyInstance, deps: NewPasswordDeps): void {
  app.get(
    "/oauth/:org/recovery/:id",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const link = await openLink(deps, visit, "ResetPassword");
      if (link) await showForm(deps, visit, link, {});
      else await showBrokenLink(deps, visit, "ResetPassword");
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/recovery/:id",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processNewPassword(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
  app.get(
    "/oauth/:org/recovery/done",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await showDone(deps, visit);
      return visit.reply;
    }),
  );
}

async function processNewPassword(deps: NewPasswordDeps, visit: Visit, form: PageForm): Promise<void> {
  const link = await openLink(deps, visit, "ResetPassword");
  if (!link) return showBrokenLink(deps, visit, "ResetPassword");
  const again = (shown: FormShown) => showForm(deps, visit, link, shown);
  if (!isOwnForm(deps, visit, form)) return again({ error: "session-expired", status: 403 });
  const { user } = link;
  const password = form.values.get("password") ?? "";
  const fault = await passwordFault(password, {
    minLength: visit.organisation.settings.passwordMinLength,
    about: [user.email, user.firstname, user.surname],
  });
  if (fault) return again({ error: fault, status: 422 });
  try {
    const hash = await deps.passwords.hash(password);
    if (!(await setNewPassword(deps, visit, link, hash))) return showBrokenLink(deps, visit, "ResetPassword");
  } catch (error) {
    if (!(error instanceof PasswordQueueFull)) throw error;
    const { retryAfterSeconds } = error;
    visit.reply.header("retry-after", String(retryAfterSeconds));
    return again({ error: "busy", status: 503, retryAfterSeconds });
  }
  const { flow } = await surroundings(deps, visit, link.action.data.flow, user);
  const onward = flow && fromTheStart(flow, deps.clock());
  return goTo(visit, donePath(deps, visit, "recovery/done", { flow: onward, reader: user }));
}

async function setNewPassword(
  deps: NewPasswordDeps,
  visit: Visit,
  { named, action, user }: OpenedLink,
  passwordHash: string,
): Promise<boolean> {
  const { frame } = await surroundings(deps, visit, action.data.flow, user);
  const origin = { ...originOf(visit, undefined), locale: frame.messages.locale };
  return completeAction(deps, { action, id: named.id, passwordHash, origin });
}

interface FormShown {
  readonly error?: NewPasswordFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: NewPasswordDeps,
  visit: Visit,
  { named, action, user }: OpenedLink,
  { status = 200, ...shown }: FormShown,
): Promise<void> {
  const around = await surroundings(deps, visit, action.data.flow, user);
  const page = newPasswordPage({
    ...around,
    ...around.frame,
    ...shown,
    action: orgPath(visit.organisation, `recovery/${named.id}`),
    hidden: hiddenOf(deps, visit, undefined),
    email: user.email,
    leastLength: visit.organisation.settings.passwordMinLength,
    mostLength: PASSWORD_MAX_LENGTH,
  });
  return show(visit, around.frame, page, { status });
}

async function showDone(deps: NewPasswordDeps, visit: Visit): Promise<void> {
  const around = await doneSurroundings(deps, visit);
  const { frame, flow, organisation } = around;
  const text = frame.messages.recovery;
  const page = donePage({
    ...around,
    ...frame,
    heading: text.doneHeading,
    text: text.done({ organisation: organisation.name }),
    onwardUri: flow && withFlow(deps, visit, "authorize", flow),
    securityUri: orgPath(visit.organisation, "account/security"),
  });
  return show(visit, frame, page);
}
