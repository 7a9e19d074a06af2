/** CSV for spreadsheets: RFC 4180 §2, with formulas made harmless. */

/**
 * Formula prefixes at the start of a cell (OWASP, CSV Injection). With semicolons, tabs or line ends as separators a
 * spreadsheet sees cells within ours, whose start has no quote.
 */
const FORMULA = /(^(?=[\t\r\n])|(?:^|[;\t\r\n])["' ]*(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]))/g;

function csvCell(text: string): string {
  const safe = text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;
