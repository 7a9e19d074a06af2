/** users/{id}/address: a new email address, confirmed by mail or vouched for by the administrator. */
import type { FastifyInstance } from "fastify";
import { voidActions } from "../../../core/actions/actions.store.ts";
import { lockUserAccount } from "../../../core/users/account.store.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { setVerifiedEmail } from "../../../core/users/known-address.ts";
import { emailKey, isEmail, type User } from "../../../core/users/user.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { type AddressInput, addressPage } from "./address.page.ts";
import { requireOwnUser, type UsersDeps, userCrumbs, userPath } from "./user-path.ts";

export function addressRoute(app: FastifyInstance, deps: UsersDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/users/:id/address", {
    current: "users",
    load: requireOwnUser,
    lock: async (tx, user) => {
      const now = deps.clock();
      // The link before the account, as when a link is used: two at once wait for each other in one direction.
      await voidActions(tx, { orgId: user.homeOrgId, userId: user.id, type: "ChangeEmail", now });
      await lockUserAccount(tx, user, now);
    },
    // A mail goes to the new address, and the present one stays until its link is opened.
    isRepeatable: true,
    version: ({ email }) => email,
    toInput: (): AddressInput => ({ email: "", isKnown: !deps.outbox.isOpen }),
    readInput: ({ values }) => ({
      email: (values.get("newEmail") ?? "").trim().slice(0, 254),
      isKnown: values.get("known") === "on",
    }),
    // The present address stands above the field, whoever changed it.
    toDisplay: () => ({}),
    page: (view, { visit: { organisation }, record }) =>
      addressPage({
        ...view,
        breadcrumbs: userCrumbs(organisation, record, view.messages),
        present: record.email,
        canMail: deps.outbox.isOpen,
        cancelUri: userPath(organisation, record.id),
      }),
    validate: (input, { record, messages }) => {
      const faults = findFaults(deps, record, input, messages);
      return faults ? { faults } : { content: input };
    },
    save: async (inside, { email: newEmail, isKnown }, { visit, acting: { actor, address }, record }) => {
      const change = isKnown ? setVerifiedEmail : requestNewEmail;
      await change(inside, record, { newEmail, actor, address });
      const done = isKnown ? "addressChanged" : "addressAsked";
      return userPath(visit.organisation, record.id, `?done=${done}`);
    },
    explain: (error, { messages }) =>
      error instanceof InvalidUser
        ? { faults: { newEmail: messages.console.users.faults.emailTaken } }
        : undefined,
  });
}

function findFaults(
  { outbox }: UsersDeps,
  user: User,
  { email, isKnown }: AddressInput,
  { console: { users } }: Messages,
): Record<string, string> | undefined {
  const { faults } = users;
  if (!isEmail(email)) return { newEmail: faults.email };
  if (emailKey(email) === emailKey(user.email) && email === user.email && user.emailVerified)
    return { newEmail: faults.emailSame };
  return isKnown || outbox.isOpen ? undefined : { known: faults.noMail };
}
