/** The parts of a system account's page, by its tabs. */
import type { SystemAccount, SystemAccountKey } from "../../../core/system-accounts/system-account.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { editedCard, fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { endCard, endItems, type RecordParts, type RecordView } from "../../../page-kit/record-pages.ts";

type Application = { id: string; name: string };

/** What stands above every tab. */
export function aboveAccount(view: RecordView<SystemAccount>): RecordParts {
  const { record: account, messages } = view;
  const { systemAccounts: text } = messages.console;
  return {
    head: {
      name: account.name,
      mark: recordIcon("account"),
      facts: [
        html`<span id="account-state">${accountStatus(account, messages)}</span>`,
        accountKind(account, messages),
      ],
      id: { id: "account-id", value: account.id, label: text.record.id },
    },
    more: endItems(view, { ...text.end, noun: "account" }),
    done: text.done,
  };
}

type View = RecordView<SystemAccount>;
export type GeneralView = View & { application: Application; permitted: readonly Application[] };

export const accountGeneral = (view: GeneralView): Content => [detailsCard(view), permissionsCard(view)];

export type KeysView = View & {
  /** Newest first. */
  keys: ReadonlyArray<SystemAccountKey & { isActive: boolean }>;
  /** Undefined without an active key. */
  snippets: { sdk: string; curl: string } | undefined;
};

export const accountKeys = (view: KeysView): Content => [keysCard(view), snippetsCard(view)];

function detailsCard({ record: account, application, messages, consoleUri }: GeneralView): Html {
  const { frame, systemAccounts } = messages.console;
  const { record: text } = systemAccounts;
  return card({
    id: "account-details",
    title: text.details,
    body: facts([
      {
        label: text.application,
        content: html`<a href="${linkAddress(consoleUri(`/applications/${application.id}`))}"><bdi>${application.name}</bdi></a>`,
      },
      { label: text.signatures, content: account.requiresStrictSignature ? text.strict : text.either },
      {
        label: systemAccounts.create.endUserAddress,
        content: account.allowsEndUserAddress ? frame.yes : frame.no,
        id: "account-end-user-address",
      },
      {
        label: text.lastUsed,
        content:
          account.lastUsedAt === null
            ? frame.never
            : relativeTime(account.lastUsedAt, messages.format.minute),
      },
      { label: text.created, content: relativeTime(account.createdAt, messages.format.day) },
    ]),
  });
}

function keysCard({ keys, messages, uriOf }: KeysView): Html {
  const { frame, systemAccounts } = messages.console;
  const { keys: text } = systemAccounts;
  const list = table({
    label: text.title,
    columns: [text.publicKey, text.state, text.lastUsed],
    rows: keys.map((key) => ({
      id: `key-${key.publicKey}`,
      cells: [
        html`<code class="item-name">${key.publicKey}</code>${key.label !== "" && html`<span class="quiet item-note"><bdi>${key.label}</bdi></span>`}`,
        keyState(key, messages),
        key.lastUsedAt === null ? frame.never : relativeTime(key.lastUsedAt, messages.format.minute),
      ],
      actions:
        key.isActive &&
        rowLink({
          id: `key-end-${key.publicKey}`,
          uri: uriOf(`/keys/${key.publicKey}/end`),
          text: text.end,
          label: text.endOf({ name: key.label === "" ? key.publicKey : key.label }),
        }),
    })),
    none: text.none,
    messages,
  });
  return card({
    id: "account-keys",
    title: text.title,
    text: text.text,
    actions: buttonLink({ id: "key-add", uri: uriOf("/keys/new"), label: text.add }),
    body: list,
  });
}

function keyState(
  { revokedAt, expiresAt, isActive }: KeysView["keys"][number],
  { console: { systemAccounts } }: Messages,
): Content {
  const { keys: text } = systemAccounts;
  if (revokedAt !== null) return badge("plain", text.revoked);
  if (!isActive) return badge("plain", text.expired);
  const until =
    expiresAt !== null && html`<span class="quiet item-note">${text.until({ at: expiresAt })}</span>`;
  return html`${badge("good", text.active)}${until}`;
}

function permissionsCard({ permitted, messages, uriOf, consoleUri }: GeneralView): Html {
  const { permissions: text } = messages.console.systemAccounts;
  const list = () =>
    table({
      label: text.title,
      columns: [text.application],
      rows: permitted.map(({ id, name }) => ({
        id: `permission-${id}`,
        cells: [nameCell({ name, uri: consoleUri(`/applications/${id}`) })],
        actions: rowLink({
          id: `permission-remove-${id}`,
          uri: uriOf(`/permissions/${id}/remove`),
          text: text.remove,
          label: text.removeOf({ application: name }),
        }),
      })),
      messages,
    });
  return card({
    id: "account-permissions",
    title: text.title,
    text: permitted.length === 0 ? text.none : text.text,
    actions: buttonLink({ id: "permission-add", uri: uriOf("/permissions/new"), label: text.add }),
    body: permitted.length > 0 && list(),
  });
}

function snippetsCard({ snippets, messages }: KeysView): Html | undefined {
  if (!snippets) return undefined;
  const { frame, systemAccounts } = messages.console;
  const { snippets: text } = systemAccounts;
  const lines = (id: "sdk" | "curl") =>
    codeBlock({ id, title: text[id], lines: snippets[id], ...frame.secret });
  return card({
    id: "account-snippets",
    title: text.title,
    text: text.text,
    body: html`${lines("sdk")}${lines("curl")}<p><a id="api-reference" href="/docs">${text.reference}</a></p>
`,
  });
}

export const accountKind = ({ isAdministrator }: SystemAccount, { console: { systemAccounts } }: Messages) =>
  isAdministrator ? html`<b>${systemAccounts.kinds.administrator}</b>` : systemAccounts.kinds.plain;

export function accountStatus(
  { disabledAt }: SystemAccount,
  { console: { systemAccounts } }: Messages,
): Html {
  const { enabled, disabled } = systemAccounts.states;
  return disabledAt === null ? badge("good", enabled) : badge("bad", disabled);
}

export type AccountInput = { name: string; strict: boolean; endUserAddress: boolean };

/** The last tab: what can be changed, and the end of the account. */
export const accountSettings = (form: FormView<AccountInput>, view: View): Content => [
  editedCard({
    ...form,
    label: view.messages.console.frame.recordTabs.settings,
    id: "account-form",
    fields: accountFields(form),
    submit: { id: "account-save", label: view.messages.console.frame.form.save },
  }),
  endCard(view, { ...view.messages.console.systemAccounts.end, id: "account-end", noun: "account" }),
];

type AccountForm = Pick<FormView<AccountInput>, "input" | "state" | "messages">;

/** @param kind of a new account */
export function accountFields(view: AccountForm, kind?: Html): Content {
  const { create: text } = view.messages.console.systemAccounts;
  const field = fieldsOf<AccountInput>(view, {
    name: text.name,
    strict: text.strict,
    endUserAddress: text.endUserAddress,
  });
  return [
    textField({
      ...field("name"),
      hint: text.nameHint,
      maxLength: 100,
      isRequired: true,
      ...(kind && { hasFocus: true }),
    }),
    kind,
    checkField({ ...field("strict"), hint: text.strictHint, isChecked: view.input.strict }),
    checkField({
      ...field("endUserAddress"),
      hint: text.endUserAddressHint,
      isChecked: view.input.endUserAddress,
    }),
  ];
}
