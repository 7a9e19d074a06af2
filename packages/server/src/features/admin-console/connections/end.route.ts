/** connections/{id}/enable, /disable and /delete. */
import type { FastifyInstance } from "fastify";
import { type Connection, InvalidConnection } from "../../../core/connections/connection.ts";
import { changeConnection } from "../../../core/connections/connections.ts";
import { deleteConnection } from "../../../core/connections/delete-connection.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { GroupConflict } from "../../../core/groups/group.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  applied,
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { type ConnectionsDeps, connectionPages, isDirectory, SETTINGS } from "./connection-pages.ts";
import { type ConnectionUses, countUses } from "./connection-uses.store.ts";
import { beyondLink, requireByLink } from "./portal-authority.ts";

export function connectionEndRoutes(app: FastifyInstance, deps: ConnectionsDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/connections/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/connections/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/connections/:id/delete", deletion);
}

export const statusChange = (disabled: boolean): Confirmation<ConnectionsDeps, Connection> => ({
  ...aboutRecord(connectionPages, (connection: Connection) => connection, SETTINGS),
  load: connectionPages.find,
  isDone: (_, { enabled }) => enabled === !disabled,
  question: ({ console: { connections } }, connection) => {
    const { end } = connections;
    const { name } = connection;
    const disableText = isDirectory(connection) ? end.disableDirectory : end.disableSignIn;
    return {
      heading: disabled ? end.disableHeading({ name }) : end.enableHeading({ name }),
      text: disabled ? disableText : end.enableText,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "disable-confirm" : "enable-confirm",
      isHarmless: !disabled,
    };
  },
  apply: async (deps, acting, connection, { messages, signedIn }) => {
    const { id } = connection;
    try {
      if (isSignInConnection(connection))
        await requireByLink(deps, signedIn, { members: ["enabled"] }, connection);
      await changeConnection(deps, { ...acting, id, change: { enabled: !disabled } });
      return done(disabled ? "disabled" : "enabled");
    } catch (error) {
      return refusal(error, messages);
    }
  },
});

interface Released {
  readonly connection: Connection;
  readonly uses: ConnectionUses;
}

export const deletion: Confirmation<ConnectionsDeps, Released> = {
  ...aboutRecord(connectionPages, ({ connection }: Released) => connection, SETTINGS),
  load: async (deps, organisation, params) => {
    const connection = await connectionPages.find(deps, organisation, params);
    return connection && { connection, uses: await countUses(deps.database.query, connection) };
  },
  question: ({ console: { connections } }, { connection, uses }) => {
    const { end } = connections;
    const { name } = connection;
    const groups = uses.groups > 0 && html`<p>${end.releasesGroups({ count: uses.groups, name })}</p>`;
    return {
      heading: end.deleteHeading({ name }),
      text: isDirectory(connection)
        ? [html`<p>${end.deleteDirectory}</p><p>${end.releasesUsers({ count: uses.users })}</p>`, groups]
        : [html`<p>${end.deleteSignIn({ count: uses.identities })}</p>`, groups],
      confirm: end.delete,
      confirmId: "connection-delete-confirm",
      name,
    };
  },
  apply: async (deps, acting, { connection: { id } }, { organisation, messages }) => {
    try {
      await deleteConnection(deps, { ...acting, id });
      return applied(consolePath(organisation, "/connections?done=deleted"));
    } catch (error) {
      return refusal(error, messages);
    }
  },
};

/** @throws what is no refusal */
function refusal(error: unknown, messages: Messages): ConfirmationResult {
  const { refused } = messages.console.connections;
  const failure = beyondLink(error, messages);
  if (failure) return failure;
  if (error instanceof InvalidConnection && error.code === "enforces-domain")
    return { kind: "refused", title: refused.title, text: refused.enforced };
  if (error instanceof GroupConflict) return { kind: "refused", title: refused.title, text: refused.groups };
  throw error;
}
