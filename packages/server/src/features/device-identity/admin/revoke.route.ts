/** devices/manage/{org}/{id}/revoke: a device ends at once. */
import type { FastifyInstance } from "fastify";
import { type RevocationReason, revocationReasons } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { html } from "../../../html/html.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { nothingHere } from "../../../http/coded-error.ts";
import { WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { confirmedActRoutes, devicesCrumb, idIn } from "./confirmed-act.ts";
import { revokeOperation } from "./manage-operations.ts";
import { actingFor, inside, type ManageDeps } from "./manage-visit.ts";
import { reasonField } from "./reason-field.ts";

export function revokeRoute(app: FastifyInstance, deps: ManageDeps): void {
  const program = apiHandler(
    deps.programs.strictDoor,
    revokeOperation,
    async ({ caller, params, body, within }) => {
      const deviceId = idIn(params["id"]);
      const { reason = "unspecified" } = body;
      const device = await findDevice(deps.database.query, caller.organisation.id, deviceId);
      if (!device) throw nothingHere();
      await revokeDevice(inside(deps, within), { ...actingFor(caller), deviceId, reason });
      return { status: 204 };
    },
  );
  confirmedActRoutes(
    app,
    deps,
    { operation: revokeOperation, program },
    {
      path: "/:id/revoke",
      find: ({ id: orgId }, { id }) => findDevice(deps.database.query, orgId, idIn(id)),
      overFor: ({ revokedAt }) => (revokedAt === null ? undefined : ""),
      question: (messages, { name }, organisation) => {
        const { revoke } = messages.devices;
        return {
          heading: revoke.heading({ name }),
          text: html`<p>${revoke.text}</p>`,
          fields: reasonField(messages),
          confirm: revoke.submit,
          confirmId: "device-revoke-confirm",
          back: "",
          breadcrumbs: devicesCrumb(messages, organisation),
        };
      },
      act: async (acting, { id: deviceId }, form) => {
        const chosen = form.get("reason");
        const reason: RevocationReason = revocationReasons.find((one) => one === chosen) ?? "unspecified";
        if (!(await revokeDevice(deps, { ...acting, deviceId, reason }))) throw new WasSoAlready("");
        return "?done=revoked";
      },
    },
  );
}
