// `npm start` and `npm run signet`: the server and its command line from one bundle (bundle.ts), which is made anew when a source
// has changed; from the sources, where none can be made. Plain JavaScript: what strips types costs 20 MB of memory.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runScript } from "./compiled-script.mjs";
import { nodeFault } from "./required-node.mjs";
import { stackOfSources } from "./source-positions.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// Beside the libraries, which the bundle finds from there as the sources do.
const folder = path.join(root, "node_modules", ".cache", "signet");
const entry = path.join(root, "packages", "server", "src", "main.ts");

const fault = nodeFault(process.version);
if (fault !== undefined) {
  console.error(fault);
  process.exit(1);
}

const name = currentBundle() ?? (await makeBundle());
if (name === undefined) await import("../packages/server/src/main.ts");
else {
  const bundle = path.join(folder, name);
  Error.prepareStackTrace = stackOfSources(bundle);
  const args = process.argv.slice(2);
  // Other commands use little of it.
  const kept = path.join(bundle, args[0] === "start" ? "compiled-server" : "compiled-commands");
  const { runProgram } = runScript(path.join(bundle, "program.js"), { from: entry, kept });
  process.exitCode = await runProgram(args);
}

/** @returns {string | undefined} its name, if every source, the libraries and Node are as they were when it was made */
function currentBundle() {
  try {
    const made = JSON.parse(readFileSync(path.join(folder, "current.json"), "utf8"));
    const isSame = ([file, modifiedMs, size]) => {
      const now = statSync(file);
      return now.mtimeMs === modifiedMs && now.size === size;
    };
    const isCurrent = made.root === root && made.node === process.version && made.seen.every(isSame);
    statSync(path.join(folder, made.name, "program.js"));
    return isCurrent ? made.name : undefined;
  } catch {
    return undefined;
  }
}

/** @returns {Promise<string | undefined>} nothing where the folder can't be written to, or esbuild has no program for the machine */
async function makeBundle() {
  try {
    const bundle = await import("./bundle.ts");
    return await bundle.makeBundle(folder);
  } catch (error) {
    console.error(
      `Running the sources, which start more slowly: ${error instanceof Error ? error.message : error}`,
    );
    return undefined;
  }
}
