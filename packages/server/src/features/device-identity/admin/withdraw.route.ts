/** Withdraws an unused enrolment code, by a confirmation page or by API. */
import type { FastifyInstance } from "fastify";
import { html } from "../../../html/html.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { applied } from "../../../page-kit/confirmation.ts";
import { findCode } from "../enrol/enrolment-code.store.ts";
import { isUsable } from "../enrol/enrolment-code.ts";
import { confirmedRoutes, devicesCrumb, pathId } from "./confirmed-act.ts";
import { withdrawOperation } from "./manage-operations.ts";
import { actingFor, inTransaction, type ManageDeps, managePath } from "./manage-visit.ts";
import { withdrawCode } from "./register-device.ts";

/** Tells the administrator that the code was used, not withdrawn. */
const SPENT = "?done=spent";

export function withdrawRoute(app: FastifyInstance, deps: ManageDeps): void {
  const program = apiHandler(
    deps.programs.strictAuthenticator,
    withdrawOperation,
    async ({ caller, params, within }) => {
      const id = pathId(params["id"]);
      if (!(await withdrawCode(inTransaction(deps, within), { ...actingFor(caller), id })))
        throw codedNotFound();
      return { status: 204 };
    },
  );
  confirmedRoutes(
    app,
    deps,
    { operation: withdrawOperation, program },
    {
      current: "devices",
      load: (_, { id: orgId }, { id }) => findCode(deps.database.query, orgId, pathId(id)),
      backUri: (organisation, code) => {
        const isSpent = !isUsable(code, deps.clock()) && code.withdrawnAt === null;
        return managePath(organisation, isSpent ? SPENT : "");
      },
      isDone: (_, code) => !isUsable(code, deps.clock()),
      question: (messages, { name }, organisation) => {
        const { codes } = messages.devices;
        return {
          heading: name === null ? codes.withdrawUnnamedHeading : codes.withdrawHeading({ name }),
          text: html`<p>${codes.withdrawText}</p>`,
          confirm: codes.withdraw,
          confirmId: "code-withdraw-confirm",
          breadcrumbs: devicesCrumb(messages, organisation),
        };
      },
      apply: async (_, acting, { id }, { organisation }) => {
        if (!(await withdrawCode(deps, { ...acting, id })))
          return { kind: "already-applied", uri: managePath(organisation, SPENT) };
        return applied(managePath(organisation, "?done=withdrawn"));
      },
    },
  );
}
