/**
 * Which function of a store a statement is of: `tokens.findTokenFamily`. It is read from the stack when the statement's text is
 * compiled for the first time, and remembered by the text.
 */
import { basename } from "node:path";
import { storesInBundle } from "./stores-in-bundle.ts";

/** Texts; lists of values of many lengths could make more. */
const CAPACITY = 5_000;
const FRAMES = 40;
export const OTHER = "other";

/** Of the process, as prepared statements are. */
const names = new Map<string, string>();

/** Called while the function is on the stack. */
export function learnFunction(sql: string): void {
  if (!names.has(sql) && names.size < CAPACITY) names.set(sql, nameFromStack());
}

export const functionOf = (sql: string): string => names.get(sql) ?? OTHER;

function nameFromStack(): string {
  const sites = callSites();
  for (const find of storesInBundle ? [nameInBundle] : [nameInStore, nameInDb])
    for (const site of sites) {
      const name = find(site);
      if (name !== undefined) return name;
    }
  return OTHER;
}

function callSites(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.stackTraceLimit = FRAMES;
  const { stack } = new Error("for its stack");
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return stack as unknown as readonly NodeJS.CallSite[];
}

const nameInStore = (site: NodeJS.CallSite): string | undefined => nameIn(site, /\.store\.[jt]s$/);

/** What the database does for itself. */
const nameInDb = (site: NodeJS.CallSite): string | undefined =>
  nameIn(site, /[\\/]db[\\/](?!prepared\.|own-statements\.|observed[\\/])[\w-]+\.[jt]s$/);

function nameIn(site: NodeJS.CallSite, files: RegExp): string | undefined {
  const [file, name] = [site.getFileName() ?? "", site.getFunctionName()];
  return name !== null && files.test(file)
    ? `${basename(file).replace(/(\.store)?\.[jt]s$/, "")}.${name}`
    : undefined;
}

/** A bundle is one file; it numbers functions of the same name. */
function nameInBundle(site: NodeJS.CallSite): string | undefined {
  const name = site.getFunctionName() ?? "";
  for (const one of [name, name.replace(/\d+$/, "")]) {
    const store = storesInBundle?.[one];
    if (store !== undefined) return `${store}.${one}`;
  }
  return undefined;
}
