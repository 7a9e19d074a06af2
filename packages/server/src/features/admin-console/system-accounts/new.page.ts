/** The form for a new system account. */
import type { Application } from "../../../core/applications/application.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { radioField } from "../../../html/components/fields.ts";
import { formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { failureNotice } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { applicationChoice, type Choice } from "../choose-application.ts";
import { type AccountInput, accountFields } from "./account.page.ts";
import { accountPages } from "./account-pages.ts";

export type ChooseView = Choice & { fault?: string };

export function chooseApplicationPage(view: ConsoleFrame & ChooseView): Html {
  const { messages, applications, search, fault: title } = view;
  const { choose: text, permissions } = messages.console.systemAccounts;
  const action = view.consoleUri("/system-accounts/new");
  const make = buttonLink({
    id: "application-new",
    uri: view.consoleUri("/applications/new"),
    label: text.makeApplication,
    kind: "primary",
  });
  const texts = {
    ...text,
    table: text.title,
    column: permissions.application,
    search: permissions.search,
  };
  const body =
    applications.length === 0 && search === ""
      ? emptyState({ title: text.none, text: text.noneText, action: make })
      : applicationChoice(view, { action, linksName: false }, texts);
  return consoleLayout({
    ...view,
    breadcrumbs: accountPages.listCrumbs(view),
    title: text.title,
    summary: text.summary,
    notice: failureNotice(title === undefined ? undefined : { kind: "refused", title }, messages),
    body: html`<section class="card" aria-label="${text.title}">
${body}</section>
`,
  });
}

export type NewAccountInput = AccountInput & { kind: "plain" | "administrator" };

export function newAccountPage(
  view: FormView<NewAccountInput>,
  application: Pick<Application, "id" | "name">,
): Html {
  const { messages, input } = view;
  const { create: text, choose, kinds } = messages.console.systemAccounts;
  const kind = radioField({
    id: "kind",
    label: text.kind,
    value: input.kind,
    choices: (["plain", "administrator"] as const).map((value) => ({
      value,
      label: kinds[value],
      text: text.kindTexts[value],
    })),
    messages,
  });
  return formPage({
    ...view,
    breadcrumbs: accountPages.listCrumbs(view),
    title: choose.title,
    cardLabel: choose.title,
    above: facts([{ label: text.application, content: html`<bdi>${application.name}</bdi>` }]),
    id: "account-form",
    labels: { name: text.name },
    hidden: [{ name: "application", value: application.id }],
    fields: accountFields(view, kind),
    submit: { id: "account-create", label: text.submit },
    cancelUri: view.consoleUri("/system-accounts"),
  });
}
