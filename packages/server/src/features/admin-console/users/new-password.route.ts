/** users/{id}/new-password: a password is made here and shown once; whoever knew the present one is out. */
import type { FastifyInstance } from "fastify";
import { generatedPassword, hashedAlready } from "../../../core/passwords/generated-password.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { User } from "../../../core/users/user.ts";
import { setPassword } from "../../../core/users/users.ts";
import { confirmActPage, shownOncePage } from "../../../html/components/act.page.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { copyScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import { actingOn, consoleRoute, provenAdministrator, show, type Visit } from "../../../page-kit/visit.ts";
import {
  idIn,
  isGuest,
  memberHere,
  ownAccountRefusal,
  type UsersDeps,
  userCrumbs,
  userPath,
} from "./user-visit.ts";

const REST = "/new-password";

export function newPasswordRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, `/users/:id${REST}`, {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (signedIn) await ask(deps, visit, signedIn, await ownUserHere(deps, visit));
    },
    post: (visit) => set(deps, visit),
  });
}

const ownPath = (visit: Visit): string => userPath(visit.organisation, idIn(visit), REST);

/** @throws NotFound for guests too: their passwords are set at home */
export async function ownUserHere(deps: Pick<UsersDeps, "database">, visit: Visit): Promise<User> {
  const user = await memberHere(deps, visit);
  if (isGuest(user)) throw new NotFound("user");
  return user;
}

async function ask(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  user: User,
  again: { failure?: FormFailure; status?: number } = {},
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const { factors: text } = frame.messages.console.users;
  const page = confirmActPage({
    ...frame,
    breadcrumbs: userCrumbs(visit.organisation, user, frame.messages),
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    action: ownPath(visit),
    heading: text.newPasswordHeading({ email: user.email }),
    text: html`<p>${text.newPasswordText}</p>`,
    confirm: text.newPassword,
    confirmId: "new-password-confirm",
    backUri: userPath(visit.organisation, user.id),
    failure: again.failure,
  });
  await show(visit, frame, page, again.status ?? 200);
}

async function set(deps: UsersDeps, visit: Visit): Promise<void> {
  const again = async ({ signedIn }: Submission, refusal: Refusal) =>
    ask(deps, visit, signedIn, await ownUserHere(deps, visit), refusal);
  const sent = await making(deps, visit, ownPath(visit), again, ({ console: { frame } }) => ({
    secret: frame.sentBefore.secret.password,
  }));
  if (!sent) return;
  const { signedIn } = sent;
  const user = await ownUserHere(deps, visit);
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const failure = ownAccountRefusal(signedIn, user, frame.messages);
  if (failure) return ask(deps, visit, signedIn, user, { failure, status: 409 });
  const password = generatedPassword(organisation.settings);
  const { actor, address } = actingOn(visit, signedIn);
  const wanted = { organisation, id: user.id, password, about: [], actor, address };
  const passwords = await hashedAlready(deps.passwords, password);
  const isSet = await sent.once(async (database) => {
    if (!(await setPassword({ ...deps, database, passwords }, wanted))) throw new NotFound("user");
    return true;
  });
  if (!isSet) return;
  const { factors, create } = frame.messages.console.users;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: userCrumbs(organisation, user, frame.messages),
    title: factors.newPasswordTitle,
    text: create.shownText,
    values: [{ id: "new-password", title: create.password, lines: password }],
    doneUri: userPath(organisation, user.id),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}
