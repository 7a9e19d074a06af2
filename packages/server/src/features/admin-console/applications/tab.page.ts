/** One tab of an application's page: the settings of this one, and the integration beside them. */
import type { Application } from "../../../core/applications/application.ts";
import { certificateNames } from "../../../core/applications/certificate-names.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { card } from "../../../html/components/card.ts";
import { type FormView, faultsFailure } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { endCard, endItems, type RecordParts, type RecordView } from "../../../page-kit/record-pages.ts";
import { assignedCard, consentScopesField } from "./access.page.ts";
import { applicationStatus } from "./application-status.ts";
import { credentialCards } from "./credentials.page.ts";
import { generalCards } from "./general.page.ts";
import { type IntegrationView, integrationCard } from "./integration.page.ts";
import { type CardId, type TabId, tabCards, tabFields } from "./record-tabs.ts";
import { type FieldSource, settingField } from "./setting-field.ts";
import type { SettingId } from "./setting-fields.ts";
import type { SettingsInput } from "./settings-input.ts";
import type { TabContent } from "./tab-content.ts";

/** The hidden field that names the settings which a form has fields for. */
export const FIELDS = "fields";

export type TabView = FormView<SettingsInput & { readonly consentScopes?: string }> &
  FieldSource &
  RecordView<Application> &
  IntegrationView & {
    readonly tab: TabId;
    readonly content: TabContent;
    readonly activity: Html | undefined;
    readonly now: number;
  };

/** What stands above every tab. */
export const aboveApplication = (view: RecordView<Application>): RecordParts => {
  const { record, messages } = view;
  const { applications: text } = messages.console;
  return {
    head: {
      name: record.name,
      mark: avatar(record.name, record.settings.logoUri),
      facts: [
        html`<span id="application-state">${applicationStatus(record, messages)}</span>`,
        text.kinds[kindOf(record)],
      ],
      id: { id: "record-id", value: record.id, label: text.record.clientId },
    },
    more: endItems(view, { ...text.end, noun: "application" }),
    done: text.done,
  };
};

/** The tab's settings, and how the application is integrated beside them. */
export const tabContent = (view: TabView): Html =>
  html`<div class="with-aside"><div class="with-aside-main">
${tabBody(view)}</div>
<div class="with-aside-beside">${integrationCard(view)}</div></div>
`;

export function tabNotice({ failure, state, messages }: FormView<unknown>): Html | undefined {
  const { applicationSettings: text, applications } = messages.console;
  const label = (id: string) =>
    id === "consentScopes" ? applications.consentNow.label : text.fields[id as SettingId].label;
  return failureNotice(failure ?? faultsFailure(state, label), messages);
}

function tabBody(view: TabView): Content {
  const form = settingsForm(view);
  switch (view.tab) {
    case "general":
      return [form, generalCards(view), view.activity];
    case "credentials":
      return [credentialCards(view), form];
    case "access":
      return [form, kindOf(view.record) !== "service" && assignedCard(view)];
    case "advanced":
      return [form, endingCard(view)];
    default:
      return form;
  }
}

function settingsForm(view: TabView): Content {
  const { record, tab, messages } = view;
  const cards = tabCards(tab, record);
  if (cards.length === 0) return undefined;
  return recordForm({
    ...view,
    id: "settings-form",
    hidden: [{ name: FIELDS, value: tabFields(tab, record).join(" ") }],
    fields: cards.map(([id, fields]) => settingsCard(view, id, fields)),
    submit: { id: "settings-save", label: messages.console.frame.form.save },
  });
}

const settingsCard = (view: TabView, id: CardId, fields: readonly SettingId[]): Html =>
  card({
    id: `card-${id}`,
    title: view.messages.console.applicationSettings.cards[id].title,
    // The hint of a card's only setting says it already.
    text:
      fields.length > 1 || id === "legacy"
        ? view.messages.console.applicationSettings.cards[id].text
        : undefined,
    body: html`<div class="fields">${fields.map((field) => shownWhenNeeded(field, view))}${
      id === "consent" && consentScopesField(view)
    }</div>
`,
  });

/** Fields that another choice in the same form asks for: styles/console-applications.css shows and hides them, without scripts. */
const conditions: Partial<Readonly<Record<SettingId, string>>> = {
  jwks: "for-keys",
  jwksUri: "for-keys",
  ...Object.fromEntries(certificateNames.map((name) => [name, "for-san"])),
  requireNonceWithoutPkce: "without-pkce",
  refreshTokenLifetimeSeconds: "for-refresh",
  refreshTokenAbsoluteLifetimeSeconds: "for-refresh",
  refreshTokenGraceSeconds: "for-refresh",
  issueRefreshTokenWithoutOfflineAccess: "for-refresh",
};

/** What the reader has to see is never hidden: a fault, and what another administrator has changed. */
function shownWhenNeeded(id: SettingId, view: TabView): Content {
  const condition = conditions[id];
  const field = settingField(id, view);
  const { faults = {}, isNow = {} } = view.state;
  if (condition === undefined || Object.hasOwn(faults, id) || Object.hasOwn(isNow, id)) return field;
  return html`<div class="${condition}">${field}</div>
`;
}

function endingCard(view: TabView): Html {
  const { end } = view.messages.console.applications;
  return endCard(view, {
    ...end,
    id: "end",
    noun: "application",
    text: view.record.disabledAt === null ? end.text : end.disabledText,
  });
}
