/** users/{id}/new-password: generates a password and shows it once; everyone who knew the present one is signed out. */
import type { FastifyInstance } from "fastify";
import { generatePassword, withPrecomputedHash } from "../../../core/passwords/password-hasher.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { User } from "../../../core/users/user.ts";
import { setPassword } from "../../../core/users/users.ts";
import { confirmActPage, shownOncePage } from "../../../html/components/act.page.ts";
import type { ConsoleFrame, ConsoleView } from "../../../html/components/console-layout.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consoleRoute,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { memberPages, ownAccountRefusal, requireOwnUser, type UsersDeps } from "./user-pages.ts";
import { SECURITY } from "./user-record.ts";

export function newPasswordRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id/new-password", {
    get: showQuestion,
    post: setNewPassword,
  });
}

async function showQuestion(deps: UsersDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  await ask(deps, visit, signedIn, await requireOwnUser(deps, visit));
}

const ask = (
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  user: User,
  shown: Pick<FormShown<undefined>, "failure" | "status"> = {},
): Promise<void> =>
  showFormPage(deps, visit, signedIn, "users", { ...shown, input: undefined }, (view) => {
    const { factors: text } = view.messages.console.users;
    return confirmActPage({
      ...view,
      breadcrumbs: memberPages.crumbs(view, user),
      heading: text.newPasswordHeading({ email: user.email }),
      text: html`<p>${text.newPasswordText}</p>`,
      confirm: text.newPassword,
      confirmId: "new-password-confirm",
      backUri: memberPages.path(visit.organisation, user.id, SECURITY),
    });
  });

async function setNewPassword(deps: UsersDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const user = await requireOwnUser(deps, visit);
  if (form.outcome === "rejected") return ask(deps, visit, signedIn, user, form.refusal);

  const messages = pageMessages(visit, signedIn);
  const failure = ownAccountRefusal(signedIn, user, messages);
  if (failure) return ask(deps, visit, signedIn, user, { failure, status: 409 });
  const password = generatePassword(organisation.settings);
  const { actor, address } = auditContext(visit, signedIn);
  const wanted = { organisation, id: user.id, password, about: [], actor, address };
  const passwords = await withPrecomputedHash(deps.passwords, password, organisation.id);
  const isSet = await applyOnce(deps, form, (inside) => setPassword({ ...inside, passwords }, wanted));
  if (isSet === "duplicate-submission") {
    const { secret } = messages.console.frame.sentBefore;
    return ask(deps, visit, signedIn, user, duplicateSubmission({ secret: secret.password }));
  }
  if (!isSet) throw new NotFound("user");
  await showPassword(deps, visit, signedIn, password, (frame) => ({
    breadcrumbs: memberPages.crumbs(frame, user),
    title: frame.messages.console.users.factors.newPasswordTitle,
    doneUri: memberPages.path(organisation, user.id, SECURITY),
  }));
}

export async function showPassword(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  password: string,
  view: (frame: ConsoleFrame) => Pick<ConsoleView, "breadcrumbs" | "title"> & { doneUri: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const { create: text } = frame.messages.console.users;
  const values = [{ id: "new-password", title: text.password, lines: password, isSecret: true }];
  await show(visit, frame, shownOncePage({ ...frame, ...view(frame), text: text.shownText, values }));
}
