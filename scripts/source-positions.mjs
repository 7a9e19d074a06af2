// Stack traces of a bundle name its sources. Node's own --enable-source-maps keeps every map in memory from the start (50 MB), and
// takes seconds to read one, in which a server answers nobody; here a table (source-table.ts) is read when a stack is, and forgotten
// after a while.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const KEEP_MS = 30_000;
/** As in source-table.ts. */
const FIELDS = 5;

/**
 * @param {string} folder of a bundle with its tables
 * @returns {(error: unknown, sites: readonly NodeJS.CallSite[]) => string} for `Error.prepareStackTrace`
 */
export function stackOfSources(folder) {
  const tables = new Map();
  const tableOf = (file) => {
    if (tables.size === 0) setTimeout(() => tables.clear(), KEEP_MS).unref();
    if (!tables.has(file)) tables.set(file, readTable(file));
    return tables.get(file);
  };
  const address = pathToFileURL(folder).href;
  const inSource = (site) => {
    const text = String(site);
    if (!text.includes(address)) return text;
    return text.replace(/file:\/\/[^\s()]+?\.js:\d+:\d+/, (place) => {
      const [, uri, line, column] = /^(.*):(\d+):(\d+)$/.exec(place);
      const file = fileURLToPath(uri);
      const found = findPosition(tableOf(file), Number(line) - 1, Number(column) - 1);
      if (found === undefined) return place;
      return `${path.resolve(path.dirname(file), found.source)}:${found.line + 1}:${found.column + 1}`;
    });
  };
  return (error, sites) => [titleOf(error), ...sites.map((site) => `    at ${inSource(site)}`)].join("\n");
}

function titleOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "<error>";
  }
}

function readTable(file) {
  try {
    const sources = JSON.parse(readFileSync(`${file}.sources`, "utf8"));
    const { buffer, byteOffset, byteLength } = readFileSync(`${file}.positions`);
    return { sources, rows: new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength)) };
  } catch {
    return undefined;
  }
}

/**
 * The last row that does not begin after the position, on its line.
 * @param {{ sources: readonly string[], rows: Int32Array } | undefined} table
 */
function findPosition(table, line, column) {
  if (table === undefined) return undefined;
  const { rows, sources } = table;
  let [low, high] = [0, rows.length / FIELDS];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = middle * FIELDS;
    if (rows[at] < line || (rows[at] === line && rows[at + 1] <= column)) low = middle + 1;
    else high = middle;
  }
  const [foundLine, , source, sourceLine, sourceColumn] = rows.subarray((low - 1) * FIELDS, low * FIELDS);
  if (low === 0 || foundLine !== line || source === -1) return undefined;
  return { source: sources[source], line: sourceLine, column: sourceColumn };
}
