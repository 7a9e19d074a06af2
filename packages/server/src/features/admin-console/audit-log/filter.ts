/** The search form of the audit log, and the filter it stands for. */
import { type AuditGroup, auditGroups, isAuditAction } from "../../../core/audit/actions.ts";
import { findSubjects } from "../../../core/audit/search/find-subjects.ts";
import type { AuditFilter } from "../../../core/audit/search/search.ts";
import type { Db } from "../../../db/open.ts";
import { beginsInZone, isZone } from "./zone.ts";

/** Empty members do not filter. */
export interface FilterInput {
  /** Who or what: see find-subjects.ts. */
  readonly search: string;
  /** A group of events. */
  readonly category: AuditGroup | "";
  /** One action, of the category if there is one. */
  readonly event: string;
  /** `2027-01-31`, in the zone. */
  readonly from: string;
  /** Inclusive. */
  readonly to: string;
  /** Of the days: an IANA name that a script fills in; empty for UTC, and without days. */
  readonly zone: string;
}

const MAX_LETTERS = 200;
const DAY_MS = 86_400_000;

export function readFilterInput(values: ReadonlyMap<string, string>): FilterInput {
  const text = (name: keyof FilterInput) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  const day = (name: "from" | "to") => (parseDay(text(name)) === undefined ? "" : text(name));
  const [category, event] = [readCategory(text("category")), text("event")];
  const days = { from: day("from"), to: day("to") };
  return {
    search: text("search"),
    category,
    event: isAuditAction(event) && (category === "" || eventsOf(category).includes(event)) ? event : "",
    ...days,
    zone: days.from === "" && days.to === "" ? "" : readZone(text("zone")),
  };
}

const readZone = (text: string): string => (text !== "UTC" && isZone(text) ? text : "");

export const isSearch = (input: FilterInput): boolean => Object.values(input).some((value) => value !== "");

export interface ReadFilter {
  readonly filter: AuditFilter;
  /** More records match the search than are searched for. */
  readonly isPartial: boolean;
}

export async function toFilter(db: Db, orgId: string, input: FilterInput): Promise<ReadFilter> {
  const from = parseDay(input.from, input.zone);
  const to = input.to === "" ? undefined : parseDay(dayAfter(input.to), input.zone);
  const subjects = input.search === "" ? undefined : await findSubjects(db, orgId, input.search);
  const filter: AuditFilter = {
    ...(subjects ? { subjects: subjects.filters } : {}),
    ...actionsOf(input),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
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

const dayAfter = (text: string): string => new Date(Date.parse(text) + DAY_MS).toISOString().slice(0, 10);

/** @returns the day's beginning in the zone, in milliseconds */
function parseDay(text: string, zone = ""): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(text);
  // `Date` reads 31 February as 3 March.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text)) return undefined;
  return zone === "" ? at : beginsInZone(at, zone);
}
