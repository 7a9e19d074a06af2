/** A list's address: what it is narrowed to, how it is sorted, and where in it a page begins. */
import type { Organisation } from "../../core/organisations/organisation.ts";
import { queryString } from "../page.ts";
import type { AnyList, Choices, Filter, ListFilter } from "./list.ts";
import { orderQuery, readListPlace } from "./list-place.ts";

const MAX_LETTERS = 254;

const readText = (text = ""): string => text.trim().slice(0, MAX_LETTERS);

type Values = ReadonlyMap<string, string>;

/** Whatever is no choice is none. */
export function readFilter<C extends Choices>(
  filters: { readonly [Name in keyof C]: ListFilter<C[Name]> },
  values: Values,
): Filter<C> {
  const read = ([name, { choices, any }]: [string, ListFilter]) => {
    const text = readText(values.get(name));
    const value = choices === undefined ? text : choices.find((one) => one === text);
    // What applies anyway narrows nothing.
    const isDefault = any === undefined && value === choices?.[0];
    return [name, value === "" || isDefault ? undefined : value];
  };
  const chosen = Object.entries(filters as Readonly<Record<string, ListFilter>>).map(read);
  return { search: readText(values.get("search")), ...Object.fromEntries(chosen) };
}

/** What the page's address says about others than the list. */
export const keptQuery = (
  { keeps = [] }: Pick<AnyList<never>, "keeps">,
  values: Values,
): Record<string, string | undefined> =>
  Object.fromEntries(keeps.map((name) => [name, readText(values.get(name)) || undefined]));

export const isNarrowed = (filter: Filter<Choices>): boolean =>
  Object.values(filter).some((value) => value !== undefined && value !== "");

/** @param more replaces the order and the place, which are else left out */
export const filteredUri = (
  list: Pick<AnyList<never>, "uri">,
  organisation: Pick<Organisation, "id">,
  filter: Filter<Choices>,
  more: Readonly<Record<string, string | undefined>> = {},
  rest = "",
): string => list.uri(organisation, `${rest}${queryString({ ...filter, ...more })}`);

/** @param values of the list's query, or of one that a form gave along */
export function listUri(
  list: Pick<AnyList<never>, "uri" | "filters" | "sorts" | "keeps">,
  organisation: Pick<Organisation, "id">,
  values: Values,
): string {
  const order = orderQuery(readListPlace(values, list.sorts), list.sorts);
  const more = { ...order, ...keptQuery(list, values) };
  return filteredUri(list, organisation, readFilter(list.filters, values), more);
}
