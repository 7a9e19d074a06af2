/** applications/{id}/settings: one form for all settings; checks/{name}: a value of it, checked while it is typed. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { lockApplication } from "../../../core/applications/applications.store.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes, withoutCustom } from "../../../core/scopes/scopes.ts";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { type FormView, faultsFailure } from "../../../html/components/form-state.ts";
import { failureNotice, lastChangeLine, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { checksScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange, type LastChange } from "../../../page-kit/actor-names.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  queryString,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { applicationPages } from "./application-pages.ts";
import { settingFaults } from "./setting-faults.ts";
import { checkNames, checkValue, displaySetting, type FieldSource, settingField } from "./setting-field.ts";
import { applicationCards, applicationFields, type SettingId } from "./setting-fields.ts";
import {
  readSettingsInput,
  type SettingsInput,
  toInput,
  toSettings,
  withoutPrivateKeys,
} from "./settings-input.ts";

export function settingsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/settings", {
    current: "applications",
    load: applicationPages.require,
    lock: lockApplication,
    version: ({ version }) => version,
    toInput,
    readInput: (form, { record }) => readSettingsInput(form, applicationFields(record)),
    toDisplay: (input, { record, messages }) =>
      Object.fromEntries(
        applicationFields(record).map((id) => [id, displaySetting(id, input[id] ?? "", messages)]),
      ),
    page: async (view, { visit, record }) =>
      settingsPage({
        ...view,
        ...(await fieldChoices(deps, visit, record)),
        application: record,
        input: withoutPrivateKeys(view.input),
        lastChange: await findLastChange(deps, record.orgId, record.id, view.messages),
      }),
    validate: (input) => ({ content: input }),
    save: async (inside, input, { visit, acting, record: { id } }) => {
      await changeApplication(inside, { ...acting, id }, (before) => ({
        ...toSettings(input, before),
        disabled: before.disabledAt !== null,
      }));
      return applicationPages.path(visit.organisation, id, "?done=saved");
    },
    explain: (error, { record, messages }) =>
      error instanceof InvalidApplication
        ? { faults: settingFaults(error.faults, applicationFields(record), messages) }
        : undefined,
  });
  consoleRoute(app, deps, "/oauth/manage/:org/checks/:name", { get: sendCheck });
}

/** Scopes beyond these are typed instead of ticked. */
const MAX_SCOPE_BOXES = 40;

export async function fieldChoices(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
  { clientType }: Pick<Application, "clientType">,
): Promise<Pick<FieldSource, "scopes" | "pools" | "checkUri" | "clientType">> {
  const all = await listCustomScopes(database.query, organisation.id);
  const standard = withoutCustom(standardScopes, all).map((name) => ({ name }));
  const custom = all.slice(0, MAX_SCOPE_BOXES);
  return {
    clientType,
    scopes: [...standard, ...custom.map(({ name, displayName }) => ({ name, text: displayName }))],
    pools: await listAllPools(database.query, organisation.id),
    checkUri: (name) => consolePath(organisation, `/checks/${name}${queryString({ type: clientType })}`),
  };
}

type SettingsView = FormView<SettingsInput> &
  FieldSource & {
    application: Application;
    lastChange: LastChange | undefined;
  };

function settingsPage(view: SettingsView): Html {
  const { messages, application } = view;
  const text = messages.console.applicationSettings;
  const failure = view.failure ?? faultsFailure(view.state, (id) => text.fields[id as SettingId].label);
  const cards = applicationCards(application);
  return consoleLayout({
    ...view,
    breadcrumbs: applicationPages.crumbs(view, application),
    title: text.title({ application: application.name }),
    heading: text.heading,
    summary: text.summary,
    notice: failureNotice(failure, messages),
    scripts: [checksScript.path],
    body: html`<div class="with-aside"><div class="with-aside-main">
${recordForm({
  ...view,
  id: "settings-form",
  cancelUri: view.consoleUri(`/applications/${application.id}`),
  fields: cards.map(([id, fields]) =>
    card({
      id: `card-${id}`,
      ...text.cards[id],
      body: html`<div class="fields">${fields.map((field) => settingField(field, view))}</div>
`,
    }),
  ),
  submit: { id: "settings-save", label: messages.console.frame.form.save },
})}${lastChangeLine(view.lastChange, messages)}</div>
<div class="with-aside-beside"><nav class="jump" aria-label="${text.jump}"><ul>${cards.map(
      ([id]) => html`<li><a href="#card-${id}-title">${text.cards[id].title}</a></li>
`,
    )}</ul></nav></div></div>
`,
  });
}

const clientTypes: readonly ClientType[] = ["confidential", "public", "native", "spa"];
const MAX_VALUE_LETTERS = 8_000;

/** For scripts/checks.js, by the rules of the form. */
async function sendCheck(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { request, reply, organisation } = visit;
  const signedIn = await requireAdministrator(deps, visit, consolePath(organisation));
  const name = checkNames.find((one) => one === pathParams(visit)["name"]);
  if (name === undefined) throw new NotFound("check");
  const { values } = parseQuery(request);
  const type = clientTypes.find((one) => one === values.get("type")) ?? "confidential";
  const value = (values.get("value") ?? "").slice(0, MAX_VALUE_LETTERS);
  const result = checkValue(name, value, type, pageMessages(visit, signedIn));
  await reply.header("cache-control", "no-store").send(result);
}
