/** users/{id}/address: a new email address, confirmed by mail or vouched for by the administrator. */
import type { FastifyInstance } from "fastify";
import { voidActions } from "../../../core/actions/actions.store.ts";
import { lockUserAccount } from "../../../core/users/account.store.ts";
import { requestNewEmail, setVerifiedEmail } from "../../../core/users/account-mails.ts";
import { isEmail, type User } from "../../../core/users/user.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import { facts } from "../../../html/components/card.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { memberPages, requireOwnUser, type UsersDeps } from "./user-pages.ts";

type AddressInput = { newEmail: string; known: boolean };

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
    isUndoable: () => false,
    version: ({ email }) => email,
    toInput: (): AddressInput => ({ newEmail: "", known: !deps.outbox.isOpen }),
    readInput: ({ values }) => ({
      newEmail: (values.get("newEmail") ?? "").trim().slice(0, 254),
      known: values.get("known") === "on",
    }),
    // The present address stands above the field, whoever changed it.
    toDisplay: () => ({}),
    page: (view, { record }) => addressPage(view, record, deps.outbox.isOpen),
    validate: (input, { record, messages }) => {
      const faults = findFaults(deps, record, input, messages);
      return faults ? { faults } : { content: input };
    },
    save: async (inside, { newEmail, known }, { visit, acting: { actor, address }, record }) => {
      const change = known ? setVerifiedEmail : requestNewEmail;
      await change(inside, record, { newEmail, actor, address });
      const result = known ? "addressChanged" : "addressAsked";
      return memberPages.path(visit.organisation, record.id, `?done=${result}`);
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
  { newEmail, known }: AddressInput,
  { console: { users } }: Messages,
): Record<string, string> | undefined {
  const { faults } = users;
  if (!isEmail(newEmail)) return { newEmail: faults.email };
  if (newEmail === user.email && user.emailVerified) return { newEmail: faults.emailSame };
  return known || outbox.isOpen ? undefined : { known: faults.noMail };
}

function addressPage(view: FormView<AddressInput>, user: User, canMail: boolean): Html {
  const { address: text, create } = view.messages.console.users;
  const labels = { newEmail: text.next, known: text.known };
  const field = fieldsOf(view, labels);
  const isFirst = Object.keys(view.state.faults ?? {}).length === 0;
  return formPage({
    ...view,
    breadcrumbs: memberPages.crumbs(view, user),
    title: text.title,
    summary: canMail ? undefined : `${create.noMail}.`,
    cardLabel: text.title,
    above: facts([{ label: text.present, content: html`<bdi>${user.email}</bdi>` }]),
    id: "address-form",
    labels,
    fields: [
      textField({
        ...field("newEmail"),
        type: "email",
        maxLength: 254,
        isRequired: true,
        ...(isFirst ? { hasFocus: true } : {}),
      }),
      checkField({ ...field("known"), hint: text.knownHint, isChecked: view.input.known }),
    ],
    submit: { id: "address-change", label: text.submit },
    cancelUri: view.consoleUri(`/users/${user.id}`),
  });
}
