/** /api/v1/organisations/{org}/client-id-metadata-policy: clients whose client_id is the address of their metadata document. */
import Type from "typebox";
import { setClientPolicy } from "../../../core/client-metadata/client-policies.ts";
import { findClientPolicy } from "../../../core/client-metadata/client-policy.store.ts";
import {
  agentConstraints,
  type ClientPolicy,
  InvalidPolicy,
  MAX_ALLOWED,
  MAX_HOSTS,
  MAX_RESOURCES,
  policyModes,
  wholePolicy,
} from "../../../core/client-metadata/client-policy.ts";
import type { Database } from "../../../db/open.ts";
import { type ApiScope, apiRoute, readRoute } from "../../../http/api/api-route.ts";
import { isUnchanged, requireTag } from "../../../http/api/concurrency.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type ApiCaller, actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { tagOf } from "../frame/entity-tag.ts";
import { invalidMembers } from "../frame/member-faults.ts";

const texts = (maxItems: number, maxLength: number, description: string) =>
  Type.Array(Type.String({ maxLength }), { maxItems, description });

const members = {
  mode: Type.Enum([...policyModes], {
    description: "Which are taken: none (`off`), those of `hosts` (`allowlist`, the default), `any`",
  }),
  hosts: texts(MAX_HOSTS, 300, "`host` or `host:port`"),
  allowedScopes: texts(
    MAX_ALLOWED,
    100,
    "What they may ask for; default: openid profile email offline_access",
  ),
  allowedResources: texts(MAX_RESOURCES, 1_000, "What they may name as `resource` (RFC 8707)"),
  senderConstraint: Type.Enum([...agentConstraints], {
    description: "Whether their tokens must be bound to a key (DPoP); default: `preferred`",
  }),
};

const time = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);
const schema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    enabled: Type.Boolean(),
    ...members,
    createdAt: time,
    updatedAt: time,
  },
  { title: "ApiClientIdMetadataPolicy" },
);
const body = strictObject(Type.Partial(Type.Object(members)).properties, {
  title: "ApiClientIdMetadataPolicySettings",
});

const timeOf = (at: number | null) => (at === null ? null : wireTime(at));

const record = (policy: ClientPolicy) => ({
  id: policy.orgId,
  enabled: policy.mode !== "off",
  mode: policy.mode,
  hosts: policy.hosts,
  allowedScopes: policy.allowedScopes,
  allowedResources: policy.allowedResources,
  senderConstraint: policy.senderConstraint,
  createdAt: timeOf(policy.createdAt),
  updatedAt: timeOf(policy.updatedAt),
});

export function apiClientPolicyRoutes(api: ApiScope, deps: ApiDeps): void {
  const shared = {
    path: "/api/v1/organisations/:org/client-id-metadata-policy",
    ...{ tag: "API v1: unregistered clients", query: noParameters },
    credential: "access-token",
    answers: { 200: { description: "The policy", schema } },
  } as const;
  readRoute<ApiCaller, typeof noParameters, Database>(api, {
    ...{ ...shared, operationId: "apiReadClientPolicy" },
    summary: "Get the policy of clients with a metadata document",
    description: "Scope: `signet:applications:read`.",
    answers: { ...shared.answers, 304: { description: "Unchanged" } },
    authenticator: apiAuthenticator(deps, "signet:applications:read"),
    handler: async ({ caller, request }) => {
      const found = record(await findClientPolicy(deps.database.query, caller.organisation.id));
      const headers = { etag: tagOf(found) };
      if (isUnchanged(request, headers.etag)) return { status: 304, headers };
      return { status: 200, body: found, headers };
    },
  });
  apiRoute<ApiCaller, typeof noParameters, typeof body, Database>(api, {
    ...{ ...shared, method: "PUT", body, errors: [412], operationId: "apiReplaceClientPolicy" },
    summary: "Replace the policy of clients with a metadata document",
    description: "What is left out is as in a new organisation. Scope: `signet:applications:write`.",
    headers: { "If-Match": "the `ETag` of the record when it was read" },
    example: { mode: "allowlist", hosts: ["agent.example"], allowedScopes: ["openid", "offline_access"] },
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    handler: ({ caller, request, body: sent, within }) =>
      inTransaction(deps, within, async (inside) => {
        const check = (before: ClientPolicy) => {
          if (request.headers["if-match"] !== undefined) requireTag(request, tagOf(record(before)));
        };
        const setting = setClientPolicy(inside, { ...actOf(caller), content: wholePolicy(sent), check });
        const set = record(await setting.catch(toAnswer));
        return { status: 200, body: set, headers: { etag: tagOf(set) } };
      }),
  });
}

function toAnswer(error: unknown): never {
  throw error instanceof InvalidPolicy ? invalidMembers(error.faults) : error;
}
