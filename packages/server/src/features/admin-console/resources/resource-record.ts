/** Protected resources as records of the console (modern-oauth.md §6). */
import {
  type ResourceWithScopes,
  resourceDefaults,
} from "../../../core/protected-resources/protected-resource.ts";
import { lockResource } from "../../../core/protected-resources/protected-resources.store.ts";
import {
  changeResource,
  createResource,
  deleteResource,
  findResourceWithScopes,
} from "../../../core/protected-resources/protected-resources.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { html } from "../../../html/html.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import { applicationsToChoose, lifetimeText } from "../plain-records/fields.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { type ResourceChoices, resourceFields, resourceGeneral } from "./resource.page.ts";
import {
  displayResource,
  type ResourceInput,
  readResourceInput,
  resourceFaults,
  resourceLabels,
  toWanted,
  type WantedResource,
} from "./resource-input.ts";

const pages = recordPages<ResourceWithScopes>(
  "resources",
  "/resources",
  (db, orgId, id) => findResourceWithScopes(db, { orgId, id }),
  ({ name }) => name,
);

export const resourceRecord: PlainRecord<
  ConsoleDeps,
  ResourceWithScopes,
  ResourceInput,
  WantedResource,
  ResourceChoices
> = {
  ...{ pages, path: "/resources", noun: "resource", icon: "server" },
  texts: ({ console }) => console.resources,
  nameOf: ({ name }) => name,
  facts: ({ identifier }) => [html`<code>${identifier}</code>`],
  labels: resourceLabels,
  choices: async ({ database }, orgId) => ({
    scopes: await listCustomScopes(database.query, orgId),
    applications: await applicationsToChoose({ database }, orgId),
  }),
  empty: () => ({
    ...{ name: "", identifier: "", enabled: true, scopes: [], agentDeniedScopes: [] },
    ...{ accessTokenFormat: resourceDefaults.accessTokenFormat, accessTokenSignedResponseAlg: "" },
    ...{ accessTokenLifetimeSeconds: lifetimeText(null), senderConstraint: "none", applicationId: "" },
  }),
  toInput: ({ scopes, accessTokenAlg, accessTokenLifetimeSeconds, applicationId, ...resource }) => ({
    ...{ name: resource.name, identifier: resource.identifier, enabled: resource.enabled },
    ...{ accessTokenFormat: resource.accessTokenFormat, senderConstraint: resource.senderConstraint },
    ...{ scopes: scopes.map(({ name }) => name), agentDeniedScopes: resource.agentDeniedScopes },
    accessTokenLifetimeSeconds: lifetimeText(accessTokenLifetimeSeconds),
    accessTokenSignedResponseAlg: accessTokenAlg ?? "",
    applicationId: applicationId ?? "",
  }),
  readInput: readResourceInput,
  toDisplay: displayResource,
  fields: resourceFields,
  validate: (input) => ({ content: toWanted(input) }),
  lock: (tx, { orgId, id }) => lockResource(tx, { orgId, id }),
  create: (inside, acting, wanted) => createResource(inside, { ...acting, ...wanted }),
  change: (inside, acting, { id }, change) => changeResource(inside, { ...acting, id, change }),
  remove: (inside, acting, { id }) => deleteResource(inside, { ...acting, id }),
  faults: resourceFaults,
  general: resourceGeneral,
};
