/** users/new: somebody is invited by mail, or gets a password that is made here and shown once. */
import type { FastifyInstance } from "fastify";
import { generatedPassword, hashedAlready } from "../../../core/passwords/generated-password.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { inviteUser } from "../../../core/users/invitations/invitations.ts";
import { isEmail, isPersonName, type Role } from "../../../core/users/user.ts";
import { createUser, InvalidUser } from "../../../core/users/users.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { type Making, making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { newUserPage, type TypedUser } from "./new.page.ts";
import { listCrumb, nameOf, type UsersDeps, userPath } from "./user-visit.ts";

const REST = "/users/new";

export function newUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, REST, {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (signedIn) await form(deps, visit, signedIn, { typed: emptyUser(deps) });
    },
    post: (visit) => create(deps, visit),
  });
}

const ownPath = ({ organisation }: Visit): string => consolePath(organisation, REST);

const emptyUser = ({ outbox }: UsersDeps): TypedUser => ({
  email: "",
  firstname: "",
  surname: "",
  role: "Standard",
  locale: "",
  how: outbox.isOpen ? "mail" : "password",
  isKnown: false,
});

/** What cannot be chosen on the page is what it stands at first. */
function readUser(values: ReadonlyMap<string, string>, deps: UsersDeps): TypedUser {
  const text = (id: string) => (values.get(id) ?? "").trim();
  const role = text("role") === "Administrator" ? "Administrator" : "Standard";
  const locale = LOCALES.find((one) => one === text("locale")) ?? "";
  const how = deps.outbox.isOpen && text("how") !== "password" ? "mail" : "password";
  const isKnown = values.get("emailKnown") === "on";
  const names = { firstname: text("firstname"), surname: text("surname") };
  return { email: text("email"), ...names, role, locale, how, isKnown };
}

interface Shown {
  readonly typed: TypedUser;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: UsersDeps, visit: Visit, signedIn: SignedIn, shown: Shown): Promise<void> {
  const { typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const page = newUserPage({
    ...frame,
    breadcrumbs: [listCrumb(visit.organisation, frame.messages)],
    typed,
    state,
    failure,
    canMail: deps.outbox.isOpen,
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    action: ownPath(visit),
    cancelUri: consolePath(visit.organisation, "/users"),
  });
  await show(visit, frame, page, status);
}

async function create(deps: UsersDeps, visit: Visit): Promise<void> {
  const refused = ({ signedIn, values }: Submission, refusal: Refusal) =>
    form(deps, visit, signedIn, { typed: readUser(values, deps), ...refusal });
  const sent = await making(deps, visit, ownPath(visit), refused, ({ console: { frame } }) => ({
    made: { label: frame.pages.users, uri: consolePath(visit.organisation, "/users") },
    secret: frame.sentBefore.secret.user,
  }));
  if (!sent) return;
  const { signedIn } = sent;
  const typed = readUser(sent.values, deps);
  const { messages } = await consoleFrame(deps, visit, signedIn, "users");
  const again = (faults: Record<string, string>) =>
    form(deps, visit, signedIn, { typed, state: { faults }, status: 400 });
  const faults = faultsOf(typed, messages);
  if (Object.keys(faults).length > 0) return again(faults);
  const made = await make(deps, visit, sent, typed).catch((error: unknown) => {
    if (error instanceof InvalidUser && error.code === "email-taken") return error;
    throw error;
  });
  if (!made) return;
  if (made instanceof InvalidUser) return again({ email: messages.console.users.faults.emailTaken });
  if (made.password === undefined) return goTo(visit, userPath(visit.organisation, made.id, "?done=invited"));
  await showPassword(deps, visit, signedIn, { ...typed, ...made, password: made.password });
}

function faultsOf(typed: TypedUser, { console: { users } }: Messages): Record<string, string> {
  const { faults } = users;
  return {
    ...(isEmail(typed.email) ? {} : { email: faults.email }),
    ...(isPersonName(typed.firstname) ? {} : { firstname: faults.name }),
    ...(isPersonName(typed.surname) ? {} : { surname: faults.name }),
  };
}

/** @returns undefined when the form was sent before, and that has been answered. @throws InvalidUser */
async function make(
  deps: UsersDeps,
  visit: Visit,
  { signedIn, once }: Making,
  typed: TypedUser,
): Promise<{ id: string; password: string | undefined } | undefined> {
  const { organisation } = visit;
  const { actor, address } = actingOn(visit, signedIn);
  const { email, firstname, surname, isKnown } = typed;
  const role: Role = typed.role;
  const locale = typed.locale === "" ? null : typed.locale;
  const person = { organisation, email, firstname, surname, role, locale, actor, address };
  if (typed.how === "mail")
    return once(async (database) => ({
      id: await inviteUser({ ...deps, database }, { ...person, isNew: true }),
      password: undefined,
    }));
  const password = generatedPassword(organisation.settings);
  const passwords = await hashedAlready(deps.passwords, password);
  return once(async (database) => {
    const user = { ...person, password, emailVerified: isKnown };
    return { id: await createUser({ ...deps, database, passwords }, user), password };
  });
}

async function showPassword(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  user: TypedUser & { id: string; password: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const { create: text } = frame.messages.console.users;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: [listCrumb(visit.organisation, frame.messages)],
    title: text.shownTitle({ name: nameOf(user) }),
    text: text.shownText,
    values: [{ id: "new-password", title: text.password, lines: user.password }],
    doneUri: userPath(visit.organisation, user.id, "?done=created"),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}
