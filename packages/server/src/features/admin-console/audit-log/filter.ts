/** The search form of the audit log: what is typed into it, and what is meant. */
import { type AuditGroup, auditGroups, isAuditAction } from "../../../core/audit/actions.ts";
import type { AuditFilter } from "../../../core/audit/search/filter.ts";
import { actorsMeant } from "../../../core/audit/search/who.ts";
import type { Db } from "../../../db/open.ts";

/** As typed; empty for what is not looked for. */
export interface TypedFilter {
  readonly search: string;
  /** A group of actions, or one of them. */
  readonly what: string;
  readonly on: string;
  readonly address: string;
  /** `2027-01-31`, in UTC. */
  readonly from: string;
  /** With its whole day. */
  readonly to: string;
}

const LONGEST = 200;
const DAY_MS = 86_400_000;

export function typedFilter(values: ReadonlyMap<string, string>): TypedFilter {
  const text = (name: string) => (values.get(name) ?? "").trim().slice(0, LONGEST);
  const what = text("what");
  return {
    search: text("search"),
    what: actionsOf(what) ? what : "",
    on: text("on"),
    address: text("address"),
    from: dayOf(text("from")) === undefined ? "" : text("from"),
    to: dayOf(text("to")) === undefined ? "" : text("to"),
  };
}

export const isSearch = (typed: TypedFilter): boolean => Object.values(typed).some((value) => value !== "");

export async function filterMeant(db: Db, orgId: string, typed: TypedFilter): Promise<AuditFilter> {
  const actions = actionsOf(typed.what);
  const [from, to] = [dayOf(typed.from), dayOf(typed.to)];
  return {
    ...(typed.search === "" ? {} : { actors: await actorsMeant(db, orgId, typed.search) }),
    ...(actions ? { actions } : {}),
    ...(typed.on === "" ? {} : { target: typed.on }),
    ...(typed.address === "" ? {} : { address: typed.address }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to: to + DAY_MS }),
  };
}

function actionsOf(what: string): readonly string[] | undefined {
  if (Object.hasOwn(auditGroups, what)) return Object.keys(auditGroups[what as AuditGroup]);
  return isAuditAction(what) ? [what] : undefined;
}

/** @returns its beginning, in milliseconds */
function dayOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(text);
  // `Date` takes the 31st of February for the 3rd of March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : undefined;
}
