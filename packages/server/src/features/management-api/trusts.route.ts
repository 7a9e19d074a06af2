/** Trusts: issuers of others whose JWTs the organisation believes. */
import Type from "typebox";
import { issuerOf } from "../../core/organisations/organisation.ts";
import { InvalidTrust, type Trust, TrustConflict, UnknownTrustReference } from "../../core/trusts/trust.ts";
import {
  kindSchema,
  trustMembers,
  trustRecord,
  trustRecordMembers,
  trustSettings,
} from "../../core/trusts/trust-schemas.ts";
import { findTrust, listTrusts } from "../../core/trusts/trusts.store.ts";
import { changeTrust, createTrust, deleteTrust } from "../../core/trusts/trusts.ts";
import { conflict, invalid } from "../../http/api/api-error.ts";
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

const { issuer, ...optional } = trustMembers;
const content = { issuer, ...Type.Partial(strictObject(optional)).properties };
const newTrust = strictObject({ kind: kindSchema, ...content }, { title: "NewTrust" });
const changedTrust = strictObject({ kind: Type.Optional(kindSchema), ...content }, { title: "ChangedTrust" });
const trustSchema = Type.Object(trustRecordMembers, { title: "Trust" });

export function trustsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const trusts: ResourceRoutes<Trust> = {
    ...{ api, deps, tag: "Trusts", one: "trust", many: "trusts", schema: trustSchema, toAnswer },
    record: (trust) => ({
      ...trustRecord(trust, issuerOf(deps.baseUrl, trust.orgId)),
      createdAt: wireTime(trust.createdAt),
    }),
  };
  listRoute(
    trusts,
    "/legacy/api/oauth/trusts",
    { operationId: "listTrusts", summary: "List trusts, oldest first", query: pageQuerySchema },
    // Their number is bounded.
    async (orgId, { after = "" }) => (await listTrusts(db, orgId)).filter(({ id }) => id > after),
  );
  getRoute(
    trusts,
    "/legacy/api/oauth/trusts/:id",
    { operationId: "getTrust", summary: "Get a trust" },
    (orgId, id) => findTrust(db, { orgId, id }),
  );
  writeRoutes(trusts, deps);
}

function writeRoutes(trusts: ResourceRoutes<Trust>, deps: ManagementDeps): void {
  createRoute(
    trusts,
    "/legacy/api/oauth/trusts",
    {
      ...{ operationId: "createTrust", summary: "Create a trust", body: newTrust, errors: [404] },
      example: { kind: "software_statement", issuer: "https://vendor.example", maxLifetimeSeconds: 86_400 },
    },
    async (inside, { caller, body }) => {
      const orgId = caller.organisation.id;
      const settings = trustSettings(body.kind, body);
      return { row: await createTrust(inside, { orgId, settings, ...by(caller) }) };
    },
  );
  replaceRoute(
    trusts,
    "/legacy/api/oauth/trusts/:id",
    {
      ...{ operationId: "replaceTrust", summary: "Replace a trust, except its kind", body: changedTrust },
      ...{ readOnly: ["id", "createdAt"], example: { issuer: "https://vendor.example", enabled: false } },
    },
    (key, { body, request }) =>
      inTransaction(deps, undefined, (inside) =>
        changeTrust(inside, {
          ...key,
          check: ({ kind, version }) => {
            requireMatch(request, version);
            if (body.kind !== undefined && body.kind !== kind)
              throw invalid([{ path: "/kind", message: "cannot be changed: create another trust" }]);
          },
          change: ({ kind }) => trustSettings(kind, body),
        }),
      ),
  );
  deleteRoute(
    trusts,
    "/legacy/api/oauth/trusts/:id",
    { operationId: "deleteTrust", summary: "Delete a trust" },
    (key, { request }) =>
      inTransaction(deps, undefined, (inside) =>
        deleteTrust(inside, { ...key, check: ({ version }) => requireMatch(request, version) }),
      ),
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidTrust) throw invalidMembers(error.faults);
  if (error instanceof UnknownTrustReference) throw unknownReference(`/${error.member}`);
  if (error instanceof TrustConflict)
    throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  throw error;
}
