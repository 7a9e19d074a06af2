// Stack traces of a bundle name its sources. Node's own --enable-source-maps keeps every map in memory from the start (50 MB);
// here one is read when a stack is, and forgotten after a while.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const KEEP_MS = 30_000;

/**
 * @param {string} folder of a bundle with its maps
 * @returns {(error: unknown, sites: readonly NodeJS.CallSite[]) => string} for `Error.prepareStackTrace`
 */
export function stackOfSources(folder) {
  const maps = new Map();
  const mapOf = (file) => {
    if (maps.size === 0) setTimeout(() => maps.clear(), KEEP_MS).unref();
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
    return maps.get(file);
  };
  const address = pathToFileURL(folder).href;
  const inSource = (site) => {
    const text = String(site);
    if (!text.includes(address)) return text;
    return text.replace(/file:\/\/[^\s()]+?\.js:\d+:\d+/, (place) => {
      const [, uri, line, column] = /^(.*):(\d+):(\d+)$/.exec(place);
      const file = fileURLToPath(uri);
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry?.originalSource === undefined) return place;
      const source = path.resolve(path.dirname(file), entry.originalSource);
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
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

function readMap(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}
