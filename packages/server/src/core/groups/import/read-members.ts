/** The members that an administrator imports into a group from a CSV file, or from a plain list. */
import { isUuid } from "@signet/protocol/hash";
import { type CsvRow, MalformedCsv, parseCsv } from "../../users/import/csv.ts";

export const memberImportLimits = { rows: 5_000, bytes: 1024 * 1024, groups: 200 } as const;

/** Others are ignored, so that exports of users and of members can be imported as they are. */
export const memberColumns = ["id", "email", "group"] as const;
type MemberColumn = (typeof memberColumns)[number];

/** One line: whom it names. */
export interface NamedMember {
  readonly line: number;
  /** `any`: an email address, else a group's name. */
  readonly by: MemberColumn | "any";
  /** Empty where the line names nobody. */
  readonly text: string;
}

export type MemberListFault = "empty" | "too-long" | "too-many" | "too-many-groups" | "malformed";

export type ReadMembers =
  | { readonly members: readonly NamedMember[] }
  | { readonly fault: MemberListFault; readonly line?: number };

/** @param text columns with a header, or one member on each line */
export function readMembers(text: string): ReadMembers {
  if (Buffer.byteLength(text) > memberImportLimits.bytes) return { fault: "too-long" };
  let rows: CsvRow[];
  try {
    rows = parseCsv(text);
  } catch (error) {
    if (error instanceof MalformedCsv) return { fault: "malformed", line: error.line };
    throw error;
  }
  const header = rows[0]?.cells.map((cell) => cell.toLowerCase()) ?? [];
  const places = memberColumns.flatMap((name) => {
    const at = header.indexOf(name);
    return at < 0 ? [] : [{ name, at }];
  });
  const lines = places.length > 0 ? rows.slice(1) : rows;
  if (lines.length === 0) return { fault: "empty" };
  if (lines.length > memberImportLimits.rows) return { fault: "too-many" };
  const members = lines.map((row) => (places.length > 0 ? inColumns(row, places) : alone(row)));
  const groups = members.filter(
    ({ by, text: named }) => by === "group" || (by === "any" && !named.includes("@")),
  );
  return groups.length > memberImportLimits.groups ? { fault: "too-many-groups" } : { members };
}

/** The first of the columns that is not empty. */
function inColumns(
  { line, cells }: CsvRow,
  places: ReadonlyArray<{ readonly name: MemberColumn; readonly at: number }>,
): NamedMember {
  const place = places.find(({ at }) => (cells[at] ?? "") !== "");
  return { line, by: place?.name ?? "any", text: place ? (cells[place.at] ?? "") : "" };
}

function alone({ line, cells }: CsvRow): NamedMember {
  const text = cells[0] ?? "";
  return { line, by: isUuid(text) ? "id" : "any", text };
}
