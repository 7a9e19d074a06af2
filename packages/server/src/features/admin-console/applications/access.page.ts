/** The access tab besides its settings: the scopes of an admin consent, and the assigned users. */
import type { Application } from "../../../core/applications/application.ts";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { isApiScope } from "../../../core/scopes/api-scopes.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { checkList } from "../../../html/components/fields.ts";
import { type FormState, fieldState } from "../../../html/components/form-state.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import type { FieldSource } from "./setting-field.ts";
import { readLines } from "./settings-input.ts";
import type { TabContent } from "./tab-content.ts";

type AccessView = RecordView<Application> & {
  readonly content: TabContent;
  readonly scopes: FieldSource["scopes"];
  readonly input: { readonly consentScopes?: string };
  readonly state: FormState;
};

/**
 * Below the consent mode, shown once admin consent is chosen (styles/console-applications.css): all allowed scopes are ticked for
 * those who choose it now, and none for those who have it already and save something else.
 */
export function consentScopesField(view: AccessView): Html {
  const { record, messages, content, scopes, input, state } = view;
  const { consentNow } = messages.console.applications;
  const { allowedScopes } = record.settings;
  const open = allowedScopes.filter((scope) => !content.consented.includes(scope) && !isApiScope(scope));
  const isChosenNow = consentModeOf(record.settings) !== "organisation";
  const values =
    input.consentScopes === undefined ? (isChosenNow ? open : []) : readLines(input.consentScopes);
  const standard: Readonly<Record<string, string>> = messages.scopes;
  const choices = open.map((name) => {
    const text = scopes.find((scope) => scope.name === name)?.text ?? standard[name];
    return { value: name, label: name, ...(text === undefined ? {} : { text }) };
  });
  const consents = html`<a id="consents-manage" href="${linkAddress(view.consoleUri(`/consents?application=${record.id}`))}">${consentNow.manage}</a>`;
  return html`<div class="for-admin-consent">${
    choices.length > 0 &&
    checkList({
      id: "consentScopes",
      label: consentNow.label,
      hint: consentNow.hint,
      values,
      choices,
      messages,
      ...fieldState(state, "consentScopes"),
    })
  }${
    content.consented.length > 0 &&
    html`<p class="quiet" id="consented">${consentNow.given({ value: content.consented.join(", ") })} ${consents}</p>
`
  }</div>
`;
}

export function assignedCard(view: AccessView): Content {
  const { messages, organisation, record, content } = view;
  const { access } = messages.console.applications;
  const { count, isMore, users } = content.assigned;
  const isForAll = record.settings.access === "everyone";
  const text = isForAll ? access.everyone({ organisation: organisation.name }) : access.assigned;
  const more = isMore ? access.many({ count }) : access.count({ count });
  return card({
    id: "access-card",
    title: access.users,
    text,
    actions: html`<div class="row-actions">${[
      buttonLink({ id: "access-users", uri: view.uriOf("/users"), label: access.change }),
      buttonLink({
        id: "access-groups",
        uri: view.uriOf("/groups"),
        label: messages.console.groups.access.heading,
      }),
    ]}</div>`,
    body: [
      users.length > 0 &&
        html`<ul class="plain-list">${users.map(
          ({ id, email }) =>
            html`<li><a href="${linkAddress(view.consoleUri(`/users/${id}`))}"><bdi>${email}</bdi></a></li>
`,
        )}</ul>
`,
      (!isForAll || count > 0) &&
        html`<p class="quiet">${more}</p>
`,
    ],
  });
}
