/** What is looked for in an organisation's audit log. */
import { auditActions } from "../actions.ts";
import type { KeptEvent } from "../audit.store.ts";
import type { Lead } from "./search.store.ts";

export interface AuditFilter {
  /** Any of them, as in `AuditEvent.actor`. */
  readonly actors?: readonly string[];
  /** Any of them, e.g. all of a group. */
  readonly actions?: readonly string[];
  readonly target?: string;
  readonly address?: string;
  /** The id of a user: what they did, and what was done to them. */
  readonly about?: string;
  /** Milliseconds, from here on. */
  readonly from?: number;
  /** Milliseconds, up to but not including it. */
  readonly to?: number;
  /** Somewhere in an event, whatever its case. */
  readonly text?: string;
}

/** @param text an action, or the beginning of several that ends in a dot, as in `device.`. @returns none for nonsense */
export const actionsNamed = (text: string): readonly string[] =>
  auditActions.filter((action) => (text.endsWith(".") ? action.startsWith(text) : action === text));

/** What an index finds: of the parts of the filter the one that finds least, as far as one can say without looking. */
export function leadsOf({ actors, actions, target, address, about }: AuditFilter): readonly Lead[] {
  const leads = (column: Lead["column"], values: readonly string[]) =>
    values.map((value) => ({ column, value }));
  if (target !== undefined) return leads("target", [target]);
  if (about !== undefined) return [...leads("actor", [`user:${about}`]), ...leads("target", [about])];
  if (address !== undefined) return leads("address", [address]);
  if (actors) return leads("actor", actors);
  return actions ? leads("action", actions) : [];
}

/** Whether the leads alone find what is looked for, with nothing left to be sorted out. */
export const isLedAlone = (filter: AuditFilter): boolean => {
  const { actors, actions, target, address, about, text } = filter;
  return text === undefined && [actors, actions, target, address, about].filter((part) => part).length <= 1;
};

export const isEverything = (filter: AuditFilter): boolean =>
  Object.values(filter).every((part) => part === undefined);

export function matches(filter: AuditFilter, event: KeptEvent): boolean {
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

const wholeText = ({ actor, action, target = "", address = "", details }: KeptEvent): string =>
  [actor, action, target, address, JSON.stringify(details)].join("\n").toLowerCase();

/** An empty list of actors or actions is looked for by somebody who knows that there is nothing. */
export const findsNothing = ({ actors, actions, from, to }: AuditFilter): boolean =>
  actors?.length === 0 || actions?.length === 0 || (from !== undefined && to !== undefined && from >= to);
