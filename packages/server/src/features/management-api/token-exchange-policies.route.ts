/** Token exchange policies: which client may exchange whose tokens for what. */
import Type from "typebox";
import { findPolicy, listPolicies } from "../../core/token-exchange/exchange-policies.store.ts";
import {
  changeExchangePolicy,
  createExchangePolicy,
  deleteExchangePolicy,
} from "../../core/token-exchange/exchange-policies.ts";
import {
  type ExchangePolicy,
  InvalidExchangePolicy,
  TooManyPolicies,
  UnknownPolicyClient,
} from "../../core/token-exchange/exchange-policy.ts";
import {
  optionalPolicyMembers,
  policyRecord,
  policyRecordMembers,
  policySettings,
  requiredPolicyMembers,
} from "../../core/token-exchange/policy-schemas.ts";
import { conflict } from "../../http/api/api-error.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { requireMatch } from "../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../http/api/paging.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps, unknownReference } from "./management.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type ResourceRoutes,
  replaceRoute,
} from "./resource-routes.ts";

const content = { ...requiredPolicyMembers, ...Type.Partial(strictObject(optionalPolicyMembers)).properties };
const newPolicy = strictObject(content, { title: "NewTokenExchangePolicy" });
const changedPolicy = strictObject(content, { title: "ChangedTokenExchangePolicy" });
const policySchema = Type.Object(policyRecordMembers, { title: "TokenExchangePolicy" });

const example = {
  ...{ name: "Orders for billing", clientId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15" },
  ...{ target: "https://billing.example", scopes: ["profile"] },
};

export function tokenExchangePoliciesRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const policies: ResourceRoutes<ExchangePolicy> = {
    ...{ api, deps, tag: "Token exchange", one: "token exchange policy", many: "token exchange policies" },
    ...{ schema: policySchema, toAnswer },
    record: (policy) => ({ ...policyRecord(policy), createdAt: wireTime(policy.createdAt) }),
  };
  listRoute(
    policies,
    "/legacy/api/oauth/token-exchange-policies",
    {
      ...{ operationId: "listTokenExchangePolicies", query: pageQuerySchema },
      summary: "List token exchange policies, oldest first",
    },
    // Their number is bounded.
    async (orgId, { after = "" }) => (await listPolicies(db, orgId)).filter(({ id }) => id > after),
  );
  getRoute(
    policies,
    "/legacy/api/oauth/token-exchange-policies/:id",
    { operationId: "getTokenExchangePolicy", summary: "Get a token exchange policy" },
    (orgId, id) => findPolicy(db, { orgId, id }),
  );
  writeRoutes(policies, deps);
}

function writeRoutes(policies: ResourceRoutes<ExchangePolicy>, deps: ManagementDeps): void {
  createRoute(
    policies,
    "/legacy/api/oauth/token-exchange-policies",
    {
      ...{ operationId: "createTokenExchangePolicy", summary: "Create a token exchange policy" },
      ...{ body: newPolicy, errors: [404], example },
    },
    async (inside, { caller, body }) => {
      const orgId = caller.organisation.id;
      return {
        row: await createExchangePolicy(inside, { orgId, settings: policySettings(body), ...by(caller) }),
      };
    },
  );
  replaceRoute(
    policies,
    "/legacy/api/oauth/token-exchange-policies/:id",
    {
      ...{ operationId: "replaceTokenExchangePolicy", summary: "Replace a token exchange policy" },
      ...{ body: changedPolicy, readOnly: ["id", "createdAt"], example },
    },
    (key, { body, request }) =>
      inTransaction(deps, undefined, (inside) =>
        changeExchangePolicy(inside, {
          ...{ ...key, change: () => policySettings(body) },
          check: ({ version }) => requireMatch(request, version),
        }),
      ),
  );
  deleteRoute(
    policies,
    "/legacy/api/oauth/token-exchange-policies/:id",
    { operationId: "deleteTokenExchangePolicy", summary: "Delete a token exchange policy" },
    (key, { request }) =>
      inTransaction(deps, undefined, (inside) =>
        deleteExchangePolicy(inside, { ...key, check: ({ version }) => requireMatch(request, version) }),
      ),
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidExchangePolicy) throw invalidMembers(error.faults);
  if (error instanceof UnknownPolicyClient) throw unknownReference(`/${error.member}`);
  if (error instanceof TooManyPolicies)
    throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  throw error;
}
