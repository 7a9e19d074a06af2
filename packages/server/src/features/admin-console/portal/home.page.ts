/** The first of the pages that a portal link opens, and what says that they are closed. */
import type { Connection } from "../../../core/connections/connection.ts";
import type { PortalPurpose } from "../../../core/portal-links/portal-link.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { nameCell, type Row, table } from "../../../html/components/table.ts";
import type { Content, Html } from "../../../html/html.ts";
import { connectionStatus, typeText } from "../connections/connection-pages.ts";
import { addButton, domainTable } from "../domains/domains.route.ts";

interface PortalHome {
  readonly purposes: readonly PortalPurpose[];
  readonly connections: readonly Connection[];
  /** Undefined where the link isn't for them. */
  readonly domains: readonly Row[] | undefined;
  readonly endsAt: number;
}

export function portalHomePage(frame: ConsoleFrame, home: PortalHome): Html {
  const { portal: text } = frame.messages.console;
  const { name: organisation } = frame.organisation;
  return consoleLayout({
    ...frame,
    title: text.navigation,
    summary: text.summary({ organisation, at: home.endsAt }),
    actions: backButton(frame),
    body: [connectionsCard(frame, home), home.domains && domainsCard(frame, home.domains)],
  });
}

function backButton({ portal, messages }: ConsoleFrame): Content {
  const uri = portal?.returnUri;
  const host = uri === undefined ? undefined : URL.parse(uri)?.host;
  return (
    uri !== undefined &&
    host !== undefined &&
    buttonLink({ id: "portal-back", uri, label: messages.console.portal.back({ name: host }) })
  );
}

function connectionsCard(frame: ConsoleFrame, { purposes, connections }: PortalHome): Content {
  if (!purposes.some((purpose) => purpose !== "domains")) return undefined;
  const { messages, consoleUri } = frame;
  const { portal: text, connections: connectionTexts } = messages.console;
  const { columns } = connectionTexts;
  const rows = connections.map((connection) => ({
    id: `connection-${connection.id}`,
    cells: [
      nameCell({ name: connection.name, uri: consoleUri(`/connections/${connection.id}`) }),
      typeText(connection, messages),
      connectionStatus(connection, messages),
    ],
  }));
  return card({
    id: "portal-connections",
    title: text.connections,
    actions: buttonLink({
      ...{ id: "connection-new", uri: consoleUri("/connections/new"), label: text.add, kind: "primary" },
    }),
    body: table({
      label: text.connections,
      columns: [columns.name, columns.type, columns.state],
      ...{ rows, none: text.connectionsNone, messages },
    }),
  });
}

const domainsCard = (frame: ConsoleFrame, rows: readonly Row[]): Html =>
  card({
    id: "portal-domains",
    title: frame.messages.console.frame.pages.domains,
    actions: addButton(frame),
    body: domainTable(rows, frame),
  });
