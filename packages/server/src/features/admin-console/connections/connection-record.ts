/** The page of a connection, by its tabs: a directory has tokens and calls, an identity provider has sign-ins. */

import type { Connection } from "../../../core/connections/connection.ts";
import { listCalls } from "../../../core/connections/connection-calls.store.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import type { TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { aboveConnection, connectionGeneral } from "./connection.page.ts";
import {
  type ConnectionsDeps,
  type ConnectionView,
  connectionPages,
  isDirectory,
} from "./connection-pages.ts";
import { countUses } from "./connection-uses.store.ts";
import { groupMappingCard } from "./group-mapping.ts";
import { callsOf, signInsOf } from "./logs.ts";
import { tokensOf } from "./tokens.page.ts";

const isProvider = (connection: Connection): boolean => !isDirectory(connection);

export const connectionRecord: TabbedRecord<ConnectionsDeps, Connection, ConnectionView> = {
  place: connectionPages,
  load: (_, view) => view,
  above: aboveConnection,
  tabs: [
    {
      name: "general",
      url: "/oauth/manage/:org/connections/:id",
      content: async (deps, view) => {
        const db = deps.database.query;
        const [lastCall] = await listCalls(db, view.record, { limit: 1 });
        const groupMapping =
          !view.portal && isSignInConnection(view.record) && (await groupMappingCard(db, view, view.record));
        const uses = await countUses(db, view.record);
        return connectionGeneral(deps, { ...view, lastCall, groupMapping, uses });
      },
    },
    {
      name: "tokens",
      url: "/oauth/manage/:org/connections/:id/tokens",
      isShown: isDirectory,
      content: tokensOf,
    },
    {
      name: "calls",
      url: "/oauth/manage/:org/connections/:id/calls",
      isShown: isDirectory,
      content: callsOf,
    },
    {
      name: "signIns",
      url: "/oauth/manage/:org/connections/:id/sign-ins",
      isShown: isProvider,
      content: signInsOf,
    },
    {
      name: "activity",
      url: "/oauth/manage/:org/connections/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "connection", id }, messages),
    },
    // A form: settings.route.ts shows it.
    { name: "settings", url: "/oauth/manage/:org/connections/:id/settings" },
  ],
};
