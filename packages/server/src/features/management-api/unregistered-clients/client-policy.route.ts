/** The policy of clients whose client_id is the address of their metadata document (modern-oauth.md §6). */
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
import { type ApiScope, apiRoute, readRoute } from "../../../http/api/api-route.ts";
import { etagOf, requireMatch } from "../../../http/api/concurrency.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps } from "../management.ts";

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
  { id: Type.String({ format: "uuid" }), enabled: Type.Boolean(), ...members, createdAt: time },
  { title: "ClientIdMetadataPolicy" },
);
const body = strictObject(Type.Partial(Type.Object(members)).properties, {
  title: "ClientIdMetadataPolicySettings",
});

const record = (policy: ClientPolicy) => ({
  id: policy.orgId,
  enabled: policy.mode !== "off",
  mode: policy.mode,
  hosts: policy.hosts,
  allowedScopes: policy.allowedScopes,
  allowedResources: policy.allowedResources,
  senderConstraint: policy.senderConstraint,
  createdAt: policy.createdAt === null ? null : wireTime(policy.createdAt),
});

export function clientPolicyRoutes(api: ApiScope, deps: ManagementDeps): void {
  const shared = {
    ...{ path: "/legacy/api/oauth/client-id-metadata-policy", tag: "Unregistered clients" },
    credential: "administrator",
    authenticator: deps.authenticator,
    answers: { 200: { description: "The policy", schema } },
  } as const;
  readRoute(api, {
    ...{ ...shared, operationId: "getClientPolicy" },
    summary: "Get the policy of clients with a metadata document",
    handler: async ({ caller }) => {
      const policy = await findClientPolicy(deps.database.query, caller.organisation.id);
      return { status: 200, body: record(policy), headers: { etag: etagOf(policy.version) } };
    },
  });
  apiRoute(api, {
    ...{ ...shared, method: "PUT", operationId: "replaceClientPolicy", body, errors: [412] },
    summary: "Replace the policy of clients with a metadata document",
    description: "What is left out is as in a new organisation.",
    lenient: { readOnly: ["id", "enabled", "createdAt"] },
    example: { mode: "allowlist", hosts: ["agent.example"], allowedScopes: ["openid", "offline_access"] },
    handler: ({ caller, request, body: sent }) =>
      inTransaction(deps, undefined, async (inside) => {
        const act = { orgId: caller.organisation.id, ...by(caller) };
        const check = ({ version }: ClientPolicy) => requireMatch(request, version);
        const setting = setClientPolicy(inside, { ...act, content: wholePolicy(sent), check });
        const policy = await setting.catch(toAnswer);
        return { status: 200, body: record(policy), headers: { etag: etagOf(policy.version) } };
      }),
  });
}

function toAnswer(error: unknown): never {
  throw error instanceof InvalidPolicy ? invalidMembers(error.faults) : error;
}
