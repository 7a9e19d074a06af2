/** A list whose ticked rows a user or a group is given: it stands below the record's own page. */
import type { Subject } from "../../core/roles/assignments.store.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { consoleLayout } from "../../html/components/console-layout.ts";
import type { ConsoleFrame, ConsoleView } from "../../html/components/console-view.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { type ConsolePage, consoleFrame } from "../../page-kit/console-frame.ts";
import type { List } from "../../page-kit/list/list.ts";
import { listCard } from "../../page-kit/list/list-route.ts";
import { renderList } from "../../page-kit/list/list-view.ts";
import { type ConsoleDeps, show, type Visit } from "../../page-kit/page.ts";

/** Who it is given to. */
export interface Receiver extends Subject {
  readonly name: string;
  readonly current: ConsolePage;
  /** Of the receiver, below the console. */
  readonly path: `/${string}`;
  crumbs(frame: ConsoleFrame): ConsoleView["breadcrumbs"];
}

export async function showChoiceList<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
>(
  deps: Deps,
  visit: Visit,
  list: List<Deps, Row, Sort>,
  of: { readonly signedIn: SignedIn; readonly receiver: Receiver; summary(messages: Messages): string },
): Promise<void> {
  const { signedIn, receiver } = of;
  const frame = await consoleFrame(deps, visit, signedIn, receiver.current);
  const { section } = await renderList(deps, visit, frame, signedIn, list);
  const { title } = list.texts(frame.messages, visit.organisation);
  const breadcrumbs = receiver.crumbs(frame);
  const summary = of.summary(frame.messages);
  await show(
    visit,
    frame,
    consoleLayout({ ...frame, breadcrumbs, title, summary, body: listCard(title, section) }),
  );
}
