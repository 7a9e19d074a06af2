/** The tokens tab of a directory's connection. */
import { type ConnectionToken, MAX_TOKENS } from "../../../core/connections/connection.ts";
import { listTokens } from "../../../core/connections/connections.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConnectionsDeps, ConnectionView } from "./connection-pages.ts";

export async function tokensOf(deps: ConnectionsDeps, view: ConnectionView): Promise<Content> {
  const { record, messages, uriOf } = view;
  const { tokens: text } = messages.console.connections;
  const tokens = (await listTokens(deps.database.query, record)).toReversed();
  const { format, console } = messages;
  const rows = tokens.map((token) => ({
    id: `token-${token.id}`,
    cells: [
      nameCell({ name: tokenName(token, messages) }),
      tokenState(token, deps.clock(), messages),
      token.lastUsedAt === null ? console.frame.never : relativeTime(token.lastUsedAt, format.minute),
      relativeTime(token.createdAt, format.day),
    ],
    actions: rowLink({
      id: `token-end-${token.id}`,
      uri: uriOf(`/tokens/${token.id}/end`),
      text: text.end,
      label: text.endOf({ name: tokenName(token, messages) }),
      isQuestion: true,
    }),
  }));
  const isFull = tokens.length >= MAX_TOKENS;
  return card({
    id: "tokens",
    title: text.title,
    text: isFull ? text.full({ count: MAX_TOKENS }) : text.text,
    actions: !isFull && buttonLink({ id: "token-add", uri: uriOf("/tokens/new"), label: text.add }),
    body: table({
      label: text.title,
      columns: [text.label, text.state, text.lastUsed, text.created],
      rows,
      none: text.none,
      messages,
    }),
  });
}

export const tokenName = ({ label }: ConnectionToken, { console: { connections } }: Messages): string =>
  label === "" ? connections.tokens.unnamed : label;

function tokenState(
  { expiresAt }: ConnectionToken,
  now: number,
  { console: { connections } }: Messages,
): Content {
  const { tokens: text } = connections;
  if (expiresAt === null) return badge("good", text.active);
  if (expiresAt <= now) return badge("plain", text.expired);
  return html`${badge("good", text.active)}<span class="quiet item-note">${text.until({ at: expiresAt })}</span>`;
}
