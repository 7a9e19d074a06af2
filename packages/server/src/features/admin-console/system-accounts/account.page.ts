import type { SystemAccount, SystemAccountKey } from "../../../core/system-accounts/system-account.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import {
  buttonLink,
  card,
  copyable,
  copyStatus,
  facts,
  moment,
  snippet,
  state,
} from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { accountPages } from "./account-pages.ts";

type Application = { id: string; name: string };

export type AccountView = RecordView<SystemAccount> & {
  application: Application;
  /** Newest first. */
  keys: ReadonlyArray<SystemAccountKey & { isActive: boolean }>;
  permitted: readonly Application[];
  /** Undefined without an active key. */
  snippets: { sdk: string; curl: string } | undefined;
  done: keyof Messages["console"]["systemAccounts"]["done"] | undefined;
};

export function accountPage(view: AccountView): Html {
  const { record: account, messages } = view;
  const { systemAccounts: text } = messages.console;
  return consoleLayout({
    ...view,
    title: account.name,
    heading: html`<bdi>${account.name}</bdi>`,
    actions: buttonLink({ id: "account-edit", uri: view.uriOf("/edit"), label: text.record.edit }),
    notice: view.done && successNotice(text.done[view.done]),
    scripts: [copyScript.path],
    body: [
      detailsCard(view),
      keysCard(view),
      permissionsCard(view),
      snippetsCard(view),
      endCard(view),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
    ],
  });
}

function detailsCard({ record: account, application, messages, consoleUri }: AccountView): Html {
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
      { label: text.kind, content: accountKind(account, messages) },
      { label: text.state, content: accountStatus(account, messages), id: "account-state" },
      { label: text.signatures, content: account.requiresStrictSignature ? text.strict : text.either },
      {
        label: text.lastUsed,
        content:
          account.lastUsedAt === null ? frame.never : moment(account.lastUsedAt, messages.format.minute),
      },
      { label: text.created, content: moment(account.createdAt, messages.format.day) },
      {
        label: text.id,
        content: copyable({ id: "account-id", value: account.id, ...frame.secret, label: text.id }),
      },
    ]),
  });
}

function keysCard({ keys, messages, uriOf }: AccountView): Html {
  const { frame, systemAccounts } = messages.console;
  const { keys: text } = systemAccounts;
  const list = () =>
    table({
      label: text.title,
      columns: [text.publicKey, text.state, text.lastUsed],
      rows: keys.map((key) => ({
        id: `key-${key.publicKey}`,
        cells: [
          html`<code class="item-name">${key.publicKey}</code>${key.label !== "" && html`<span class="quiet item-note"><bdi>${key.label}</bdi></span>`}`,
          keyState(key, messages),
          key.lastUsedAt === null ? frame.never : moment(key.lastUsedAt, messages.format.minute),
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
      messages,
    });
  return card({
    id: "account-keys",
    title: text.title,
    text: text.text,
    actions: buttonLink({ id: "key-add", uri: uriOf("/keys/new"), label: text.add }),
    body: keys.length === 0 ? html`<p class="quiet">${text.none}</p>` : list(),
  });
}

function keyState(
  { revokedAt, expiresAt, isActive }: AccountView["keys"][number],
  { console: { systemAccounts } }: Messages,
): Content {
  const { keys: text } = systemAccounts;
  if (revokedAt !== null) return state("plain", text.revoked);
  if (!isActive) return state("plain", text.expired);
  const until =
    expiresAt !== null && html`<span class="quiet item-note">${text.until({ at: expiresAt })}</span>`;
  return html`${state("good", text.active)}${until}`;
}

function permissionsCard({ record: account, permitted, messages, uriOf, consoleUri }: AccountView): Html {
  const { permissions: text } = messages.console.systemAccounts;
  if (account.isAdministrator) return card({ id: "account-permissions", title: text.title, text: text.all });
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

function snippetsCard({ snippets, messages }: AccountView): Html | undefined {
  if (!snippets) return undefined;
  const { frame, systemAccounts } = messages.console;
  const { snippets: text } = systemAccounts;
  const lines = (id: "sdk" | "curl") =>
    snippet({ id, title: text[id], lines: snippets[id], ...frame.secret });
  return card({
    id: "account-snippets",
    title: text.title,
    text: text.text,
    body: html`${lines("sdk")}${lines("curl")}<p><a id="api-reference" href="/docs">${text.reference}</a></p>
`,
  });
}

function endCard({ record: account, messages, uriOf }: AccountView): Html {
  const { end } = messages.console.systemAccounts;
  const isDisabled = account.disabledAt !== null;
  const change = isDisabled
    ? buttonLink({ id: "account-enable", uri: uriOf("/enable"), label: end.enable })
    : buttonLink({ id: "account-disable", uri: uriOf("/disable"), label: end.disable, isDangerous: true });
  const remove = { id: "account-delete", uri: uriOf("/delete"), label: end.delete, isDangerous: true };
  return card({
    id: "account-end",
    title: end.title,
    text: end.text,
    isDangerous: true,
    body: html`<div class="actions">${change}${buttonLink(remove)}</div>
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
  return disabledAt === null ? state("good", enabled) : state("bad", disabled);
}

export type AccountInput = { name: string; strict: boolean };

export function editAccountPage(view: FormView<AccountInput>, account: SystemAccount): Html {
  const { frame, systemAccounts } = view.messages.console;
  const title = systemAccounts.record.editTitle({ name: account.name });
  return formPage({
    ...view,
    breadcrumbs: accountPages.crumbs(view, account),
    title,
    cardLabel: title,
    id: "account-form",
    labels: { name: systemAccounts.create.name },
    fields: accountFields(view),
    submit: { id: "account-save", label: frame.form.save },
    cancelUri: view.consoleUri(`/system-accounts/${account.id}`),
  });
}

type AccountForm = Pick<FormView<AccountInput>, "input" | "state" | "messages">;

/** @param kind of a new account */
export function accountFields(view: AccountForm, kind?: Html): Content {
  const { create: text } = view.messages.console.systemAccounts;
  const field = fieldsOf<AccountInput>(view, { name: text.name, strict: text.strict });
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
  ];
}
