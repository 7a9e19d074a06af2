/** The applications of other organisations that are enabled here. */
import type { FastifyInstance } from "fastify";
import { listShared, type SharedApplication } from "../../../core/shared-applications/shared-applications.ts";
import { badge } from "../../../html/components/badge.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import { consentTabs } from "../consents/consents.page.ts";
import { allowRoutes } from "./allow.route.ts";

export function sharedApplicationsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/shared-applications", "consents", showShared);
  allowRoutes(app, deps);
}

async function showShared(deps: ConsoleDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const shared = await listShared(deps.database.query, visit.organisation.id);
  const { consents } = frame.messages.console;
  const done = doneKey(visit, consents.done);
  return consoleLayout({
    ...frame,
    title: frame.messages.console.frame.pages.consents,
    notice: done && toast(consents.done[done], frame),
    body: html`${consentTabs("shared-applications", frame)}
${sharedCard(shared, frame)}`,
  });
}

function sharedCard(shared: readonly SharedApplication[], { messages, consoleUri }: ConsoleFrame): Html {
  const { consents: text, applications } = messages.console;
  const rows = shared.map(({ home, homeName, copy, isHomeDisabled }) => ({
    id: `shared-application-${home.id}`,
    cells: [
      html`${nameCell({ name: home.name })}${isHomeDisabled && badge("plain", applications.list.disabled)}`,
      html`<bdi>${homeName}</bdi>`,
      html`<span class="codes-line">${copy?.settings.allowedScopes.map((scope) => html`<code>${scope}</code> `)}</span>`,
      copy && relativeTime(copy.createdAt, messages.format.day),
    ],
    actions: rowLink({
      id: `shared-application-withdraw-${home.id}`,
      uri: consoleUri(`/shared-applications/${home.id}/withdraw`),
      text: text.shared.withdraw,
      label: text.shared.withdrawHeading({ application: home.name }),
      isQuestion: true,
    }),
  }));
  return card({
    id: "shared-applications",
    title: text.tabs.shared,
    body: table({
      label: text.tabs.shared,
      columns: [text.application, text.shared.provider, text.columns.scopes, text.columns.since],
      rows,
      none: text.shared.empty,
      messages,
    }),
  });
}
