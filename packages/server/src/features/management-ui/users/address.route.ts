/** users/{id}/address: another address, confirmed by its mail, or known to be the user's because an administrator says so. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { ChangedMeanwhile, requireSeen, seenOf, submission } from "../../../console/submission.ts";
import {
  actingOn,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { changeToKnownAddress } from "../../../core/users/known-address.ts";
import { emailKey, isEmail, type User } from "../../../core/users/user.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import type { FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { addressPage, type TypedAddress } from "./address.page.ts";
import { ownUserHere } from "./new-password.route.ts";
import { idIn, type UsersDeps, userCrumbs, userPath } from "./user-visit.ts";

export function addressRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/users/:id/address", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (!signedIn) return;
      const user = await ownUserHere(deps, visit);
      const typed = { email: "", isKnown: !deps.outbox.isOpen };
      await form(deps, visit, { signedIn, user, typed });
    },
    post: (visit) => change(deps, visit),
  });
}

const ownPath = (visit: Visit): string => userPath(visit.organisation, idIn(visit), "/address");

interface Shown {
  readonly signedIn: SignedIn;
  readonly user: User;
  readonly typed: TypedAddress;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: UsersDeps, visit: Visit, shown: Shown): Promise<void> {
  const { signedIn, user, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const page = addressPage({
    ...frame,
    breadcrumbs: userCrumbs(visit.organisation, user, frame.messages),
    present: user.email,
    typed,
    state,
    failure,
    canMail: deps.outbox.isOpen,
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? seenOf(user.email),
    action: ownPath(visit),
    cancelUri: userPath(visit.organisation, user.id),
  });
  await show(visit, frame, page, status);
}

const readAddress = (values: ReadonlyMap<string, string>): TypedAddress => ({
  email: (values.get("newEmail") ?? "").trim().slice(0, 254),
  isKnown: values.get("known") === "on",
});

async function change(deps: UsersDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, ownPath(visit), async ({ signedIn, values }) => {
    const again = { signedIn, user: await ownUserHere(deps, visit), seen: values.get("seen") };
    const typed = readAddress(values);
    await form(deps, visit, { ...again, typed, failure: { kind: "expired" }, status: 403 });
  });
  if (!sent) return;
  const { signedIn, values } = sent;
  const user = await ownUserHere(deps, visit);
  const typed = readAddress(values);
  const again = { signedIn, user, typed };
  const { messages } = await consoleFrame(deps, visit, signedIn, "users");
  const faults = faultsOf(deps, user, typed, messages);
  if (faults)
    return form(deps, visit, { ...again, state: { faults }, seen: values.get("seen"), status: 400 });
  try {
    requireSeen(values.get("seen"), user.email);
    await act(deps, visit, again);
  } catch (error) {
    if (error instanceof ChangedMeanwhile) {
      const by = await lastChangeOf(deps, visit.organisation.id, user.id, messages);
      return form(deps, visit, { ...again, failure: { kind: "changed", by }, status: 409 });
    }
    if (!(error instanceof InvalidUser)) throw error;
    const state = { faults: { newEmail: messages.console.users.faults.emailTaken } };
    return form(deps, visit, { ...again, state, status: 400 });
  }
  const done = typed.isKnown ? "addressChanged" : "addressAsked";
  await goTo(visit, userPath(visit.organisation, user.id, `?done=${done}`));
}

/** @throws InvalidUser */
async function act(deps: UsersDeps, visit: Visit, { signedIn, user, typed }: Shown): Promise<void> {
  const { actor, address } = actingOn(visit, signedIn);
  const newEmail = typed.email;
  if (typed.isKnown) await changeToKnownAddress(deps, user, { newEmail, actor, address });
  else await requestNewEmail(deps, user, { newEmail, actor, address });
}

function faultsOf(
  { outbox }: UsersDeps,
  user: User,
  { email, isKnown }: TypedAddress,
  { console: { users } }: Messages,
): Record<string, string> | undefined {
  const { faults } = users;
  if (!isEmail(email)) return { newEmail: faults.email };
  if (emailKey(email) === emailKey(user.email) && email === user.email && user.emailVerified)
    return { newEmail: faults.emailSame };
  return isKnown || outbox.isOpen ? undefined : { known: faults.noMail };
}
