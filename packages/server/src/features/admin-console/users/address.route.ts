/** users/{id}/address: another address, confirmed by its mail, or known to be the user's because an administrator says so. */
import type { FastifyInstance } from "fastify";
import { voidActions } from "../../../core/actions/actions.store.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { changeToKnownAddress } from "../../../core/users/known-address.ts";
import { emailKey, isEmail, type User } from "../../../core/users/user.ts";
import { holdAccount } from "../../../core/users/users.store.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { addressPage, type TypedAddress } from "./address.page.ts";
import { ownUserHere } from "./new-password.route.ts";
import { type UsersDeps, userCrumbs, userPath } from "./user-visit.ts";

export function addressRoute(app: FastifyInstance, deps: UsersDeps): void {
  editForm(app, deps, {
    path: "/users/:id/address",
    current: "users",
    find: (inside, visit) => ownUserHere(inside, visit),
    hold: async (tx, user) => {
      const now = deps.clock();
      // The link before the account, as the use of a link does it: two at once wait for each other in one direction.
      await voidActions(tx, { orgId: user.homeOrgId, userId: user.id, type: "ChangeEmail", now });
      await holdAccount(tx, user, now);
    },
    // A mail goes to the new address, and the present one stays until it is answered.
    isRepeatable: true,
    seenIn: ({ email }) => email,
    typedOf: (): TypedAddress => ({ email: "", isKnown: !deps.outbox.isOpen }),
    read: ({ values }) => ({
      email: (values.get("newEmail") ?? "").trim().slice(0, 254),
      isKnown: values.get("known") === "on",
    }),
    // The present address stands above the field, whoever changed it.
    inWords: () => ({}),
    page: (view, { visit: { organisation }, found }) =>
      addressPage({
        ...view,
        breadcrumbs: userCrumbs(organisation, found, view.messages),
        present: found.email,
        canMail: deps.outbox.isOpen,
        cancelUri: userPath(organisation, found.id),
      }),
    contentOf: (typed, { found, messages }) => {
      const faults = faultsOf(deps, found, typed, messages);
      return faults ? { faults } : { content: typed };
    },
    keep: async (inside, { email: newEmail, isKnown }, { visit, acting: { actor, address }, found }) => {
      const change = isKnown ? changeToKnownAddress : requestNewEmail;
      await change(inside, found, { newEmail, actor, address });
      const done = isKnown ? "addressChanged" : "addressAsked";
      return userPath(visit.organisation, found.id, `?done=${done}`);
    },
    refused: (error, { messages }) =>
      error instanceof InvalidUser
        ? { faults: { newEmail: messages.console.users.faults.emailTaken } }
        : undefined,
  });
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
