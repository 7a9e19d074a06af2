/** The last events of a record, on its own page. */
import type { NamedKind } from "../../core/audit/audit.store.ts";
import { listActivity } from "../../core/audit/search/search.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { buttonLink } from "../../html/components/button.ts";
import { card } from "../../html/components/card.ts";
import { timeline } from "../../html/components/timeline.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { type ConsoleDeps, consolePath, queryString } from "../page.ts";
import { type DisplayedEvent, displayEvents, isFailure } from "./display-events.ts";

const MAX_EVENTS = 20;
/** Of an event: its page has all of them. */
const MAX_MENTIONED = 3;

/** @param subject `client` for an application; without a kind, what never acts itself */
export async function activityCard(
  deps: Pick<ConsoleDeps, "database">,
  organisation: Organisation,
  subject: { readonly kind?: NamedKind; readonly id: string },
  messages: Messages,
): Promise<Html> {
  const db = deps.database.query;
  const { events } = await listActivity(db, organisation.id, subject, { limit: MAX_EVENTS });
  const displayed = await displayEvents(deps, organisation, events, messages);
  const { activity: text } = messages.console.auditLog;
  const uri = consolePath(organisation, `/audit-log${queryString({ search: subject.id })}`);
  const list = timeline({
    label: text.title,
    none: text.none,
    words: messages.format.second,
    items: displayed.map((one) => timelineItem(organisation, subject, one)),
  });
  return card({
    id: "activity",
    title: text.title,
    body: html`${list}<div class="actions">${buttonLink({ id: "activity-all", uri, label: text.all })}</div>
`,
  });
}

function timelineItem(
  organisation: Organisation,
  { kind, id }: { readonly kind?: string; readonly id: string },
  { event, who, what, reason, target, mentioned, application, browser, typedEmail }: DisplayedEvent,
) {
  const isByItself = event.actor === `${kind}:${id}`;
  const isOther = event.target !== id && target !== undefined && !target.isCode;
  return {
    id: `event-${event.id}`,
    at: event.at,
    title: what,
    uri: consolePath(organisation, `/audit-log/${event.id}`),
    isBad: isFailure(event.action),
    facts: [
      reason,
      isOther && html`<bdi>${target.text}</bdi>`,
      ...mentioned.slice(0, MAX_MENTIONED).map(({ name }) => html`<bdi>${name}</bdi>`),
      !isByItself && html`<bdi>${who}</bdi>`,
      typedEmail !== undefined && html`<bdi>${typedEmail}</bdi>`,
      application && application.id !== id && html`<bdi>${application.name}</bdi>`,
      event.address !== undefined && html`<bdi>${event.address}</bdi>`,
      browser,
    ],
  };
}
