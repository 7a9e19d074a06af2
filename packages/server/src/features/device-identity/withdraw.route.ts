/** devices/manage/{org}/codes/{id}/withdraw: a code that nobody has used enrols nothing any more. */
import type { FastifyInstance } from "fastify";
import { html } from "../../html/html.ts";
import { apiHandler } from "../../http/api/api-route.ts";
import { nothingHere } from "../../http/coded-error.ts";
import { findCode } from "./codes/store.ts";
import { confirmedActRoutes, devicesCrumb, idIn } from "./confirmed-act.ts";
import { isUsable } from "./enrollment-code.ts";
import { withdrawOperation } from "./manage-operations.ts";
import { actingFor, inside, type ManageDeps } from "./manage-visit.ts";
import { withdrawCode } from "./register-device.ts";

export function withdrawRoute(app: FastifyInstance, deps: ManageDeps): void {
  const program = apiHandler(
    deps.programs.strictDoor,
    withdrawOperation,
    async ({ caller, params, within }) => {
      const id = idIn(params["id"]);
      if (!(await withdrawCode(inside(deps, within), { ...actingFor(caller), id }))) throw nothingHere();
      return { status: 204 };
    },
  );
  confirmedActRoutes(
    app,
    deps,
    { operation: withdrawOperation, program },
    {
      path: "/codes/:id/withdraw",
      find: ({ id: orgId }, { id }) => findCode(deps.database.query, orgId, idIn(id)),
      overFor: (code) =>
        isUsable(code, deps.clock()) ? undefined : code.withdrawnAt === null ? "" : "?done=withdrawn",
      question: (messages, { name }, organisation) => {
        const { codes } = messages.devices;
        return {
          heading: name === null ? codes.withdrawUnnamedHeading : codes.withdrawHeading(name),
          text: html`<p>${codes.withdrawText}</p>`,
          confirm: codes.withdraw,
          confirmId: "code-withdraw-confirm",
          back: "",
          breadcrumbs: devicesCrumb(messages, organisation),
        };
      },
      act: async (acting, { id }) => {
        await withdrawCode(deps, { ...acting, id });
        return "?done=withdrawn";
      },
    },
  );
}
