/** The other applications that a system account may act for. */

import { grantApplication, withdrawApplication } from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { by, inTransaction, type ManagementDeps } from "../management.ts";
import { lockAccount, toAccountAnswer } from "./locked-account.ts";

const shared = { tag: "System accounts", credential: "administrator" } as const;

export function systemAccountPermissionsRoutes(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(api, {
    ...shared,
    method: "PUT",
    path: "/legacy/api/oauth/system-accounts/:id/permissions/:applicationId",
    operationId: "grantApplication",
    summary: "Permit a system account to act for another application of the organisation",
    answers: { 204: { description: "Permitted" } },
    authenticator: deps.authenticator,
    handler: (call) =>
      inTransaction(deps, call.within, async (inside) => {
        const applicationId = idOf(call.params, "applicationId");
        const { orgId, id } = await lockAccount(inside, call, idOf(call.params));
        const input = { orgId, id, applicationId, ...by(call.caller) };
        await grantApplication(inside, input).catch(toAccountAnswer);
        return { status: 204 };
      }),
  });
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/legacy/api/oauth/system-accounts/:id/permissions/:applicationId",
    operationId: "withdrawApplication",
    summary: "Withdraw a system account's permission for another application immediately",
    answers: { 204: { description: "Withdrawn" } },
    authenticator: deps.authenticator,
    handler: (call) =>
      inTransaction(deps, call.within, async (inside) => {
        const applicationId = idOf(call.params, "applicationId");
        const { orgId, id, ...account } = await lockAccount(inside, call, idOf(call.params));
        // A 404 would read as "withdrawn".
        if (applicationId === account.applicationId)
          throw new ApiError(
            409,
            "implied-permission",
            "A system account may always act for its own application",
            { detail: "Disable or delete the account instead." },
          );
        const input = { orgId, id, applicationId, ...by(call.caller) };
        if (!(await withdrawApplication(inside, input))) throw notFound();
        return { status: 204 };
      }),
  });
}
