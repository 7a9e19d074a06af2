/**
 * The command menu's shell, for `ConsoleFrame.commandMenu`: a button that opens a search over pages and records. What it finds is
 * the server's: `GET <uri>?search=…` answers with a page, and a script may show its results in place.
 */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { icon } from "./icons.ts";

/** Without scripts the button is a link to the search's own page. */
export function commandMenu(uri: string, messages: Messages): Html {
  const { search, searchHint } = messages.console.frame.commands;
  return html`<a class="command-open" id="command-open" href="${linkAddress(uri)}" data-command-menu aria-label="${search}">${icon("search")}<span class="command-label" aria-hidden="true">${searchHint}</span><kbd aria-hidden="true">⌘K</kbd></a>`;
}
