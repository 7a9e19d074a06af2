/** /api/v1/organisations/{org}/trusts: issuers of others whose JWTs the organisation believes (modern-oauth.md §6). */
import Type from "typebox";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import {
  InvalidTrust,
  type Trust,
  TrustConflict,
  type TrustSettings,
  UnknownTrustReference,
} from "../../../core/trusts/trust.ts";
import {
  kindSchema,
  trustMembers,
  trustRecord,
  trustRecordMembers,
  trustSettings,
} from "../../../core/trusts/trust-schemas.ts";
import { findTrust, listTrusts } from "../../../core/trusts/trusts.store.ts";
import { changeTrust, createTrust, deleteTrust } from "../../../core/trusts/trusts.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type ApiCaller, actOf, requireHeld } from "../access.ts";
import { foreignApplication, requireHeldScopes } from "../applications/held-scopes.ts";
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

const tag = "API v1: trusts";

const { issuer, ...optional } = trustMembers;
const newTrust = strictObject(
  { kind: kindSchema, issuer, ...patchSchema(optional).properties },
  { title: "ApiNewTrust" },
);
const trustPatch = patchSchema(trustMembers, { title: "ApiTrustChange" });
const trustSchema = Type.Object(
  { ...trustRecordMembers, updatedAt: Type.String({ format: "date-time" }) },
  { title: "ApiTrust" },
);
const fields = memoryFields({
  ...({
    id: "text",
    kind: "text",
    clientId: "text",
    issuer: "text",
    jwksUri: "text",
    audience: "text",
  } as const),
  ...({ subjectPattern: "text", singleUse: "boolean", maxLifetimeSeconds: "number" } as const),
  ...({
    connectionId: "text",
    userBy: "text",
    enabled: "boolean",
    createdAt: "time",
    updatedAt: "time",
  } as const),
});

export function apiTrustsRoutes(api: ApiScope, deps: ApiDeps): void {
  const record = (trust: Trust) => ({
    ...trustRecord(trust, issuerOf(deps.baseUrl, trust.orgId)),
    ...{ createdAt: wireTime(trust.createdAt), updatedAt: wireTime(trust.updatedAt) },
  });
  const trusts: ApiResource<Trust> = {
    ...{ api, deps, tag, one: "trust", many: "trusts", schema: trustSchema, record, toAnswer },
    ...{ reads: ["signet:applications:read"], writes: ["signet:applications:write"] },
  };
  listRoute(
    trusts,
    "/api/v1/organisations/:org/trusts",
    { operationId: "apiListTrusts", summary: "List the trusts", fields },
    async ({ orgId, list }) =>
      memoryPage(list, await listTrusts(deps.database.query, orgId), { fields, record }),
  );
  getRoute(
    trusts,
    "/api/v1/organisations/:org/trusts/:id",
    { operationId: "apiReadTrust", summary: "Get a trust" },
    ({ orgId, id }) => findTrust(deps.database.query, { orgId, id }),
  );
  writeRoutes(trusts);
}

function writeRoutes(trusts: ApiResource<Trust>): void {
  createRoute(
    trusts,
    "/api/v1/organisations/:org/trusts",
    {
      ...{ operationId: "apiCreateTrust", summary: "Create a trust", body: newTrust, errors: [409] },
      example: { kind: "software_statement", issuer: "https://vendor.example" },
      description:
        "Of a workload the caller must hold the scopes of the API that its client has; of `id_jag` it needs " +
        "`signet:organisation:write` too.",
    },
    async (inside, { caller, body: { kind, ...sent } }) => {
      const settings = trustSettings(kind, sent);
      await requireHeldBy(inside, caller, settings);
      return { row: await createTrust(inside, { ...actOf(caller), settings }) };
    },
  );
  patchRoute(
    trusts,
    "/api/v1/organisations/:org/trusts/:id",
    {
      ...{ operationId: "apiChangeTrust", summary: "Change a trust", body: trustPatch, errors: [409] },
      example: { enabled: true },
    },
    async (inside, { caller, id, check, patch }) => {
      if (patch.issuer === null) throw invalid([{ path: "/issuer", message: "cannot be unset" }]);
      return changeTrust(inside, {
        ...{ ...actOf(caller), id },
        check: async (before) => {
          await check(before);
          await requireHeldBy(inside, caller, before);
          await requireHeldBy(inside, caller, trustSettings(before.kind, patch, before));
        },
        change: (before) => trustSettings(before.kind, patch, before),
      });
    },
  );
  deleteRoute(
    trusts,
    "/api/v1/organisations/:org/trusts/:id",
    { operationId: "apiDeleteTrust", summary: "Delete a trust" },
    (inside, { caller, id, check }) => deleteTrust(inside, { ...actOf(caller), id, check }),
  );
}

/** What the trust gives, the caller has (api-v1.md, "No more than you have"). @throws ApiError 403 */
async function requireHeldBy(
  { database }: ApiDeps,
  caller: ApiCaller,
  { kind, clientId }: Pick<TrustSettings, "kind" | "clientId">,
): Promise<void> {
  // Its issuer could name any user, an administrator too.
  if (kind === "id_jag") requireHeld(caller, "signet:organisation:write");
  if (kind !== "workload" || clientId === null) return;
  const client = await findApplication(database.query, caller.organisation.id, clientId);
  if (client) requireHeldScopes(caller, client.settings.allowedScopes);
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidTrust) throw invalidMembers(error.faults);
  if (error instanceof UnknownTrustReference) throw unknownReference(`/${error.member}`);
  if (!(error instanceof TrustConflict)) throw error;
  if (error.code === "foreign-application") throw foreignApplication();
  throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
}
