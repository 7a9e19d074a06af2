// Prints the server's routes as JSON. A process of its own, so that what building the server leaves open (a database, timers)
// ends with it.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./source-files.ts";

const module = pathToFileURL(path.join(repositoryRoot, "packages/server/src/testing/list-routes.ts")).href;
const { listRoutes } = (await import(module)) as {
  listRoutes: () => Promise<{ method: string; path: string }[]>;
};
process.stdout.write(`\n${JSON.stringify(await listRoutes())}\n`, () => process.exit(0));
