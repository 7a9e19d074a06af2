/** Token exchange and identity assertion policies of an organisation, and the page of one. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import {
  findPolicy,
  listPolicies,
  lockPolicy,
} from "../../../core/token-exchange/exchange-policies.store.ts";
import {
  changeExchangePolicy,
  createExchangePolicy,
  deleteExchangePolicy,
} from "../../../core/token-exchange/exchange-policies.ts";
import {
  type ExchangePolicy,
  type ExchangePolicySettings,
  requestedTokenTypes,
} from "../../../core/token-exchange/exchange-policy.ts";
import { html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import { applicationsToChoose } from "../plain-records/fields.ts";
import { plainList } from "../plain-records/plain-list.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";
import { claimNames, MAX_SHOWN } from "../scopes/scopes.page.ts";
import { type PolicyChoices, policyFields, policyGeneral, policyLabels } from "./policy.page.ts";
import {
  displayPolicy,
  emptyPolicy,
  type PolicyInput,
  policyFaults,
  readPolicyInput,
  toPolicyInput,
  toPolicySettings,
} from "./policy-input.ts";

export function tokenExchangeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/token-exchange", policyList);
  plainRecordRoutes(app, deps, policyRecord, {
    create: "/oauth/manage/:org/token-exchange/new",
    general: "/oauth/manage/:org/token-exchange/:id",
    settings: "/oauth/manage/:org/token-exchange/:id/settings",
    activity: "/oauth/manage/:org/token-exchange/:id/activity",
    delete: "/oauth/manage/:org/token-exchange/:id/delete",
  });
}

const pages = recordPages<ExchangePolicy>(
  "tokenExchange",
  "/token-exchange",
  (db, orgId, id) => findPolicy(db, { orgId, id }),
  ({ name }) => name,
);

const policyRecord: PlainRecord<
  ConsoleDeps,
  ExchangePolicy,
  PolicyInput,
  ExchangePolicySettings,
  PolicyChoices
> = {
  ...{ pages, path: "/token-exchange", noun: "policy", icon: "loop" },
  texts: ({ console }) => console.tokenExchange,
  nameOf: ({ name }) => name,
  facts: ({ requestedTokenType }, { console }) => [console.tokenExchange.typeNames[requestedTokenType]],
  labels: policyLabels,
  choices: async ({ database }, orgId) => ({
    applications: await applicationsToChoose({ database }, orgId),
    scopes: await listCustomScopes(database.query, orgId),
  }),
  empty: ({ request }) => {
    const sort = parseQuery(request).values.get("sort");
    const type = requestedTokenTypes.find((one) => one === sort);
    return type && emptyPolicy(type);
  },
  sorts: ({ messages: { console } }) =>
    requestedTokenTypes.map((name) => ({
      ...{ name, title: console.tokenExchange.typeNames[name], text: console.tokenExchange.types[name] },
      mark: name === "access_token" ? ("loop" as const) : ("person" as const),
    })),
  hidden: ({ requestedTokenType }) => [{ name: "requestedTokenType", value: requestedTokenType }],
  toInput: toPolicyInput,
  readInput: readPolicyInput,
  toDisplay: displayPolicy,
  fields: policyFields,
  validate: (input) => ({ content: toPolicySettings(input) }),
  lock: (tx, { orgId, id }) => lockPolicy(tx, { orgId, id }),
  create: (inside, acting, settings) => createExchangePolicy(inside, { ...acting, settings }),
  change: (inside, acting, { id }, settings) =>
    changeExchangePolicy(inside, { ...acting, id, change: () => settings }),
  remove: (inside, acting, { id }) => deleteExchangePolicy(inside, { ...acting, id }),
  faults: policyFaults,
  general: async ({ database }, view) => {
    const { orgId, clientId, subjectClientIds } = view.record;
    const found = await Promise.all(
      [...new Set([clientId, ...subjectClientIds])].map((id) => findApplication(database.query, orgId, id)),
    );
    return policyGeneral(
      view,
      found.filter((one) => one !== undefined),
    );
  },
};

const policyList = plainList(policyRecord, {
  load: ({ deps, organisation }) => listPolicies(deps.database.query, organisation.id),
  words: ({ name, target, scopes }) => [name, target, ...scopes],
  note: ({ target }) => html`<code>${target}</code>`,
  columns: [
    {
      label: ({ console }) => console.tokenExchange.type,
      cell: ({ requestedTokenType }, { messages: { console } }) =>
        console.tokenExchange.typeNames[requestedTokenType],
    },
    {
      label: ({ console }) => console.tokenExchange.fields.scopes.label,
      cell: ({ scopes }) => claimNames(scopes, "", MAX_SHOWN),
    },
  ],
});
