/** The form of a webhook: where events are sent, and which. */
import { MAX_URL_LENGTH, type Webhook } from "../../../core/webhooks/webhook.ts";
import { eventPicker } from "../../../html/components/event-picker.ts";
import { radioField, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { ALL, eventGroups } from "./event-choice.ts";

export interface WebhookInput {
  readonly url: string;
  readonly which: "all" | "some";
  readonly events: readonly string[];
}

export const emptyWebhook: WebhookInput = { url: "", which: "all", events: [] };

export const toWebhookInput = ({ url, events }: Webhook): WebhookInput =>
  events.includes(ALL) ? { url, which: "all", events: [] } : { url, which: "some", events };

export const readWebhookInput = ({ values, all }: SentForm): WebhookInput => ({
  url: (values.get("url") ?? "").trim(),
  which: values.get("which") === "all" ? "all" : "some",
  events: [...new Set(all("events"))],
});

export const patternsIn = ({ which, events }: WebhookInput): readonly string[] =>
  which === "all" ? [ALL] : events;

export const webhookLabels = ({ console: { webhooks } }: Messages) => ({
  url: webhooks.fields.url.label,
  which: webhooks.fields.which.label,
  events: webhooks.fields.events.label,
});

export function webhookFields(form: FormView<WebhookInput>): Content {
  const { messages, input } = form;
  const { fields, searchEvents } = messages.console.webhooks;
  const field = fieldsOf(form, webhookLabels(messages));
  return [
    textField({
      ...(form.version === undefined && form.state.faults === undefined && { hasFocus: true }),
      ...field("url"),
      ...{ hint: fields.url.hint, type: "url", maxLength: MAX_URL_LENGTH, isRequired: true, isCode: true },
    }),
    radioField({
      ...field("which"),
      choices: [
        { value: "all", label: fields.which.all, text: fields.which.allText },
        { value: "some", label: fields.which.some },
      ],
    }),
    eventPicker({
      ...field("events"),
      ...{ hint: fields.events.hint, values: input.events, searchLabel: searchEvents },
      groups: eventGroups(input.events, messages),
      chosen: messages.console.webhooks.chosen,
    }),
  ];
}
