/** The search form of the audit log, and the filter it stands for. */
import { type AuditGroup, auditGroups, isAuditAction } from "../../../core/audit/actions.ts";
import { matchActors } from "../../../core/audit/actor-names.ts";
import type { AuditFilter } from "../../../core/audit/search/search.ts";
import type { Db } from "../../../db/open.ts";

/** Empty members do not filter. */
export interface FilterInput {
  readonly search: string;
  /** A group of actions, or one of them. */
  readonly what: string;
  readonly on: string;
  readonly address: string;
  /** `2027-01-31`, in UTC. */
  readonly from: string;
  /** Inclusive. */
  readonly to: string;
}

const MAX_LETTERS = 200;
const DAY_MS = 86_400_000;

export function readFilterInput(values: ReadonlyMap<string, string>): FilterInput {
  const text = (name: string) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  const what = text("what");
  return {
    search: text("search"),
    what: findActions(what) ? what : "",
    on: text("on"),
    address: text("address"),
    from: parseDay(text("from")) === undefined ? "" : text("from"),
    to: parseDay(text("to")) === undefined ? "" : text("to"),
  };
}

export const isSearch = (input: FilterInput): boolean => Object.values(input).some((value) => value !== "");

export async function toFilter(db: Db, orgId: string, input: FilterInput): Promise<AuditFilter> {
  const actions = findActions(input.what);
  const [from, to] = [parseDay(input.from), parseDay(input.to)];
  return {
    ...(input.search === "" ? {} : { actors: await matchActors(db, orgId, input.search) }),
    ...(actions ? { actions } : {}),
    ...(input.on === "" ? {} : { target: input.on }),
    ...(input.address === "" ? {} : { address: input.address }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to: to + DAY_MS }),
  };
}

function findActions(what: string): readonly string[] | undefined {
  if (Object.hasOwn(auditGroups, what)) return Object.keys(auditGroups[what as AuditGroup]);
  return isAuditAction(what) ? [what] : undefined;
}

/** @returns the day's beginning, in milliseconds */
function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(text);
  // `Date` reads 31 February as 3 March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : undefined;
}
