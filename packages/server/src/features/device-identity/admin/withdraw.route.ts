/** devices/manage/{org}/codes/{id}/withdraw: a code that nobody has used enrols nothing any more. */
import type { FastifyInstance } from "fastify";
import { html } from "../../../html/html.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { nothingHere } from "../../../http/coded-error.ts";
import { WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { findCode } from "../enroll/enrollment-code.store.ts";
import { isUsable } from "../enroll/enrollment-code.ts";
import { confirmedActRoutes, devicesCrumb, idIn } from "./confirmed-act.ts";
import { withdrawOperation } from "./manage-operations.ts";
import { actingFor, inside, type ManageDeps } from "./manage-visit.ts";
import { withdrawCode } from "./register-device.ts";

/** That a device has come with it is nothing to pass over: it was not withdrawn. */
const SPENT = "?done=spent";

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
      overFor: (code) => (isUsable(code, deps.clock()) ? undefined : code.withdrawnAt === null ? SPENT : ""),
      question: (messages, { name }, organisation) => {
        const { codes } = messages.devices;
        return {
          heading: name === null ? codes.withdrawUnnamedHeading : codes.withdrawHeading({ name }),
          text: html`<p>${codes.withdrawText}</p>`,
          confirm: codes.withdraw,
          confirmId: "code-withdraw-confirm",
          back: "",
          breadcrumbs: devicesCrumb(messages, organisation),
        };
      },
      act: async (acting, { id }) => {
        if (!(await withdrawCode(deps, { ...acting, id }))) throw new WasSoAlready(SPENT);
        return "?done=withdrawn";
      },
    },
  );
}
