/** The first tab below its form: who signed in lately, and what was refused. */
import type { Application } from "../../../core/applications/application.ts";
import type { RecentSignIn } from "../../../core/applications/application-use.store.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { refusedCard } from "./refused.page.ts";
import type { TabContent } from "./tab-content.ts";

type GeneralView = RecordView<Application> & { readonly content: TabContent };

export const generalCards = (view: GeneralView): Content => [
  recentCard(view),
  refusedCard({ ...view, refused: view.content.refused }),
];

function recentCard(view: GeneralView): Html {
  const { messages } = view;
  const { recent } = messages.console.applications;
  const named = ({ userId, email }: RecentSignIn): Content =>
    email === null
      ? recent.formerUser
      : html`<a class="item-name" href="${linkAddress(view.consoleUri(`/users/${userId}`))}"><bdi>${email}</bdi></a>`;
  const rows = view.content.recent.map((one, index) => ({
    id: `recent-${index}`,
    cells: [
      named(one),
      relativeTime(one.at, messages.format.minute),
      one.isEnded ? recent.ended : recent.active,
    ],
  }));
  const columns = [recent.who, recent.when, recent.state];
  return card({
    id: "recent",
    title: recent.title,
    body: table({ label: recent.title, columns, rows, none: recent.none, messages }),
  });
}
