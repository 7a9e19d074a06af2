/** users/{id}/new-password: generates a password and shows it once; everyone who knew the present one is signed out. */
import type { FastifyInstance } from "fastify";
import { generatePassword, withPrecomputedHash } from "../../../core/passwords/password-hasher.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { User } from "../../../core/users/user.ts";
import { setPassword } from "../../../core/users/users.ts";
import { confirmActPage, shownOncePage } from "../../../html/components/act.page.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import {
  auditContext,
  consoleRoute,
  requestPath,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { ownAccountRefusal, requireOwnUser, type UsersDeps, userCrumbs, userPath } from "./user-path.ts";

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

async function ask(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  user: User,
  { failure, status }: { failure?: FormFailure | undefined; status?: number } = {},
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const { factors: text } = frame.messages.console.users;
  const page = confirmActPage({
    ...frame,
    breadcrumbs: userCrumbs(visit.organisation, user, frame.messages),
    csrf: deps.browserSession.formBinding(visit).csrf,
    once: newSubmissionToken(deps),
    action: requestPath(visit),
    heading: text.newPasswordHeading({ email: user.email }),
    text: html`<p>${text.newPasswordText}</p>`,
    confirm: text.newPassword,
    confirmId: "new-password-confirm",
    backUri: userPath(visit.organisation, user.id),
    failure,
  });
  await show(visit, frame, page, status);
}

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
  const passwords = await withPrecomputedHash(deps.passwords, password);
  const isSet = await applyOnce(deps, form, (inside) => setPassword({ ...inside, passwords }, wanted));
  if (isSet === "duplicate-submission") {
    const { secret } = messages.console.frame.sentBefore;
    return ask(deps, visit, signedIn, user, duplicateSubmission({ secret: secret.password }));
  }
  if (!isSet) throw new NotFound("user");
  await showPassword(deps, visit, signedIn, { user, password });
}

async function showPassword(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  { user, password }: { user: User; password: string },
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const { factors, create } = frame.messages.console.users;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: userCrumbs(organisation, user, frame.messages),
    title: factors.newPasswordTitle,
    text: create.shownText,
    values: [{ id: "new-password", title: create.password, lines: password }],
    doneUri: userPath(organisation, user.id),
  });
  await show(visit, frame, page);
}
