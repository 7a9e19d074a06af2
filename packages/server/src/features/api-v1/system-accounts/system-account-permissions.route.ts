/** The other applications that a system account may act for. */

import { lockApplication } from "../../../core/applications/applications.store.ts";
import { grantApplication, withdrawApplication } from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { lockedAccount, toAccountAnswer } from "./changed-account.ts";

const shared = {
  tag: "API v1: system accounts",
  credential: "access-token",
  query: noParameters,
  description:
    "Scope: `signet:applications:write`; `signet:organisation:write` too for an administrator's account.",
} as const;

export function apiSystemAccountPermissionsRoutes(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...shared,
    method: "PUT",
    path: "/api/v1/organisations/:org/system-accounts/:id/permissions/:applicationId",
    operationId: "apiPermitApplication",
    summary: "Let a system account act for another application of the organisation",
    answers: { 204: { description: "Permitted" } },
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    handler: ({ caller, params }) =>
      inTransaction(deps, undefined, async (inside) => {
        const applicationId = idOf(params, "applicationId");
        const orgId = caller.organisation.id;
        // Before the account, as its own deletion locks them.
        if (!(await lockApplication(inside.database.query, { orgId, id: applicationId }))) throw notFound();
        const { id } = await lockedAccount(inside, { caller, params });
        await grantApplication(inside, { ...actOf(caller), id, applicationId }).catch(toAccountAnswer);
        return { status: 204 };
      }),
  });
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/api/v1/organisations/:org/system-accounts/:id/permissions/:applicationId",
    operationId: "apiWithdrawApplication",
    summary: "Withdraw a system account's permission for another application at once",
    answers: { 204: { description: "Withdrawn" } },
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    handler: ({ caller, params }) =>
      inTransaction(deps, undefined, async (inside) => {
        const applicationId = idOf(params, "applicationId");
        const account = await lockedAccount(inside, { caller, params });
        // A 404 would read as "withdrawn".
        if (applicationId === account.applicationId)
          throw new ApiError(
            409,
            "implied-permission",
            "A system account may always act for its own application",
            { detail: "Disable or delete the account instead." },
          );
        const act = { ...actOf(caller), id: account.id, applicationId };
        if (!(await withdrawApplication(inside, act))) throw notFound();
        return { status: 204 };
      }),
  });
}
