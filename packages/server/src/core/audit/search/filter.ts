/** Filters of the audit log. */
import { auditActions } from "../actions.ts";
import type { StoredEvent } from "../audit.store.ts";
import type { IndexFilter } from "./search.store.ts";

export interface AuditFilter {
  /** Any of these, as in `AuditEvent.actor`. */
  readonly actors?: readonly string[];
  /** Any of these, e.g. all of a group. */
  readonly actions?: readonly string[];
  readonly target?: string;
  readonly address?: string;
  /** A user's id: events with the user as actor or target. */
  readonly about?: string;
  /** Milliseconds, inclusive. */
  readonly from?: number;
  /** Milliseconds, exclusive. */
  readonly to?: number;
  /** Anywhere in an event, case-insensitive. */
  readonly text?: string;
}

/** @param text an action, or a prefix that ends in a dot, e.g. `device.`. @returns an empty list when nothing matches */
export const matchActions = (text: string): readonly string[] =>
  auditActions.filter((action) => (text.endsWith(".") ? action.startsWith(text) : action === text));

/** The part of the filter to look up by index: the one that is likely to be most selective. */
export function indexFiltersOf({
  actors,
  actions,
  target,
  address,
  about,
}: AuditFilter): readonly IndexFilter[] {
  const indexFilters = (column: IndexFilter["column"], values: readonly string[]) =>
    values.map((value) => ({ column, value }));
  if (target !== undefined) return indexFilters("target", [target]);
  if (about !== undefined)
    return [...indexFilters("actor", [`user:${about}`]), ...indexFilters("target", [about])];
  if (address !== undefined) return indexFilters("address", [address]);
  if (actors) return indexFilters("actor", actors);
  return actions ? indexFilters("action", actions) : [];
}

/** Whether the index filters alone decide, so that no row is read in vain. */
export const isIndexedFully = (filter: AuditFilter): boolean => {
  const { actors, actions, target, address, about, text } = filter;
  return text === undefined && [actors, actions, target, address, about].filter((part) => part).length <= 1;
};

export const isUnfiltered = (filter: AuditFilter): boolean =>
  Object.values(filter).every((part) => part === undefined);

export function matches(filter: AuditFilter, event: StoredEvent): boolean {
  const { actors, actions, target, address, about, text } = filter;
  return (
    (actors?.includes(event.actor) ?? true) &&
    (actions?.includes(event.action) ?? true) &&
    (target === undefined || event.target === target) &&
    (address === undefined || event.address === address) &&
    (about === undefined || event.target === about || event.actor === `user:${about}`) &&
    (text === undefined || wholeText(event).includes(text.toLowerCase()))
  );
}

const wholeText = ({ actor, action, target = "", address = "", details }: StoredEvent): string =>
  [actor, action, target, address, JSON.stringify(details)].join("\n").toLowerCase();

/** An empty list of actors or actions matches nothing. */
export const isUnsatisfiable = ({ actors, actions, from, to }: AuditFilter): boolean =>
  actors?.length === 0 || actions?.length === 0 || (from !== undefined && to !== undefined && from >= to);
