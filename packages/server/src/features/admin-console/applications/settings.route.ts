/** Settings of an application: one form for all of them. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { holdApplication } from "../../../core/applications/applications.store.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { listAllPools } from "../../../core/signing-pools/signing-pools.store.ts";
import { checksScript } from "../../../html/scripts.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, queryText, type Visit } from "../../../page-kit/visit.ts";
import { applicationHere, applicationPath, recordCrumbs } from "./application-visit.ts";
import { settingFaults } from "./setting-faults.ts";
import type { FieldSource } from "./setting-field.ts";
import { fieldsOf } from "./setting-fields.ts";
import { inWords } from "./setting-words.ts";
import { settingsPage } from "./settings.page.ts";
import { readTyped, settingsOf, typedOf, withoutPrivateKeys } from "./typed-settings.ts";

export function settingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    path: "/applications/:id/settings",
    current: "applications",
    find: applicationHere,
    hold: holdApplication,
    seenIn: ({ version }) => version,
    typedOf,
    read: (sent, { found }) => readTyped(sent, fieldsOf(found)),
    inWords: (typed, { found, messages }) =>
      Object.fromEntries(fieldsOf(found).map((id) => [id, inWords(id, typed[id] ?? "", messages)])),
    page: async ({ state, ...view }, { visit, found }) =>
      settingsPage({
        ...view,
        ...(await choicesOf(deps, visit, found)),
        breadcrumbs: recordCrumbs(visit.organisation, found, view.messages),
        application: found,
        cancelUri: applicationPath(visit.organisation, found.id),
        typed: withoutPrivateKeys(view.typed),
        form: state,
        lastChange: await lastChangeOf(deps, found.orgId, found.id, view.messages),
        script: checksScript.path,
      }),
    contentOf: (typed) => ({ content: typed }),
    keep: async (inside, typed, { visit, acting, found: { id } }) => {
      await changeApplication(inside, { ...acting, id }, (before) => ({
        ...settingsOf(typed, before),
        disabled: before.disabledAt !== null,
      }));
      return applicationPath(visit.organisation, id, "?done=saved");
    },
    refused: (error, { found, messages }) =>
      error instanceof InvalidApplication
        ? { faults: settingFaults(error.faults, fieldsOf(found), messages) }
        : undefined,
  });
}

/** At most so many are listed with their boxes; the others are typed. */
const MOST_BOXES = 40;

export async function choicesOf(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
  { clientType }: Pick<Application, "clientType">,
): Promise<Pick<FieldSource, "scopes" | "pools" | "checkUri" | "clientType">> {
  const custom = (await listCustomScopes(database.query, organisation.id)).slice(0, MOST_BOXES);
  const standard = standardScopes.map((name) => ({ name }));
  return {
    clientType,
    scopes: [...standard, ...custom.map(({ name, displayName }) => ({ name, text: displayName }))],
    pools: await listAllPools(database.query, organisation.id),
    checkUri: (name) => consolePath(organisation, `/checks/${name}${queryText({ type: clientType })}`),
  };
}
