/** The profile page: personal data, email address and membership. */

import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { fieldRow, selectField, textField } from "../../../html/components/fields.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { type DetailInput, detailFaultText, detailsSection } from "../../../page-kit/profile-fields.ts";

export type ProfileFields = {
  firstname: string;
  surname: string;
  phone: string;
  locale: string;
} & DetailInput;

export type ProfileField = keyof ProfileFields;

export type ProfileView = ConsoleFrame & {
  csrf: string;
  action: string;
  version: string;
  input: ProfileFields;
  faults: readonly ProfileField[];
  /** Current values that differ, after a concurrent change. */
  now: Partial<ProfileFields>;
  failure?: FormFailure | undefined;
  isDone: boolean;
  isConfirmed: boolean;
  /** Undefined if the service can't send email. */
  changeAddressUri: string | undefined;
  membership: {
    role: "Standard" | "Administrator";
    permId: string;
    username: string | undefined;
    /** Milliseconds. */
    since: number;
  };
  /** For guests: the organisation where the account is changed. */
  home?: { name: string; uri: string } | undefined;
};

export function profilePage(view: ProfileView): Html {
  const text = view.messages.console.account.profile;
  const done = view.isDone ? toast(text.saved, view, { id: "profile-done" }) : undefined;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary({ organisation: view.organisation.name }),
    notice: failureNotice(view.failure, view.messages) ?? done,
    body: html`<div class="cards">
${view.home === undefined ? [personal(view), address(view)] : guest(view, view.home)}${membership(view)}</div>
`,
  });
}

function personal(view: ProfileView): Html {
  const text = view.messages.console.account.profile;
  const { input, faults, messages } = view;
  const labels = profileLabels(messages);
  const field = (id: ProfileField) => ({
    id,
    label: labels[id],
    value: input[id],
    fault: faults.includes(id) ? faultText(id, messages) : undefined,
    hasFocus: faults[0] === id,
    isNow:
      id === "locale" && view.now.locale !== undefined ? languageOf(view.now.locale, view) : view.now[id],
    messages,
  });
  const fields = [
    fieldRow(
      textField({ ...field("firstname"), maxLength: 100, autocomplete: "given-name" }),
      textField({ ...field("surname"), maxLength: 100, autocomplete: "family-name" }),
    ),
    textField({ ...field("phone"), type: "tel", maxLength: 32, autocomplete: "tel", isOptional: true }),
    selectField({ ...field("locale"), hint: text.localeHint, choices: languages(view) }),
    detailsSection({ field, hint: messages.profileDetails.yours, isOwn: true, messages }),
  ];
  return card({
    id: "personal",
    title: text.personal,
    body: recordForm({
      id: "profile",
      action: view.action,
      csrf: view.csrf,
      version: view.version,
      fields,
      submit: { id: "profile-save", label: messages.console.frame.form.save },
      messages,
    }),
  });
}

export const profileLabels = ({ console, profileDetails }: Messages): Record<ProfileField, string> => {
  const { firstname, surname, phone, locale } = console.account.profile;
  return { ...profileDetails.labels, firstname, surname, phone, locale };
};

function faultText(id: ProfileField, messages: Messages): string {
  const text = messages.console.account.profile;
  switch (id) {
    case "firstname":
    case "surname":
      return text.badName;
    case "phone":
      return text.badPhone;
    case "locale":
      return text.badLocale;
    default:
      return detailFaultText(id, messages);
  }
}

const languages = (view: ProfileView) =>
  ["", ...LOCALES].map((value) => ({ value, label: languageOf(value, view) }));

/** Languages by their own name; empty means the browser's language. */
function languageOf(locale: string, { messages }: ProfileView): string {
  if (locale === "") return messages.console.account.profile.asBrowser;
  return LOCALES.includes(locale) ? languageName(locale) : locale;
}

function address({ messages, user, isConfirmed, changeAddressUri }: ProfileView): Html {
  const text = messages.console.account.profile;
  return card({
    id: "address",
    title: text.email,
    text: text.emailText,
    actions:
      changeAddressUri !== undefined &&
      html`<div class="actions">${buttonLink({ id: "email-change", uri: changeAddressUri, label: text.changeEmail })}</div>
`,
    body: html`<p><bdi id="email-shown">${user.email}</bdi> ${isConfirmed ? badge("good", text.confirmed) : badge("warn", text.unconfirmed)}</p>
`,
  });
}

function membership({ messages, organisation, membership: own }: ProfileView): Html {
  const text = messages.console.account.profile;
  const { frame } = messages.console;
  const entries = [
    { label: text.organisation, content: html`<bdi>${organisation.name}</bdi>` },
    { label: text.role, content: text.roles[own.role] },
    { label: text.username, content: own.username !== undefined && html`<bdi>${own.username}</bdi>` },
    { label: text.since, content: messages.format.day(own.since) },
    {
      label: text.permId,
      content: copyField({ id: "perm-id", value: own.permId, ...frame.secret, label: text.permId }),
    },
  ];
  return card({
    id: "membership",
    title: text.membership,
    body: html`${facts(entries)}<p class="visually-hidden" id="copy-status" role="status"></p>
`,
  });
}

function guest({ messages, organisation }: ProfileView, home: { name: string; uri: string }): Html {
  const text = messages.console.account.profile;
  return card({
    id: "guest",
    title: text.guest({ organisation: home.name }),
    text: text.guestText({ organisation: organisation.name }),
    body: html`<div class="actions">${buttonLink({ id: "guest-home", uri: home.uri, label: text.guestOpen({ organisation: home.name }) })}</div>
`,
  });
}
