/** /api/v1/organisations/{org}/webhooks/{id}/deliveries: what became of each event (connections.md §8). */
import Type from "typebox";
import { findDelivery } from "../../../core/event-deliveries/deliveries.store.ts";
import { deliveryStates, type EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { resendDelivery } from "../../../core/webhooks/replay.ts";
import { findWebhook } from "../../../core/webhooks/webhooks.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, actRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { deliveryFields, listDeliveryPage } from "./deliveries-list.store.ts";
import {
  deliveryRecord,
  deliverySchema,
  deliveryWithPayload,
  deliveryWithPayloadRecord,
} from "./webhook-record.ts";

export function apiWebhookDeliveriesRoutes(
  api: ApiScope,
  deps: ApiDeps,
  toAnswer: (error: unknown) => never,
): void {
  const deliveries: ApiResource<EventDelivery> = {
    ...{ api, deps, tag: "API v1: webhooks", one: "delivery", many: "deliveries", toAnswer },
    reads: ["signet:organisation:read", "signet:audit:read"],
    writes: ["signet:organisation:write", "signet:audit:read"],
    ...{ schema: deliverySchema, record: deliveryRecord, idParameter: "deliveryId" },
  };
  listRoute(
    deliveries,
    "/api/v1/organisations/:org/webhooks/:id/deliveries",
    {
      ...{ operationId: "apiListWebhookDeliveries", summary: "List the deliveries of a webhook" },
      ...{ fields: deliveryFields, query: { state: Type.Optional(Type.Enum([...deliveryStates, ""])) } },
      description: "Those that are delivered or dead stay for 30 days.",
    },
    async ({ orgId, params, list, query }) => {
      const id = idOf(params);
      if (!(await findWebhook(deps.database.query, { orgId, id }))) throw notFound();
      return listDeliveryPage(deps.database.query, { orgId, targetId: id, state: query["state"] }, list);
    },
  );
  getRoute(
    { ...deliveries, schema: deliveryWithPayload, record: deliveryWithPayloadRecord },
    "/api/v1/organisations/:org/webhooks/:id/deliveries/:deliveryId",
    { operationId: "apiReadWebhookDelivery", summary: "Get a delivery, with the body that is sent" },
    ({ orgId, params, id }) => findDelivery(deps.database.query, { orgId, targetId: idOf(params), id }),
  );
  actRoute(
    deliveries,
    "/api/v1/organisations/:org/webhooks/:id/deliveries/:deliveryId/resend",
    {
      operationId: "apiResendWebhookDelivery",
      ...{ summary: "Send a delivery again, with all tries ahead", errors: [409] },
    },
    (inside, { caller, params, id, check }) =>
      resendDelivery(inside, { ...actOf(caller), targetId: idOf(params), id, check }),
  );
}
