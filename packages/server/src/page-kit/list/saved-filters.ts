/** Saved filters of a list: how its address is one, and what it says in words. Their pages are admin-console/saved-filters. */
import type { Organisation } from "../../core/organisations/organisation.ts";
import { listFilters } from "../../core/saved-filters/saved-filters.store.ts";
import { savedFilters } from "../../html/components/saved-filters.ts";
import { type Content, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import type { ConsolePage } from "../console-frame.ts";
import { type ConsoleDeps, consolePath, queryString } from "../page.ts";
import type { AnyList } from "./list.ts";
import { readFilter } from "./list-address.ts";
import { orderQuery, readListPlace } from "./list-place.ts";

type Values = ReadonlyMap<string, string>;

/** A page whose filters can be saved. */
export interface FilterHome {
  readonly current: ConsolePage;
  /** @param rest begins with a question mark */
  uri(organisation: Pick<Organisation, "id">, rest?: string): string;
  /** Without `?`, in one order: two that mean the same are equal. Empty for what filters nothing. */
  query(values: Values): string;
  /** What is saved, in the words of the filter bar. */
  facts(
    values: Values,
    messages: Messages,
    organisation: Organisation,
  ): ReadonlyArray<{ readonly label: string; readonly content: Content }>;
}

export type SavedList = Pick<AnyList<never>, "current" | "uri" | "filters" | "sorts"> & {
  texts(messages: Messages, organisation: Organisation, filter: undefined): { readonly search: string };
};

const queryOf = (list: Pick<SavedList, "filters" | "sorts">, values: Values): string => {
  const order = orderQuery(readListPlace(values, list.sorts), list.sorts);
  return queryString({ ...readFilter(list.filters, values), ...order, size: undefined }).slice(1);
};

/** With the order, without the length of a page. */
export const homeOfList = (list: SavedList): FilterHome => ({
  current: list.current,
  uri: (organisation, rest) => list.uri(organisation, rest),
  query: (values) => queryOf(list, values),
  facts: (values, messages, organisation) => {
    const filter: Readonly<Record<string, string | undefined>> = readFilter(list.filters, values);
    const search = { label: list.texts(messages, organisation, undefined).search, value: filter["search"] };
    const others = Object.entries(list.filters).map(([name, one]) => {
      const value = filter[name];
      return { label: one.label(messages), value: value && (one.names?.(messages)[value] ?? value) };
    });
    return [search, ...others].map(({ label, value }) => ({
      label,
      content: value !== undefined && value !== "" && html`<bdi>${value}</bdi>`,
    }));
  },
});

/** Above the rows of a list, or of a page with filters of its own. @param list as its filters are stored */
export async function showSavedFilters(
  { database }: Pick<ConsoleDeps, "database">,
  organisation: Organisation,
  { list, home, values }: { list: string; home: FilterHome; values: Values },
  messages: Messages,
): Promise<Content> {
  const current = home.query(values);
  const base = consolePath(organisation, "/saved-filters");
  return savedFilters({
    saved: await listFilters(database.query, organisation.id, list),
    current,
    uri: (query) => home.uri(organisation, query === "" ? "" : `?${query}`),
    newUri: `${base}/new${queryString({ list, query: current })}`,
    deleteUri: (id) => `${base}/${id}/delete`,
    messages,
  });
}
