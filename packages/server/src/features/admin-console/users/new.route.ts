/** users/new: a user is invited by mail, or gets a generated password, shown once. */
import type { FastifyInstance } from "fastify";
import { listConnections } from "../../../core/connections/connections.store.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { generatePassword, withPrecomputedHash } from "../../../core/passwords/password-hasher.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { inviteUser } from "../../../core/users/invitations/invitations.ts";
import { isEmail, isPersonName } from "../../../core/users/user.ts";
import { createUser, InvalidUser } from "../../../core/users/users.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { newUserPage, type Provider, type UserInput } from "./new.page.ts";
import { showPassword } from "./new-password.route.ts";
import { displayName, memberPages, type UsersDeps } from "./user-pages.ts";

export function newUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users/new", { get: showNewUser, post: createFromForm });
}

async function showNewUser(deps: UsersDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyInput(deps) });
}

const emptyInput = ({ outbox }: UsersDeps): UserInput => ({
  email: "",
  firstname: "",
  surname: "",
  role: "Standard",
  locale: "",
  how: outbox.isOpen ? "mail" : "password",
  connectionId: "",
  emailKnown: false,
});

/** A value that the page does not offer becomes its default. */
function readInput(values: ReadonlyMap<string, string>, deps: UsersDeps): UserInput {
  const text = (id: string) => (values.get(id) ?? "").trim();
  return {
    email: text("email"),
    firstname: text("firstname"),
    surname: text("surname"),
    role: text("role") === "Administrator" ? "Administrator" : "Standard",
    locale: LOCALES.find((one) => one === text("locale")) ?? "",
    how: deps.outbox.isOpen && text("how") !== "password" ? "mail" : "password",
    connectionId: text("connectionId").toLowerCase(),
    emailKnown: values.get("emailKnown") === "on",
  };
}

async function showForm(
  deps: UsersDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<UserInput>,
): Promise<void> {
  const options = { canMail: deps.outbox.isOpen, providers: await listProviders(deps, visit) };
  await showFormPage(deps, visit, signedIn, "users", shown, (view) => newUserPage(view, options));
}

const listProviders = async ({ database }: UsersDeps, { organisation }: Visit): Promise<Provider[]> =>
  (await listConnections(database.query, organisation.id)).filter(
    (connection) => connection.enabled && isSignInConnection(connection),
  );

async function createFromForm(deps: UsersDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readInput(form.values, deps);
  const rerender = (shown: Partial<FormShown<UserInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const { frame, users } = messages.console;
  const faults = findFaults(input, await listProviders(deps, visit), messages);
  if (Object.keys(faults).length > 0) return rerender({ state: { faults }, status: 400 });
  try {
    const created = await create(deps, visit, form, input);
    if (created === "duplicate-submission") {
      const result = { label: frame.pages.users, uri: consolePath(organisation, "/users") };
      return rerender(duplicateSubmission({ result, secret: frame.sentBefore.secret.user }));
    }
    const { id, password } = created;
    if (password === undefined) return redirectTo(visit, memberPages.path(organisation, id, "?done=invited"));
    await showPassword(deps, visit, signedIn, password, (frame) => ({
      breadcrumbs: memberPages.listCrumbs(frame),
      title: users.create.shownTitle({ name: displayName(input) }),
      doneUri: memberPages.path(organisation, id, "?done=created"),
    }));
  } catch (error) {
    if (!(error instanceof InvalidUser) || error.code !== "email-taken") throw error;
    await rerender({ state: { faults: { email: users.faults.emailTaken } }, status: 400 });
  }
}

function findFaults(
  input: UserInput,
  providers: readonly Provider[],
  { console: { users } }: Messages,
): Record<string, string> {
  const { faults } = users;
  const isKnown = input.connectionId === "" || providers.some(({ id }) => id === input.connectionId);
  return {
    ...(isEmail(input.email) ? {} : { email: faults.email }),
    ...(isPersonName(input.firstname) ? {} : { firstname: faults.name }),
    ...(isPersonName(input.surname) ? {} : { surname: faults.name }),
    ...(input.how === "password" || isKnown ? {} : { connectionId: users.create.connectionFault }),
  };
}

/** @returns the password when there is no invitation by mail. @throws InvalidUser */
async function create(
  deps: UsersDeps,
  visit: Visit,
  form: OneTimeForm,
  input: UserInput,
): Promise<{ id: string; password?: string } | "duplicate-submission"> {
  const { organisation } = visit;
  const { actor, address } = auditContext(visit, form.signedIn);
  const { email, firstname, surname, role, connectionId } = input;
  const locale = input.locale === "" ? null : input.locale;
  const person = { organisation, email, firstname, surname, role, locale, actor, address };
  if (input.how === "mail")
    return applyOnce(deps, form, async (inside) => ({
      id: await inviteUser(inside, { ...person, isNew: true, ...(connectionId && { connectionId }) }),
    }));
  const password = generatePassword(organisation.settings);
  const passwords = await withPrecomputedHash(deps.passwords, password, organisation.id);
  const user = { ...person, password, emailVerified: input.emailKnown };
  return applyOnce(deps, form, async (inside) => ({
    id: await createUser({ ...inside, passwords }, user),
    password,
  }));
}
