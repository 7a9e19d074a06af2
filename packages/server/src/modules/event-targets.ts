/** All kinds of targets that events are sent to. */
import type { TargetKinds } from "../core/event-deliveries/target-kind.ts";
import { streamTargets } from "../core/event-streams/stream-targets.ts";
import { WEBHOOK } from "../core/webhooks/webhook.ts";
import { webhookTargets } from "../core/webhooks/webhook-messages.ts";
import type { Service } from "./open-service.ts";

export const eventTargetKinds = (service: Service): TargetKinds => ({
  [WEBHOOK]: webhookTargets(service),
  ...streamTargets({ ...service, baseUrl: service.config.baseUrl }),
});
