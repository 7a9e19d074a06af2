/**
 * The command menu (⌘K, Ctrl+K): a button that opens a search over pages, actions, records and audit events
 * (scripts/command-menu.js). Without scripts it leads to the search's own page.
 */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { commandMenuScript } from "../scripts.ts";
import { icon } from "./icons.ts";

/**
 * A module: other scripts of a page may have the same names.
 * @param uri of the search: `?q=` answers a page, and JSON to the script
 * @param readerId whose recent pages it remembers
 */
export function commandMenu(uri: string, readerId: string, messages: Messages): Html {
  const { commandMenu: text, frame } = messages.console;
  const { keys } = text;
  return html`<a class="command-open" id="command-open" href="${linkAddress(uri)}" data-reader="${readerId}" data-label="${text.label}" data-placeholder="${text.placeholder}" data-recent="${text.groups.recent}" data-failed="${text.failed}" data-close="${frame.closeMenu}" data-keys="${`↑↓ ${keys.move}\n↵ ${keys.open}\nesc ${keys.close}`}">${icon("search")}<span class="command-label">${text.open}</span><kbd aria-hidden="true" hidden>⌘K</kbd></a>
<script type="module" src="${commandMenuScript.path}"></script>`;
}
