/** The secret tab of a webhook: which secrets sign now. No page shows one again. */
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import type { Content } from "../../../html/html.ts";
import { SECRET, type WebhooksDeps, type WebhookView } from "./webhook-pages.ts";

export function secretOf({ clock }: WebhooksDeps, { record, messages, uriOf }: WebhookView): Content {
  const { secret: text } = messages.console.webhooks;
  const { previousUntil } = record;
  const isOverlapping = previousUntil !== null && previousUntil > clock();
  return card({
    ...{ id: "secret", title: text.title, text: text.text },
    actions: buttonLink({ id: "secret-rotate", uri: uriOf(`${SECRET}/new`), label: text.rotate }),
    body: facts([
      { label: text.current, content: text.hidden },
      {
        ...{ label: text.previous, id: "previous-secret" },
        content: isOverlapping ? relativeTime(previousUntil, messages.format.minute) : text.noPrevious,
      },
    ]),
  });
}
