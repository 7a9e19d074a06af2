/** Revokes a device, by a confirmation page or by API. */
import type { FastifyInstance } from "fastify";
import { type RevocationReason, revocationReasons } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { html } from "../../../html/html.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { alreadyApplied, applied } from "../../../page-kit/confirmation.ts";
import { confirmedRoutes, devicesCrumb, pathId } from "./confirmed-act.ts";
import { revokeOperation } from "./manage-operations.ts";
import { actingFor, inTransaction, type ManageDeps, managePath } from "./manage-visit.ts";
import { reasonField } from "./reason-field.ts";

export function revokeRoute(app: FastifyInstance, deps: ManageDeps): void {
  const program = apiHandler(
    deps.programs.strictAuthenticator,
    revokeOperation,
    async ({ caller, params, body, within }) => {
      const deviceId = pathId(params["id"]);
      const { reason = "unspecified" } = body;
      const device = await findDevice(deps.database.query, caller.organisation.id, deviceId);
      if (!device) throw codedNotFound();
      await revokeDevice(inTransaction(deps, within), { ...actingFor(caller), deviceId, reason });
      return { status: 204 };
    },
  );
  confirmedRoutes(
    app,
    deps,
    { operation: revokeOperation, program },
    {
      current: "devices",
      load: (_, { id: orgId }, { id }) => findDevice(deps.database.query, orgId, pathId(id)),
      backUri: (organisation) => managePath(organisation),
      isDone: (_, { revokedAt }) => revokedAt !== null,
      question: (messages, { name }, organisation) => {
        const { revoke } = messages.devices;
        return {
          heading: revoke.heading({ name }),
          text: html`<p>${revoke.text}</p>`,
          fields: reasonField(messages),
          confirm: revoke.submit,
          confirmId: "device-revoke-confirm",
          breadcrumbs: devicesCrumb(messages, organisation),
        };
      },
      apply: async (_, acting, { id: deviceId }, { values, organisation }) => {
        const chosen = values.get("reason");
        const reason: RevocationReason = revocationReasons.find((one) => one === chosen) ?? "unspecified";
        if (!(await revokeDevice(deps, { ...acting, deviceId, reason }))) return alreadyApplied;
        return applied(managePath(organisation, "?done=revoked"));
      },
    },
  );
}
