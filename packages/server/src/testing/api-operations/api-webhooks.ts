/** Webhooks by API v1. */
import { sendTest } from "../../core/webhooks/replay.ts";
import { createWebhook } from "../../core/webhooks/webhooks.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const url = "https://receiver.example/hooks";

async function newWebhook({ service, a }: ApiWorld): Promise<string> {
  const settings = { url, events: ["scope.*"], enabled: true };
  const act = { orgId: a.organisation.id, actor: "test" };
  return (await createWebhook(service, { ...act, settings })).webhook.id;
}

const path = async (world: ApiWorld) => `/webhooks/${await newWebhook(world)}`;

async function newDelivery(world: ApiWorld): Promise<string> {
  const id = await newWebhook(world);
  const key = { orgId: world.a.organisation.id, id, actor: "test" };
  const delivery = await sendTest(world.service, key);
  return `/webhooks/${id}/deliveries/${delivery?.id}`;
}

const reads = ["signet:organisation:read", "signet:audit:read"] as const;
const writes = ["signet:organisation:write", "signet:audit:read"] as const;

export const apiWebhookCases = apiV1Cases({
  "GET /webhooks": { scopes: reads, path: () => "/webhooks", status: 200, wrongQueries: wrongLists },
  "GET /webhooks/:id": { scopes: reads, path, status: 200 },
  "POST /webhooks": {
    ...{ scopes: writes, path: () => "/webhooks", status: 201 },
    options: () => ({ body: { url, events: ["user.*", "scope.created"] } }),
    wrong: [
      ...[...wrongBodies, {}, { url }, { events: ["*"] }, { url, events: [] }, { url, events: ["user"] }],
      ...[
        { url, events: ["user.unknown"] },
        { url, events: ["us*"] },
        { url, events: ["unknown.*"] },
      ],
      ...[
        { url: "http://receiver.example", events: ["*"] },
        { url: "ftp://x.example", events: ["*"] },
      ],
      ...[
        { url: "https://a:b@receiver.example", events: ["*"] },
        { url: "", events: ["*"] },
      ],
      ...[
        { url: `${url}#x`, events: ["*"] },
        { url: `${url}/${"x".repeat(2_048)}`, events: ["*"] },
      ],
      ...[
        { url, events: ["*"], secret: "whsec_x" },
        { url, events: ["*"], enabled: "yes" },
      ],
      ...[
        { url, events: Array.from({ length: 201 }, () => "*") },
        { url, events: "user.*" },
      ],
    ],
  },
  "PATCH /webhooks/:id": {
    ...{ scopes: writes, path, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [
      ...[...wrongBodies, { url: null }, { events: null }, { events: [] }, { events: ["x"] }],
      ...[{ secret: "whsec_x" }, { disabledReason: "gone" }, { url: "http://receiver.example" }],
    ],
  },
  "DELETE /webhooks/:id": { scopes: writes, path, status: 204, wrong: [{}] },
  "POST /webhooks/:id/rotate-secret": {
    ...{ scopes: writes, path: async (world) => `${await path(world)}/rotate-secret`, status: 200 },
    options: () => ({ body: { overlapSeconds: 60 } }),
    wrong: [
      ...[...wrongBodies, { overlapSeconds: -1 }, { overlapSeconds: 1.5 }, { overlapSeconds: "60" }],
      { overlapSeconds: 7 * 86_400 + 1 },
    ],
  },
  "POST /webhooks/:id/test": {
    ...{ scopes: writes, path: async (world) => `${await path(world)}/test`, status: 201 },
    wrong: [{ state: "delivered" }],
  },
  "POST /webhooks/:id/replay": {
    ...{ scopes: writes, path: async (world) => `${await path(world)}/replay`, status: 202 },
    options: () => ({ body: { from: "2020-01-01T00:00:00Z" } }),
    wrong: [
      ...[...wrongBodies, {}, { from: "yesterday" }, { from: "2020-01-01" }, { from: 0 }],
      ...[{ from: "2020-01-02T00:00:00Z", to: "2020-01-01T00:00:00Z" }, { from: null }],
      ...[
        { from: "2020-01-01T00:00:00Z", events: ["unknown"] },
        { from: "2020-01-01T00:00:00Z", events: [] },
      ],
    ],
  },
  "GET /webhooks/:id/deliveries": {
    ...{ scopes: reads, path: async (world) => `${await path(world)}/deliveries`, status: 200 },
    wrongQueries: [...wrongLists, "state=unknown", "state=pending&state=dead"],
  },
  "GET /webhooks/:id/deliveries/:deliveryId": { scopes: reads, path: newDelivery, status: 200 },
  "POST /webhooks/:id/deliveries/:deliveryId/resend": {
    ...{ scopes: writes, path: async (world) => `${await newDelivery(world)}/resend`, status: 200 },
    wrong: [{ state: "delivered" }],
  },
});
