import { basename, dirname, join } from "node:path/posix";
import type { Fault } from "./fault.ts";

/** A route as Fastify registers it: `path` like `/oauth/:org/token`. */
export type RegisteredRoute = { method: string; path: string };

export const routeMapFile = "docs/spec-map.md";

/** Methods and a path of a table row, as the specification writes them, and the file that answers. */
type MappedRoute = {
  methods: string[];
  path: string;
  file: string;
  linkText: string | undefined;
  line: number;
};

const methodNames = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
// Fastify adds HEAD to every GET, and OPTIONS answers come from the CORS handling: neither is a row of the specification.
const ignoredMethods = new Set(["HEAD", "OPTIONS"]);

/**
 * Every route that the server registers has a row in docs/spec-map.md, every row is registered, and its file writes the
 * whole address as one literal, so that a search for it finds the file. Rows are compared with routes by their shape: what
 * a parameter is called does not matter.
 * @param readSource the text of a file; undefined when it is not there
 */
export function routeMapFaults(
  mapText: string,
  routes: RegisteredRoute[],
  readSource: (path: string) => string | undefined,
): Fault[] {
  const rows = readRouteMap(mapText);
  const mapped = new Set(rows.flatMap(({ methods, path }) => methods.map((method) => key(method, path))));
  const registered = new Map(routes.map(({ method, path }) => [key(method, path), path]));
  const faults: Fault[] = [];
  const report = (line: number, message: string) =>
    faults.push({ file: routeMapFile, line, rule: "route-map", message });
  for (const { methods, path, file, linkText, line } of rows) {
    const source = readSource(file);
    for (const method of methods) {
      const address = registered.get(key(method, path));
      if (!methodNames.has(method)) report(line, `${method} is not an HTTP method`);
      else if (address === undefined && !isIgnored(method))
        report(line, `no route is registered for ${method} ${path}`);
      else if (address !== undefined && source?.includes(`"${address}"`) === false)
        report(line, `${file} does not write the address "${address}"`);
    }
    if (source === undefined)
      report(line, file ? `${file} does not exist` : `${path}: the third cell must name a file`);
    else if (linkText !== undefined && linkText !== basename(file))
      report(line, `the link to ${file} is named ${linkText}`);
  }
  const unlisted = routes.filter(({ method, path }) => !isIgnored(method) && !mapped.has(key(method, path)));
  const names = new Set(
    unlisted.map(({ method, path }) => `${method.toUpperCase()} ${inSpecificationForm(path)}`),
  );
  for (const name of [...names].sort()) report(1, `${name} is registered and has no row`);
  return faults;
}

/** The table rows whose second cell lists paths; rows of other tables, headers and rulers are left alone. */
function readRouteMap(mapText: string): MappedRoute[] {
  const rows: MappedRoute[] = [];
  for (const [index, line] of mapText.split("\n").entries()) {
    const [before, methodCell = "", pathCell = "", fileCell = ""] = line.split("|").map(plainCell);
    if (before !== "" || !pathCell.startsWith("/")) continue;
    const methods = methodCell.split(/[,/\s]+/).map((method) => method.toUpperCase());
    const [, linkText, target] = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(fileCell) ?? [];
    const file = target === undefined ? fileCell : join(dirname(routeMapFile), target);
    for (const path of pathCell.split(", ")) rows.push({ methods, path, file, linkText, line: index + 1 });
  }
  return rows;
}

/** A cell without its quotes. */
function plainCell(cell: string): string {
  return cell.replaceAll("`", "").trim();
}

function isIgnored(method: string): boolean {
  return ignoredMethods.has(method.toUpperCase());
}

/** `/oauth/:org/token` as the specification writes it: `/oauth/{org}/token`. */
function inSpecificationForm(path: string): string {
  return path.replace(/:(\w+)(?:\([^)]*\))?(\??)/g, "{$1$2}");
}

function key(method: string, path: string): string {
  const shape = inSpecificationForm(path)
    .replace(/\{[^}]*\}/g, "{}")
    .replace(/(?<=.)\/$/, "");
  return `${method.toUpperCase()} ${shape}`;
}
