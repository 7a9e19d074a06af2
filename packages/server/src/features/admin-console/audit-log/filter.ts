/** The search form of the audit log, and the filter it stands for. */
import { type AuditGroup, auditGroups, isAuditAction } from "../../../core/audit/actions.ts";
import { findSubjects } from "../../../core/audit/search/find-subjects.ts";
import type { AuditFilter } from "../../../core/audit/search/search.ts";
import type { Db } from "../../../db/open.ts";

/** Empty members do not filter. */
export interface FilterInput {
  /** Who or what: see find-subjects.ts. */
  readonly search: string;
  /** A group of events. */
  readonly category: AuditGroup | "";
  /** One action, of the category if there is one. */
  readonly event: string;
  /** `2027-01-31`, in UTC. */
  readonly from: string;
  /** Inclusive. */
  readonly to: string;
}

const MAX_LETTERS = 200;
const DAY_MS = 86_400_000;

export function readFilterInput(values: ReadonlyMap<string, string>): FilterInput {
  const text = (name: keyof FilterInput) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  const day = (name: "from" | "to") => (parseDay(text(name)) === undefined ? "" : text(name));
  const [category, event] = [readCategory(text("category")), text("event")];
  return {
    search: text("search"),
    category,
    event: isAuditAction(event) && (category === "" || eventsOf(category).includes(event)) ? event : "",
    from: day("from"),
    to: day("to"),
  };
}

export const isSearch = (input: FilterInput): boolean => Object.values(input).some((value) => value !== "");

export interface ReadFilter {
  readonly filter: AuditFilter;
  /** More records match the search than are searched for. */
  readonly isPartial: boolean;
}

export async function toFilter(db: Db, orgId: string, input: FilterInput): Promise<ReadFilter> {
  const [from, to] = [parseDay(input.from), parseDay(input.to)];
  const subjects = input.search === "" ? undefined : await findSubjects(db, orgId, input.search);
  const filter: AuditFilter = {
    ...(subjects ? { subjects: subjects.filters } : {}),
    ...actionsOf(input),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to: to + DAY_MS }),
  };
  return { filter, isPartial: subjects?.isPartial ?? false };
}

const actionsOf = ({ category, event }: FilterInput): Pick<AuditFilter, "actions"> => {
  if (event !== "") return { actions: [event] };
  return category !== "" ? { actions: eventsOf(category) } : {};
};

export const categories = Object.keys(auditGroups) as AuditGroup[];

const readCategory = (text: string): AuditGroup | "" => (isCategory(text) ? text : "");

const isCategory = (text: string): text is AuditGroup => Object.hasOwn(auditGroups, text);

export const eventsOf = (category: AuditGroup): readonly string[] => Object.keys(auditGroups[category]);

/** @returns the day's beginning, in milliseconds */
function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(text);
  // `Date` reads 31 February as 3 March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : undefined;
}
