/** /api/v1/organisations/{org}/webhooks: where an organisation's events are sent (connections.md §1, §8). */
import type { EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { sendTest } from "../../../core/webhooks/replay.ts";
import { DEFAULT_OVERLAP_SECONDS, InvalidWebhook, type Webhook } from "../../../core/webhooks/webhook.ts";
import { findWebhook, listWebhooks } from "../../../core/webhooks/webhooks.store.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
} from "../../../core/webhooks/webhooks.ts";
import { conflict, invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { requireTag } from "../../../http/api/concurrency.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { tagOf } from "../frame/entity-tag.ts";
import { scopeText } from "../frame/operation-texts.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { apiWebhookDeliveriesRoutes } from "./deliveries.route.ts";
import { apiWebhookReplayRoute } from "./replay.route.ts";
import {
  deliveryRecord,
  deliverySchema,
  newWebhook,
  rotation,
  webhookFields,
  webhookPatch,
  webhookRecord,
  webhookSchema,
  webhookWithSecret,
} from "./webhook-record.ts";

const tag = "API v1: webhooks";
const noBody = strictObject({});
const reads = ["signet:organisation:read", "signet:audit:read"] as const;
const writes = ["signet:organisation:write", "signet:audit:read"] as const;

export function apiWebhooksRoutes(api: ApiScope, deps: ApiDeps): void {
  const webhooks: ApiResource<Webhook> = {
    ...{ api, deps, tag, one: "webhook", many: "webhooks", reads, writes },
    ...{ schema: webhookSchema, record: webhookRecord, toAnswer },
  };
  listRoute(
    webhooks,
    "/api/v1/organisations/:org/webhooks",
    { operationId: "apiListWebhooks", summary: "List the webhooks", fields: webhookFields },
    async ({ orgId, list }) =>
      memoryPage(list, await listWebhooks(deps.database.query, orgId), {
        ...{ fields: webhookFields, record: webhookRecord },
      }),
  );
  getRoute(
    webhooks,
    "/api/v1/organisations/:org/webhooks/:id",
    { operationId: "apiReadWebhook", summary: "Get a webhook" },
    ({ orgId, id }) => findWebhook(deps.database.query, { orgId, id }),
  );
  createRoute(
    webhooks,
    "/api/v1/organisations/:org/webhooks",
    {
      ...{ operationId: "apiCreateWebhook", summary: "Create a webhook", body: newWebhook, errors: [409] },
      ...{ created: webhookWithSecret, example: { url: "https://app.example/hooks", events: ["user.*"] } },
      description:
        "The answer has the `secret` that signs its messages (Standard Webhooks), once. Events from now on are sent, in order.",
    },
    async (inside, { caller, body: { url, events, enabled = true } }) => {
      const settings = { url, events, enabled };
      const { webhook, secret } = await createWebhook(inside, { ...actOf(caller), settings });
      return { row: webhook, members: { secret }, shownOnce: ["secret"] };
    },
  );
  changeRoutes(webhooks);
  rotateRoute(webhooks);
  testRoute(api, deps);
  apiWebhookReplayRoute(api, deps, toAnswer);
  apiWebhookDeliveriesRoutes(api, deps, toAnswer);
}

function changeRoutes(webhooks: ApiResource<Webhook>): void {
  patchRoute(
    webhooks,
    "/api/v1/organisations/:org/webhooks/:id",
    {
      ...{ operationId: "apiChangeWebhook", summary: "Change a webhook", body: webhookPatch },
      description:
        "A webhook that is enabled again sends what had waited, and what happens from then on: `replay` sends what happened meanwhile.",
      example: { enabled: true },
    },
    (inside, { caller, id, check, patch: { url, events, enabled } }) => {
      if (url === null) throw invalid([{ path: "/url", message: "cannot be unset" }]);
      if (events === null) throw invalid([{ path: "/events", message: "cannot be unset" }]);
      const change = {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events: [...new Set(events)] }),
        ...(enabled !== undefined && { enabled: enabled ?? true }),
      };
      return changeWebhook(inside, { ...actOf(caller), id, check, change });
    },
  );
  deleteRoute(
    webhooks,
    "/api/v1/organisations/:org/webhooks/:id",
    { operationId: "apiDeleteWebhook", summary: "Delete a webhook, and what waits for it" },
    (inside, { caller, id, check }) => deleteWebhook(inside, { ...actOf(caller), id, check }),
  );
}

function rotateRoute({ api, deps }: ApiResource<Webhook>): void {
  apiRoute(api, {
    ...{ tag, credential: "access-token", operationId: "apiRotateWebhookSecret", method: "POST" },
    ...{ path: "/api/v1/organisations/:org/webhooks/:id/rotate-secret", query: noParameters },
    ...{ body: rotation, bodyOptional: true, errors: [412], example: { overlapSeconds: 3_600 } },
    headers: { "If-Match": "the `ETag` of the record when it was read" },
    summary: "Make a new secret",
    description: scopeText(writes, "The one before signs too until `previousSecretExpiresAt`."),
    answers: { 200: { description: "The webhook, with its new secret", schema: webhookWithSecret } },
    authenticator: apiAuthenticator(deps, ...writes),
    handler: ({ caller, params, request, body, within }) =>
      inTransaction(deps, within, async (inside) => {
        const { overlapSeconds = DEFAULT_OVERLAP_SECONDS } = body;
        const check = async (row: Webhook) => requireTag(request, tagOf(webhookRecord(row)));
        const act = { ...actOf(caller), id: idOf(params), overlapSeconds, check };
        const rotated = await rotateWebhookSecret(inside, act);
        if (!rotated) throw notFound();
        const record = webhookRecord(rotated.webhook);
        const sent = { body: { ...record, secret: rotated.secret }, shownOnce: ["secret"] };
        return { status: 200, headers: { etag: tagOf(record) }, ...sent };
      }),
  });
}

function testRoute(api: ApiScope, deps: ApiDeps): void {
  const deliveries: ApiResource<EventDelivery> = {
    ...{ api, deps, tag, one: "delivery", many: "deliveries", reads, writes, toAnswer },
    ...{ schema: deliverySchema, record: deliveryRecord },
  };
  createRoute(
    deliveries,
    "/api/v1/organisations/:org/webhooks/:id/test",
    {
      ...{ operationId: "apiTestWebhook", summary: "Send the event `webhook.test`", errors: [409] },
      ...{ body: noBody, bodyOptional: true, records: "/api/v1/organisations/:org/webhooks/:id/deliveries" },
      description: "At the end of its queue; the delivery tells what became of it.",
    },
    async (inside, { caller, params }) => {
      const row = await sendTest(inside, { ...actOf(caller), id: idOf(params) });
      if (!row) throw notFound();
      return { row };
    },
  );
}

export function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidWebhook)) throw error;
  const { code, message, path } = error;
  if (code === "disabled" || code === "too-many-webhooks")
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  throw invalid([{ path, message }]);
}
