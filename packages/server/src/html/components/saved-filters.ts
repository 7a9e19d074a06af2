/** Saved filters of a list: a chip for each, and what can be done with the one that is shown, or with what isn't saved yet. */
import { type Content, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

export type SavedFilters = {
  saved: ReadonlyArray<{ id: string; name: string; query: string }>;
  /** What is shown, as a saved filter has it; empty without a filter. */
  current: string;
  /** Where a list is that is narrowed so. */
  uri(query: string): string;
  newUri: string;
  deleteUri(id: string): string;
  messages: Messages;
};

export function savedFilters({ saved, current, uri, newUri, deleteUri, messages }: SavedFilters): Content {
  const { savedFilters: text } = messages.console.frame;
  const used = saved.find(({ query }) => query === current);
  const canSave = current !== "" && used === undefined;
  if (saved.length === 0 && !canSave) return undefined;
  const chip = ({ id, name, query }: SavedFilters["saved"][number]) =>
    html`<li><a class="chip" id="filter-${id}" href="${linkAddress(uri(query))}"${
      query === current && html` aria-current="true"`
    }><bdi>${name}</bdi></a></li>
`;
  const act = (id: string, to: string, label: string) =>
    html`<li><a id="${id}" href="${linkAddress(to)}">${label}</a></li>
`;
  return html`<nav aria-label="${text.label}"><ul class="chips">${saved.map(chip)}${
    used && act("filter-delete", deleteUri(used.id), text.delete)
  }${canSave && act("filter-save", newUri, text.save)}</ul></nav>
`;
}
