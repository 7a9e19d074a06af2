/** /api/v1/organisations/{org}/token-exchange-policies: who may exchange whose tokens for what (modern-oauth.md §6). */
import Type from "typebox";
import { findPolicy, listPolicies } from "../../../core/token-exchange/exchange-policies.store.ts";
import {
  changeExchangePolicy,
  createExchangePolicy,
  deleteExchangePolicy,
} from "../../../core/token-exchange/exchange-policies.ts";
import {
  type ExchangePolicy,
  InvalidExchangePolicy,
  TooManyPolicies,
  UnknownPolicyClient,
} from "../../../core/token-exchange/exchange-policy.ts";
import {
  optionalPolicyMembers,
  policyRecord,
  policyRecordMembers,
  policySettings,
  requiredPolicyMembers,
} from "../../../core/token-exchange/policy-schemas.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { invalidMembers, unknownReference } from "../frame/member-faults.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";

const newPolicy = strictObject(
  { ...requiredPolicyMembers, ...patchSchema(optionalPolicyMembers).properties },
  { title: "ApiNewTokenExchangePolicy" },
);
const policyPatch = patchSchema(
  { ...requiredPolicyMembers, ...optionalPolicyMembers },
  { title: "ApiTokenExchangePolicyChange" },
);
const policySchema = Type.Object(
  { ...policyRecordMembers, updatedAt: Type.String({ format: "date-time" }) },
  { title: "ApiTokenExchangePolicy" },
);
const fields = memoryFields({
  ...({ id: "text", name: "text", clientId: "text", requestedTokenType: "text", target: "text" } as const),
  ...({ foreignClientId: "text", impersonation: "boolean", maxLifetimeSeconds: "number" } as const),
  ...({ enabled: "boolean", createdAt: "time", updatedAt: "time" } as const),
});
const record = (policy: ExchangePolicy) => ({
  ...{
    ...policyRecord(policy),
    createdAt: wireTime(policy.createdAt),
    updatedAt: wireTime(policy.updatedAt),
  },
});

export function apiTokenExchangePoliciesRoutes(api: ApiScope, deps: ApiDeps): void {
  const policies: ApiResource<ExchangePolicy> = {
    ...{
      api,
      deps,
      tag: "API v1: token exchange",
      one: "token exchange policy",
      many: "token exchange policies",
    },
    ...{ schema: policySchema, record, toAnswer },
    ...{ reads: ["signet:applications:read"], writes: ["signet:applications:write"] },
  };
  listRoute(
    policies,
    "/api/v1/organisations/:org/token-exchange-policies",
    { operationId: "apiListTokenExchangePolicies", summary: "List the token exchange policies", fields },
    async ({ orgId, list }) =>
      memoryPage(list, await listPolicies(deps.database.query, orgId), { fields, record }),
  );
  getRoute(
    policies,
    "/api/v1/organisations/:org/token-exchange-policies/:id",
    { operationId: "apiReadTokenExchangePolicy", summary: "Get a token exchange policy" },
    ({ orgId, id }) => findPolicy(deps.database.query, { orgId, id }),
  );
  writeRoutes(policies);
}

function writeRoutes(policies: ApiResource<ExchangePolicy>): void {
  createRoute(
    policies,
    "/api/v1/organisations/:org/token-exchange-policies",
    {
      ...{ operationId: "apiCreateTokenExchangePolicy", summary: "Create a token exchange policy" },
      ...{ body: newPolicy, errors: [409] },
      example: {
        ...{ name: "Orders for billing", clientId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15" },
        ...{ target: "https://billing.example", scopes: ["profile"] },
      },
    },
    async (inside, { caller, body }) => ({
      row: await createExchangePolicy(inside, { ...actOf(caller), settings: policySettings(body) }),
    }),
  );
  patchRoute(
    policies,
    "/api/v1/organisations/:org/token-exchange-policies/:id",
    {
      ...{ operationId: "apiChangeTokenExchangePolicy", summary: "Change a token exchange policy" },
      ...{ body: policyPatch, example: { enabled: true } },
    },
    (inside, { caller, id, check, patch }) => {
      const unset = (["name", "clientId", "target", "scopes"] as const).filter(
        (name) => patch[name] === null,
      );
      if (unset.length > 0)
        throw invalid(unset.map((name) => ({ path: `/${name}`, message: "cannot be unset" })));
      const change = (before: ExchangePolicy) => policySettings(patch, before);
      return changeExchangePolicy(inside, { ...actOf(caller), id, check, change });
    },
  );
  deleteRoute(
    policies,
    "/api/v1/organisations/:org/token-exchange-policies/:id",
    { operationId: "apiDeleteTokenExchangePolicy", summary: "Delete a token exchange policy" },
    (inside, { caller, id, check }) => deleteExchangePolicy(inside, { ...actOf(caller), id, check }),
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidExchangePolicy) throw invalidMembers(error.faults);
  if (error instanceof UnknownPolicyClient) throw unknownReference(`/${error.member}`);
  if (!(error instanceof TooManyPolicies)) throw error;
  throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
}
