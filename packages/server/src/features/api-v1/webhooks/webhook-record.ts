/** Webhooks and their deliveries as API v1 shows them. */
import Type from "typebox";
import { deliveryStates, type EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import {
  DEFAULT_OVERLAP_SECONDS,
  MAX_EVENTS,
  MAX_OVERLAP_SECONDS,
  type Webhook,
} from "../../../core/webhooks/webhook.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";

const time = Type.String({ format: "date-time" });
const timeOrNull = (description: string) => Type.Union([time, Type.Null()], { description });

const members = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: "https, without credentials and fragment",
  }),
  events: Type.Array(Type.String({ maxLength: 100 }), {
    ...{ minItems: 1, maxItems: MAX_EVENTS },
    description: "Audit actions, all of a noun (`user.*`), or `*`",
  }),
  enabled: Type.Boolean({ description: "Default: true. While it is false nothing is queued or sent" }),
};

export const newWebhook = strictObject(
  { url: members.url, events: members.events, enabled: Type.Optional(members.enabled) },
  { title: "ApiNewWebhook" },
);

export const webhookPatch = patchSchema(members, { title: "ApiWebhookChange" });

const record = {
  ...{ id: Type.String({ format: "uuid" }), ...members },
  disabledReason: Type.Union([Type.Literal("gone"), Type.Null()], {
    description: "`gone`: its receiver answered 410",
  }),
  previousSecretExpiresAt: timeOrNull("Until then messages have a second signature"),
  ...{ createdAt: time, updatedAt: time },
};

const secret = Type.Union([Type.String({ description: "`whsec_…`, shown once" }), Type.Null()]);

export const webhookSchema = Type.Object(record, { title: "ApiWebhook" });
export const webhookWithSecret = Type.Object({ ...record, secret }, { title: "ApiWebhookWithSecret" });

export const webhookFields = memoryFields({
  ...({ id: "text", url: "text", enabled: "boolean", disabledReason: "text" } as const),
  ...({ createdAt: "time", updatedAt: "time" } as const),
});

export const webhookRecord = (webhook: Webhook) => ({
  ...{ id: webhook.id, url: webhook.url, events: webhook.events, enabled: webhook.enabled },
  disabledReason: webhook.disabledReason,
  previousSecretExpiresAt: webhook.previousUntil === null ? null : wireTime(webhook.previousUntil),
  ...{ createdAt: wireTime(webhook.createdAt), updatedAt: wireTime(webhook.updatedAt) },
});

export const rotation = strictObject(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: MAX_OVERLAP_SECONDS },
        description: `How long the secret before signs too; default: ${DEFAULT_OVERLAP_SECONDS}`,
      }),
    ),
  },
  { title: "ApiWebhookRotation" },
);

export const replay = strictObject(
  {
    from: time,
    to: Type.Optional(Type.Union([time, Type.Null()], { description: "Default: now" })),
    events: Type.Optional(
      Type.Union(
        [Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: MAX_EVENTS }), Type.Null()],
        {
          description: "Of those that the webhook takes; default: all",
        },
      ),
    ),
  },
  { title: "ApiWebhookReplay" },
);

export const replayed = Type.Object(
  { count: Type.Integer({ description: "How many events are sent again" }) },
  { title: "ApiWebhookReplayed" },
);

const delivery = {
  id: Type.String({ format: "uuid", description: "The event's, and the `webhook-id` of each try" }),
  type: Type.String({ description: "The audit action; `webhook.test` of a test" }),
  timestamp: Type.String({ format: "date-time", description: "When the event happened" }),
  state: Type.Enum([...deliveryStates]),
  attempts: Type.Integer(),
  nextAttemptAt: timeOrNull("Of what is pending; one that stands behind it in the queue waits too"),
  lastAttemptAt: timeOrNull("Of the last try"),
  lastStatus: Type.Union([Type.Integer(), Type.Null()], { description: "That the receiver answered" }),
  lastError: Type.Union([Type.String(), Type.Null()]),
  ...{ createdAt: time, updatedAt: time },
};

export const deliverySchema = Type.Object(delivery, { title: "ApiWebhookDelivery" });

const payload = Type.Record(Type.String(), Type.Unknown(), { description: "The body that is sent" });

export const deliveryWithPayload = Type.Object(
  { ...delivery, payload },
  { title: "ApiWebhookDeliveryWithPayload" },
);

const timeOf = (at: number | null) => (at === null ? null : wireTime(at));

export const deliveryRecord = (delivery: EventDelivery) => ({
  ...{ id: delivery.id, type: delivery.type, timestamp: wireTime(delivery.at), state: delivery.state },
  ...{ attempts: delivery.attempts, lastAttemptAt: timeOf(delivery.lastAttemptAt) },
  nextAttemptAt: delivery.state === "pending" ? wireTime(delivery.nextAttemptAt) : null,
  ...{ lastStatus: delivery.lastStatus, lastError: delivery.lastError },
  ...{ createdAt: wireTime(delivery.createdAt), updatedAt: wireTime(delivery.updatedAt) },
});

export const deliveryWithPayloadRecord = (delivery: EventDelivery) => ({
  ...deliveryRecord(delivery),
  payload: JSON.parse(delivery.body) as Readonly<Record<string, unknown>>,
});
