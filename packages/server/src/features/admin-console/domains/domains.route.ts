/** The domains of an organisation: all of them, for there are few, and the page of one. */
import type { FastifyInstance } from "fastify";
import type { Domain } from "../../../core/domains/domain.ts";
import { listDomains } from "../../../core/domains/domains.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { DOMAINS, type DomainsDeps, domainStatus, providersOf } from "./domain-pages.ts";
import { domainRecord } from "./domain-record.ts";
import { domainEndRoutes } from "./end.route.ts";
import { newDomainRoute } from "./new.route.ts";
import { domainSettingsRoute } from "./settings.route.ts";

export function domainsRoutes(app: FastifyInstance, deps: DomainsDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/domains", "domains", showDomains);
  newDomainRoute(app, deps);
  tabbedRecordRoutes(app, deps, domainRecord);
  domainSettingsRoute(app, deps);
  domainEndRoutes(app, deps);
}

async function showDomains(deps: DomainsDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { organisation } = visit;
  const { domains: text, frame: frameTexts } = frame.messages.console;
  const rows = await domainRows(deps, organisation.id, frame);
  const done = doneKey(visit, text.done);
  const isEmpty = rows.length === 0;
  return consoleLayout({
    ...frame,
    title: frameTexts.pages.domains,
    summary: text.summary({ organisation: organisation.name }),
    actions: isEmpty ? undefined : addButton(frame),
    notice: done && toast(text.done[done], frame),
    body: html`<section class="card" aria-label="${frameTexts.pages.domains}">
${isEmpty ? emptyState({ title: text.none, text: text.noneText, action: addButton(frame), icon: "domain" }) : domainTable(rows, frame)}</section>
`,
  });
}

export const addButton = ({ messages, consoleUri }: ConsoleFrame): Html =>
  buttonLink({
    ...{ id: "domain-new", uri: consoleUri(`${DOMAINS}/new`), label: messages.console.domains.add },
    kind: "primary",
  });

type Rows = Parameters<typeof table>[0]["rows"];

export async function domainRows(deps: ConsoleDeps, orgId: string, frame: ConsoleFrame): Promise<Rows> {
  const { messages, consoleUri } = frame;
  const providers = await providersOf(deps, orgId);
  const row = (domain: Domain) => ({
    id: `domain-${domain.id}`,
    cells: [
      nameCell({ name: domain.domain, uri: consoleUri(`${DOMAINS}/${domain.id}`) }),
      domainStatus(domain, messages),
      providers.find(({ id }) => id === domain.connectionId)?.name,
      relativeTime(domain.createdAt, messages.format.day),
    ],
  });
  return (await listDomains(deps.database.query, orgId)).map(row);
}

export function domainTable(rows: Rows, { messages }: ConsoleFrame): Html {
  const { columns, none } = messages.console.domains;
  return table({
    label: messages.console.frame.pages.domains,
    columns: [columns.domain, columns.state, columns.connection, columns.created],
    ...{ rows, none, messages },
  });
}
