/** Consents: of users, and granted by an administrator for one user or for the organisation. */
import Type from "typebox";
import type { Consent } from "../../core/consents/consent.ts";
import { findConsentRecord, listConsents } from "../../core/consents/consents.store.ts";
import { grantByAdministrator, revokeConsent } from "../../core/consents/consents.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import { findUser } from "../../core/users/users.store.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { pageQuery } from "../../http/api/paging.ts";
import { strictObject } from "../../http/api/schemas.ts";
import {
  consentRecord,
  consentSchema,
  grantedClient,
  grantSchema,
  toGrantAnswer,
  userGrantSchema,
} from "./consent-record.ts";
import { by, inTransaction, type ManagementDeps, unknownReference } from "./management.ts";
import { deleteRoute, getRoute, listRoute, type ResourceRoutes } from "./resource-routes.ts";

const filterQuery = strictObject({
  ...pageQuery,
  clientId: Type.Optional(Type.String({ format: "uuid" })),
  userId: Type.Optional(Type.String({ format: "uuid" })),
  kind: Type.Optional(Type.Enum(["user", "organisation"])),
  revoked: Type.Optional(Type.Enum(["true", "false"], { description: "true: include revoked consents" })),
});

export function consentsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const consents: ResourceRoutes<Consent> = {
    api,
    deps,
    tag: "Consents",
    one: "consent",
    many: "consents",
    schema: consentSchema,
    record: consentRecord,
    toAnswer: toGrantAnswer,
  };
  listRoute(
    consents,
    "/legacy/api/oauth/consents",
    { operationId: "listConsents", summary: "List consents, oldest first", query: filterQuery },
    (orgId, { limit, after }, { clientId, userId, kind, revoked }) =>
      listConsents(db, orgId, {
        limit: limit + 1,
        after,
        applicationId: clientId?.toLowerCase(),
        userId: userId?.toLowerCase(),
        kind,
        revoked: revoked === "true",
      }),
  );
  getRoute(
    consents,
    "/legacy/api/oauth/consents/:id",
    { operationId: "getConsent", summary: "Get a consent, revoked or not" },
    (orgId, id) => findConsentRecord(db, { orgId, id }),
  );
  grantRoutes(api, deps);
  deleteRoute(
    consents,
    "/legacy/api/oauth/consents/:id",
    {
      operationId: "revokeConsent",
      summary: "Revoke a consent and the refresh tokens based on it immediately",
      done: "Revoked",
    },
    (key) => revokeConsent(deps, key),
  );
}

function grantRoutes(api: ApiScope, deps: ManagementDeps): void {
  const example = { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] };
  const shared = {
    tag: "Consents",
    credential: "administrator",
    method: "POST",
    errors: [404],
    lenient: { readOnly: [] },
    answers: {
      200: { description: "The existing consent with the scopes added", schema: consentSchema },
      201: { description: "The new consent", schema: consentSchema },
    },
  } as const;
  apiRoute(api, {
    ...shared,
    path: "/legacy/api/oauth/consents/organisation",
    operationId: "grantOrganisationConsent",
    summary: "Grant a client scopes for all users of the organisation",
    body: grantSchema,
    example,
    authenticator: deps.authenticator,
    handler: ({ caller, body, within }) =>
      inTransaction(deps, within, (inside) => grant(inside, caller, body)),
  });
  apiRoute(api, {
    ...shared,
    path: "/legacy/api/oauth/consents/user",
    operationId: "grantUserConsent",
    summary: "Grant a client scopes for one user",
    body: userGrantSchema,
    example: { ...example, userId: "8f14e45f-ceea-467f-9a0b-1c2d3e4f5a6b" },
    authenticator: deps.authenticator,
    handler: ({ caller, body, within }) =>
      inTransaction(deps, within, async (inside) => {
        const userId = body.userId.toLowerCase();
        const user = await findUser(inside.database.query, caller.organisation.id, userId);
        if (!user) throw unknownReference("/userId");
        return grant(inside, caller, { ...body, userId });
      }),
  });
}

async function grant(
  inside: ManagementDeps,
  caller: SystemAccountCaller,
  { clientId, ...granted }: { clientId: string; scopes: readonly string[]; userId?: string },
): Promise<Answer> {
  const orgId = caller.organisation.id;
  const application = await grantedClient(inside, orgId, clientId);
  const input = { application, ...granted, ...by(caller) };
  const { id, isNew } = await grantByAdministrator(inside, input).catch(toGrantAnswer);
  const consent = await findConsentRecord(inside.database.query, { orgId, id });
  if (!consent) throw notFound();
  const body = consentRecord(consent);
  if (!isNew) return { status: 200, body };
  const location = `${inside.baseUrl}/legacy/api/oauth/consents/${id}`;
  return { status: 201, headers: { location }, body };
}
