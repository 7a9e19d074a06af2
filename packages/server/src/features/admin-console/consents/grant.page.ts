/** Forms that grant consent and pre-authorize. */

import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { checkList, radioField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { applicationChoice, type Choice } from "../choose-application.ts";
import type { ConsentsTab } from "./consents.page.ts";

export const tabCrumb = ({ tab, consoleUri, messages }: ConsoleFrame & { tab: ConsentsTab }) => {
  const { frame, consents: text } = messages.console;
  const label = tab === "consents" ? frame.pages.consents : text.tabs.preauthorizations;
  return [{ label, uri: consoleUri(`/${tab}`) }];
};

/** The first step of a grant: the application decides which scopes there are. */
export function chooseApplicationPage(
  view: ConsoleFrame & Choice & { tab: ConsentsTab; action: string },
): Html {
  const { messages, tab, action, applications, search } = view;
  const { consents: text } = messages.console;
  const allow = tab === "consents" ? text.submit : text.preauthorizations.submit;
  const isEmpty = applications.length === 0 && search === "";
  const texts = {
    table: text.application,
    column: text.application,
    search: `${text.application} (${text.applicationHint})`,
    choose: allow,
    chooseOf: ({ name }: { name: string }) => `${allow}: ${name}`,
  };
  return consoleLayout({
    ...view,
    // The document title tells the two tabs apart.
    title: tab === "consents" ? text.grant : text.preauthorizations.grant,
    heading: text.choose,
    summary: isEmpty ? undefined : tab === "consents" ? text.chooseText : text.preauthorizations.chooseText,
    breadcrumbs: tabCrumb(view),
    body: html`<section class="card">${
      isEmpty
        ? html`<p id="no-applications">${text.noApplications}</p>
<p>${buttonLink({ id: "application-new", uri: view.consoleUri("/applications/new"), label: messages.console.applications.list.create })}</p>`
        : applicationChoice(view, { action, linksName: true }, texts)
    }</section>
`,
  });
}

export type GrantInput = { forWhom: string; email: string; scopes: readonly string[] };

export type GrantView = FormView<GrantInput> & {
  tab: ConsentsTab;
  application: { id: string; name: string };
  /** The scopes that the application may request. */
  scopes: ReadonlyArray<{ name: string; text: string }>;
};

/** The second step: which scopes, and for whom. */
export function grantPage(view: GrantView): Html {
  const { tab, application, messages } = view;
  const { consents: text } = messages.console;
  const { preauthorizations } = text;
  const words =
    tab === "consents"
      ? { title: text.grantTitle({ application: application.name }), summary: text.grantText }
      : {
          title: preauthorizations.title({ application: application.name }),
          summary: preauthorizations.text,
        };
  const labels = { forWhom: text.forWhom, email: text.email, scopes: text.scopes };
  const page = { ...view, ...words, labels, breadcrumbs: tabCrumb(view) };
  if (view.scopes.length === 0) {
    const body = html`<section class="card"><p id="no-scopes">${text.noScopes}</p></section>
`;
    return consoleLayout({ ...page, notice: formNotice(page), body });
  }
  return formPage({
    ...page,
    id: "grant-form",
    hidden: [{ name: "application", value: application.id }],
    fields: grantFields(view),
    submit: { id: "grant-submit", label: tab === "consents" ? text.submit : preauthorizations.submit },
    cancelUri: view.consoleUri(`/${tab}`),
  });
}

function grantFields(view: GrantView): Content {
  const { input, messages } = view;
  const { consents: text } = messages.console;
  const field = fieldsOf(view, { forWhom: text.forWhom, email: text.user, scopes: text.scopes });
  const choices = view.scopes.map((scope) => ({ value: scope.name, label: scope.name, text: scope.text }));
  const scopes = { ...field("scopes"), values: input.scopes, choices };
  if (view.tab === "preauthorizations") return checkList(scopes);
  return [
    radioField({
      ...field("forWhom"),
      choices: [
        { value: "organisation", label: text.forOrganisation, text: text.forOrganisationText },
        { value: "user", label: text.forUser, text: text.forUserText },
      ],
    }),
    textField({ ...field("email"), type: "email", maxLength: 254 }),
    checkList({ ...scopes, hint: text.scopesHint }),
  ];
}
