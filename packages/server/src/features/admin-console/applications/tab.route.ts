/**
 * applications/{id} and its tabs: each shows a part of the settings, and saves that part alone. Two administrators who save
 * different tabs don't disturb each other: a form carries the version of its own members.
 */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { lockApplication } from "../../../core/applications/applications.store.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { type EditForm, type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consoleRoute, redirectTo, requireAdministrator } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { type RecordTab, showInTab, type TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { consentFaults, grantConsentInput } from "./admin-consent.ts";
import { applicationPages, findEndpoints } from "./application-pages.ts";
import { type TabId, tabFields, tabIds, tabOf, tabPath } from "./record-tabs.ts";
import { fieldChoices } from "./setting-choices.route.ts";
import { settingFaults } from "./setting-faults.ts";
import { displaySetting } from "./setting-field.ts";
import { controls, type SettingId } from "./setting-fields.ts";
import {
  readSettingsInput,
  type SettingsInput,
  toInput,
  toSettings,
  withoutPrivateKeys,
} from "./settings-input.ts";
import { aboveApplication, FIELDS, tabContent, tabNotice } from "./tab.page.ts";
import { loadTabContent } from "./tab-content.ts";

export function applicationTabRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/applications/:id", tabForm(deps, "general"));
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/urls", tabForm(deps, "urls"));
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/credentials", tabForm(deps, "credentials"));
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/tokens", tabForm(deps, "tokens"));
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/access", tabForm(deps, "access"));
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/advanced", tabForm(deps, "advanced"));
  // Addresses of the former single form, in bookmarks and mails.
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/settings", {
    get: async (_, visit) => {
      await requireAdministrator(deps, visit);
      const { id } = await applicationPages.require(deps, visit);
      await redirectTo(visit, applicationPages.path(visit.organisation, id));
    },
  });
}

const applicationTab = (name: TabId): RecordTab<ConsoleDeps, RecordView<Application>> => ({
  name,
  url: `/oauth/manage/:org/applications/:id${tabPath(name)}`,
});

/** Every tab but the roles is a form, which its route shows. */
export const applicationRecord: TabbedRecord<ConsoleDeps, Application, RecordView<Application>> = {
  place: applicationPages,
  load: (_, view) => view,
  above: aboveApplication,
  labels: ({ console: { applications } }) => applications.tabs,
  tabs: [
    applicationTab("general"),
    ...tabIds.slice(1, -1).map(applicationTab),
    // No settings: roles.route.ts shows it.
    { name: "roles", url: "/oauth/manage/:org/applications/:id/roles" },
    ...tabIds.slice(-1).map(applicationTab),
  ],
};

/** Besides the settings: the scopes that an administrator consents to in the same save, one a line. */
export type TabInput = SettingsInput & { readonly consentScopes?: string };

const tabInput = (tab: TabId, record: Application): TabInput => {
  const all = toInput(record);
  return Object.fromEntries(tabFields(tab, record).map((id) => [id, all[id] ?? ""]));
};

/**
 * The settings that the form had fields for. Another save may have given the tab more of them since: those aren't empty, but
 * unknown.
 */
function shownFields(tab: TabId, { values }: SentForm): SettingId[] {
  const shown = (values.get(FIELDS) ?? "").split(" ");
  return shown.filter((id): id is SettingId => Object.hasOwn(controls, id) && tabOf(id as SettingId) === tab);
}

const settingsOf = ({ consentScopes: _, ...settings }: TabInput): SettingsInput => settings;

const tabForm = (deps: ConsoleDeps, tab: TabId): EditForm<ConsoleDeps, Application, TabInput, TabInput> => ({
  current: "applications",
  readOnlyAllowed: true,
  load: applicationPages.require,
  lock: lockApplication,
  version: (record) => tabInput(tab, record),
  toInput: (record) => tabInput(tab, record),
  readInput: (form) => ({
    ...readSettingsInput(form, shownFields(tab, form)),
    ...(tab === "access" ? { consentScopes: form.all("consentScopes").join("\n") } : {}),
  }),
  toDisplay: (input, { messages }) =>
    Object.fromEntries(
      Object.entries(settingsOf(input)).map(([id, value]) => [
        id,
        displaySetting(id as SettingId, value, messages),
      ]),
    ),
  page: (form, { visit, record, signedIn }) =>
    showInTab(deps, visit, applicationRecord, {
      ...{ tab, frame: form, stored: record, signedIn },
      notice: tabNotice(form),
      faults: Object.keys(form.state.faults ?? {}).length,
      content: async (view) =>
        tabContent({
          ...form,
          ...view,
          ...(await fieldChoices(deps, visit, record)),
          ...(await findEndpoints(deps, record)),
          tab,
          // What the form had no field for is as the record has it.
          input: withoutPrivateKeys({ ...tabInput(tab, record), ...form.input }),
          content: await loadTabContent(deps, tab, record),
          activity:
            tab === "general"
              ? await activityCard(deps, visit.organisation, { kind: "client", id: record.id }, form.messages)
              : undefined,
          now: deps.clock(),
        }),
    }),
  validate: async (input, { record, messages }) => {
    const faults = await consentFaults(deps, record, input, messages);
    return faults === undefined ? { content: input } : { faults };
  },
  // An administrator's consent is a record of its own, revoked on its page.
  isUndoable: ({ consentScopes = "" }) => consentScopes === "",
  save: async (inside, input, { visit, acting, record: { id } }) => {
    const saved = await changeApplication(inside, { ...acting, id }, (before) => ({
      ...toSettings(settingsOf(input), before),
      disabled: before.disabledAt !== null,
    }));
    if (saved && tab === "access") await grantConsentInput(inside, acting, saved, input);
    return applicationPages.path(visit.organisation, id, `${tabPath(tab)}?done=saved`);
  },
  explain: (error, editing) =>
    error instanceof InvalidApplication ? explainFaults(error, tab, editing) : undefined,
});

/** A fault of a setting of another tab has no field here: the notice says which, and where. */
function explainFaults(
  { faults }: InvalidApplication,
  tab: TabId,
  { record, messages }: Editing<Application>,
): FormState | FormFailure {
  const own = settingFaults(faults, tabFields(tab, record), messages);
  if (Object.keys(own).length > 0) return { faults: own };
  const others = tabIds.flatMap((other) =>
    Object.entries(settingFaults(faults, tabFields(other, record), messages)).map(([id, text]) =>
      faultElsewhere(other, id as SettingId, text, messages),
    ),
  );
  const { frame, applicationSettings } = messages.console;
  const text = others.length > 0 ? others.join(" ") : applicationSettings.faults.other;
  return { kind: "refused", title: frame.form.failed, text };
}

const faultElsewhere = (tab: TabId, id: SettingId, text: string, { console: own }: Messages): string =>
  `${own.applications.tabs[tab]} – ${own.applicationSettings.fields[id].label}: ${text}`;
