/** Invitations as a table, for who has people in a spreadsheet: a header of members, then a person a line. */
import type { FastifyInstance } from "fastify";
import { type CsvRow, MalformedCsv, parseCsv } from "../../../core/users/import/csv.ts";
import { malformed } from "../../../http/api/api-error.ts";

export const CSV_TYPE = "text/csv";

const columns = [
  ...(["email", "firstname", "surname", "role", "username", "nickname", "phone", "locale"] as const),
  "connectionId",
] as const;

/** As the member is called, however the column is written. */
const memberOf = (cell: string): string =>
  columns.find((name) => name.toLowerCase() === cell.trim().toLowerCase()) ?? cell.trim().toLowerCase();

/** Reads it as the JSON that it stands for, for the routes of the scope. @param bodyLimit bytes */
export function acceptInvitationCsv(scope: FastifyInstance, bodyLimit: number): void {
  scope.addContentTypeParser(CSV_TYPE, { parseAs: "buffer", bodyLimit }, (_request, body, done) => {
    try {
      done(null, Buffer.from(JSON.stringify({ items: itemsOf(body as Buffer) })));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Empty cells are members that are left out. @throws ApiError 400 naming the line */
function itemsOf(body: Buffer): Array<Record<string, string>> {
  const [header, ...rows] = readRows(body);
  const names = header?.cells.map(memberOf) ?? [];
  const unknown = names.find(
    (name, at) => !(columns as readonly string[]).includes(name) || names.indexOf(name) !== at,
  );
  if (unknown !== undefined || !names.includes("email"))
    throw malformed(
      `The first line names the columns, each once: email, and any of ${columns.slice(1).join(", ")}.`,
    );
  return rows.map(({ line, cells }) => {
    if (cells.slice(names.length).some((cell) => cell !== ""))
      throw malformed(`Line ${line} has more cells than there are columns.`);
    return Object.fromEntries(names.flatMap((name, at) => (cells[at] ? [[name, cells[at]]] : [])));
  });
}

function readRows(body: Buffer): CsvRow[] {
  try {
    return parseCsv(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    if (error instanceof MalformedCsv)
      throw malformed(`Line ${error.line} has a quoted cell that is malformed.`);
    if (error instanceof TypeError) throw malformed("The body is not UTF-8.");
    throw error;
  }
}
