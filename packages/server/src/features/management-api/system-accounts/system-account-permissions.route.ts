/** The other applications that a system account may act for: granted and withdrawn one by one. */
import { grantApplication, withdrawApplication } from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { acting, by, idOf, type ManagementDeps } from "../management.ts";
import { accountToChange, toAccountAnswer } from "./held-account.ts";

const PATH = "/legacy/api/oauth/system-accounts/:id/permissions/:applicationId";
const shared = { tag: "System accounts", credential: "administrator", isStrictOnly: true } as const;

export function systemAccountPermissionsRoutes(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...shared,
      method: "PUT",
      path: PATH,
      operationId: "grantApplication",
      summary: "Let a system account act for another application of the organisation",
      answers: { 204: { description: "It may act for the application" } },
    },
    (call) =>
      acting(deps, call.within, async (inside) => {
        const applicationId = idOf(call.params, "applicationId");
        const { orgId, id } = await accountToChange(inside, call, idOf(call.params));
        const granted = { orgId, id, applicationId, ...by(call.caller) };
        await grantApplication(inside, granted).catch(toAccountAnswer);
        return { status: 204 };
      }),
  );
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...shared,
      method: "DELETE",
      path: PATH,
      operationId: "withdrawApplication",
      summary: "Take back a system account's permission on another application, at once",
      answers: { 204: { description: "It may not act for the application any more" } },
    },
    (call) =>
      acting(deps, call.within, async (inside) => {
        const applicationId = idOf(call.params, "applicationId");
        const { orgId, id, ...account } = await accountToChange(inside, call, idOf(call.params));
        // Told as gone it would be taken for withdrawn.
        if (applicationId === account.applicationId)
          throw new ApiError(
            409,
            "implied-permission",
            "A system account may always act for its own application",
            {
              detail: "Disable or delete the account instead.",
            },
          );
        const withdrawn = { orgId, id, applicationId, ...by(call.caller) };
        if (!(await withdrawApplication(inside, withdrawn))) throw notFound();
        return { status: 204 };
      }),
  );
}
