/** webhooks/{id}/disable, /enable and /delete. */
import type { FastifyInstance } from "fastify";
import type { Webhook } from "../../../core/webhooks/webhook.ts";
import { changeWebhook, deleteWebhook } from "../../../core/webhooks/webhooks.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { hostOf, SETTINGS, WEBHOOKS, type WebhooksDeps, webhookPages } from "./webhook-pages.ts";

export function webhookEndRoutes(app: FastifyInstance, deps: WebhooksDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/delete", deletion);
}

export const statusChange = (disabled: boolean): Confirmation<WebhooksDeps, Webhook> => ({
  ...aboutRecord(webhookPages, (webhook: Webhook) => webhook, SETTINGS),
  load: webhookPages.find,
  isDone: (_, { enabled }) => enabled === !disabled,
  question: ({ console: { webhooks } }, webhook) => {
    const { end } = webhooks;
    const name = hostOf(webhook);
    return {
      heading: disabled ? end.disableHeading({ name }) : end.enableHeading({ name }),
      text: disabled ? end.disableText : end.enableText,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "disable-confirm" : "enable-confirm",
      isHarmless: !disabled,
    };
  },
  apply: async (deps, acting, { id }) =>
    (await changeWebhook(deps, { ...acting, id, change: { enabled: !disabled } }))
      ? done(disabled ? "disabled" : "enabled")
      : alreadyApplied,
});

export const deletion: Confirmation<WebhooksDeps, Webhook> = {
  ...aboutRecord(webhookPages, (webhook: Webhook) => webhook, SETTINGS),
  load: webhookPages.find,
  question: ({ console: { webhooks } }, webhook) => ({
    heading: webhooks.end.deleteHeading({ name: hostOf(webhook) }),
    text: webhooks.end.deleteText,
    confirm: webhooks.end.delete,
    confirmId: "webhook-delete-confirm",
  }),
  apply: async (deps, acting, { id }, { organisation }) =>
    (await deleteWebhook(deps, { ...acting, id }))
      ? applied(consolePath(organisation, `${WEBHOOKS}?done=deleted`))
      : { ...alreadyApplied, uri: consolePath(organisation, WEBHOOKS) },
};
