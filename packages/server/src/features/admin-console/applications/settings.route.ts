/** applications/{id}/settings: one form for all settings of an application. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { lockApplication } from "../../../core/applications/applications.store.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { applicationPath, recordCrumbs, requireApplication } from "./application-path.ts";
import { displaySetting } from "./setting-display.ts";
import { settingFaults } from "./setting-faults.ts";
import type { FieldSource } from "./setting-field.ts";
import { applicationFields } from "./setting-fields.ts";
import { settingsPage } from "./settings.page.ts";
import { readSettingsInput, toInput, toSettings, withoutPrivateKeys } from "./settings-input.ts";

export function settingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/applications/:id/settings", {
    current: "applications",
    load: requireApplication,
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
        breadcrumbs: recordCrumbs(visit.organisation, record, view.messages),
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
      return applicationPath(visit.organisation, id, "?done=saved");
    },
    explain: (error, { record, messages }) =>
      error instanceof InvalidApplication
        ? { faults: settingFaults(error.faults, applicationFields(record), messages) }
        : undefined,
  });
}

/** Scopes beyond these are typed instead of ticked. */
const MAX_SCOPE_BOXES = 40;

export async function fieldChoices(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
  { clientType }: Pick<Application, "clientType">,
): Promise<Pick<FieldSource, "scopes" | "pools" | "checkUri" | "clientType">> {
  const custom = (await listCustomScopes(database.query, organisation.id)).slice(0, MAX_SCOPE_BOXES);
  const standard = standardScopes.map((name) => ({ name }));
  return {
    clientType,
    scopes: [...standard, ...custom.map(({ name, displayName }) => ({ name, text: displayName }))],
    pools: await listAllPools(database.query, organisation.id),
    checkUri: (name) => consolePath(organisation, `/checks/${name}${queryString({ type: clientType })}`),
  };
}
