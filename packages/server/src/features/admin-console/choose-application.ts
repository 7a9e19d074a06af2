/** The first step of a form about an application: which one, found by its name or its ID. */
import type { Application } from "../../core/applications/application.ts";
import type { ConsoleFrame } from "../../html/components/console-layout.ts";
import { filterBar, moreMatchesHint, noResults } from "../../html/components/filter-bar.ts";
import { nameCell, rowLink, table } from "../../html/components/table.ts";
import { type Content, html } from "../../html/html.ts";
import { queryString } from "../../page-kit/page.ts";

export type Choice = {
  search: string;
  applications: readonly Pick<Application, "id" | "name">[];
  hasMore: boolean;
};

interface ChoiceTexts {
  readonly table: string;
  readonly column: string;
  readonly search: string;
  readonly choose: string;
  chooseOf(value: { name: string }): string;
}

/** @param page.linksName the name leads to the next step too */
export function applicationChoice(
  { search, applications, hasMore, messages }: ConsoleFrame & Choice,
  page: { action: string; linksName: boolean },
  text: ChoiceTexts,
): Content {
  const { action, linksName } = page;
  const rows = applications.map(({ id, name }) => {
    const uri = `${action}${queryString({ application: id })}`;
    const note = html`<code>${id}</code>`;
    return {
      id: `application-${id}`,
      cells: [nameCell({ name, note, ...(linksName && { uri }) })],
      actions: rowLink({ id: `choose-${id}`, uri, text: text.choose, label: text.chooseOf({ name }) }),
    };
  });
  return [
    filterBar({ action, label: text.search, value: search, messages }),
    hasMore && moreMatchesHint(messages),
    rows.length === 0
      ? noResults(messages)
      : table({ label: text.table, columns: [text.column], rows, messages }),
  ];
}
