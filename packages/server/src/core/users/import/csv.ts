/** CSV as spreadsheets write it (RFC 4180): quotes, a byte order mark, and commas, semicolons or tabs between the cells. */

export interface CsvRow {
  /** Where it begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A quote that is never closed, or text after a closing one. */
export class MalformedCsv extends Error {
  readonly line: number;
  constructor(line: number) {
    super("a quoted cell is malformed");
    this.name = "MalformedCsv";
    this.line = line;
  }
}

/** The one that the header has most of; a list of one column has none. */
function separatorOf(text: string): string {
  const header = text.slice(0, /[\r\n]|$/.exec(text)?.index);
  const count = (separator: string) => header.split(separator).length;
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
}

/** Without empty rows. @throws MalformedCsv */
export function parseCsv(input: string): CsvRow[] {
  const text = input.replace(/^\uFEFF/, "");
  // Reads one cell from where the last one ended: no pattern looks twice at a character.
  const separator = separatorOf(text);
  const plain = new RegExp(`[^${separator}\\r\\n]*`, "y");
  const quoted = /"([^"]*(?:""[^"]*)*)"/y;
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let at = 0;
  let line = 1;
  let begins = 1;
  while (at <= text.length) {
    const pattern = text[at] === '"' ? quoted : plain;
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) throw new MalformedCsv(line);
    const cell = pattern === quoted ? (found[1] ?? "").replaceAll('""', '"') : found[0];
    cells.push(cell.trim());
    line += cell.split(/\r\n|\r|\n/).length - 1;
    at = pattern.lastIndex;
    const next = text[at];
    if (next === separator) {
      at++;
      continue;
    }
    if (next !== undefined && next !== "\r" && next !== "\n") throw new MalformedCsv(line);
    if (cells.some((one) => one !== "")) rows.push({ line: begins, cells });
    cells = [];
    at += next === "\r" && text[at + 1] === "\n" ? 2 : 1;
    begins = ++line;
  }
  return rows;
}
