/** webhooks/{id}/settings: where events are sent, and which. */
import type { FastifyInstance } from "fastify";
import type { Webhook } from "../../../core/webhooks/webhook.ts";
import { lockWebhook } from "../../../core/webhooks/webhooks.store.ts";
import { changeWebhook } from "../../../core/webhooks/webhooks.ts";
import { editedCard } from "../../../html/components/form-page.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { endCard } from "../../../page-kit/record-pages.ts";
import { showFormInTab } from "../../../page-kit/record-tabs.ts";
import { patternText } from "./event-choice.ts";
import {
  patternsIn,
  readWebhookInput,
  toWebhookInput,
  type WebhookInput,
  webhookFields,
  webhookLabels,
} from "./fields.page.ts";
import { ending } from "./webhook.page.ts";
import { SETTINGS, type WebhooksDeps, webhookFaults, webhookPages } from "./webhook-pages.ts";
import { webhookRecord } from "./webhook-record.ts";

export const webhookSettingsRoute = (app: FastifyInstance, deps: WebhooksDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/webhooks/:id/settings", settingsForm(deps));

/** A cookie keeps what an undo saves again. */
const MAX_UNDONE = 20;

const settingsForm = (deps: WebhooksDeps): EditForm<WebhooksDeps, Webhook, WebhookInput, WebhookInput> => ({
  current: "webhooks",
  readOnlyAllowed: true,
  load: webhookPages.require,
  lock: lockWebhook,
  version: ({ version }) => version,
  toInput: toWebhookInput,
  readInput: readWebhookInput,
  toDisplay: (input, { messages }) => ({
    url: input.url,
    events: patternsIn(input)
      .map((pattern) => patternText(pattern, messages))
      .join(", "),
  }),
  page: (form, editing) => {
    const { console } = editing.messages;
    return showFormInTab(deps, webhookRecord, "settings", form, {
      ...{ ...editing, labels: webhookLabels(editing.messages) },
      content: (view) => [
        editedCard({
          ...form,
          ...{ label: console.frame.recordTabs.settings, id: "webhook-form", fields: webhookFields(form) },
          submit: { id: "webhook-save", label: console.frame.form.save },
        }),
        endCard(ending(view), { ...console.webhooks.end, id: "webhook-end", noun: "webhook" }),
      ],
    });
  },
  validate: (input) => ({ content: input }),
  save: async (inside, input, { visit, acting, record }) => {
    const change = { url: input.url, events: patternsIn(input) };
    await changeWebhook(inside, { ...acting, id: record.id, change });
    return webhookPages.path(visit.organisation, record.id, `${SETTINGS}?done=saved`);
  },
  isUndoable: (_, { record }) => record.events.length <= MAX_UNDONE,
  explain: (error, { messages }) => webhookFaults(error, messages),
});
