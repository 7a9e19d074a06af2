// `npm run check`: lint, format, types and house rules, side by side. Prints every fault as `file:line rule: message`.
// `npm run check -- --changed` lints what has changed since the last commit alone, which is most of the time; `--changed=main`, since `main`.
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { barrels } from "./house-rules/barrels.ts";
import { documentFaults } from "./house-rules/documents.ts";
import { environmentPlace } from "./house-rules/environment-place.ts";
import type { Fault, HouseRule } from "./house-rules/fault.ts";
import { fileHeader } from "./house-rules/file-header.ts";
import { fileLength } from "./house-rules/file-length.ts";
import { importCycles } from "./house-rules/import-cycles.ts";
import { importDirection } from "./house-rules/import-direction.ts";
import { completeConditions, kyselyPlace } from "./house-rules/kysely-place.ts";
import { logicalProperties } from "./house-rules/logical-properties.ts";
import { glossaryNames } from "./house-rules/lost-words.ts";
import { type RegisteredRoute, routeMapFaults, routeMapFile } from "./house-rules/route-map.ts";
import { textFaults } from "./house-rules/texts.ts";
import { unfinishedMarks } from "./house-rules/unfinished-marks.ts";
import { readLocaleFiles } from "./locale-files.ts";
import { runCommand } from "./run-command.ts";
import { listFiles, readFiles, repositoryRoot } from "./source-files.ts";
import { changedFiles } from "./test-run/changed-tests.ts";
import { biomeFaults, compilerFaults } from "./tool-reports.ts";

const houseRules: HouseRule[] = [
  importDirection,
  importCycles,
  kyselyPlace,
  completeConditions,
  environmentPlace,
  barrels,
  fileHeader,
  fileLength,
  unfinishedMarks,
  glossaryNames,
  logicalProperties,
];

/**
 * Runs every check, prints the faults sorted by place, and tells whether there are none.
 * @param linted files to lint; without them all.
 */
export async function check(linted: readonly string[] = ["."]): Promise<boolean> {
  const started = performance.now();
  const faults = (
    await Promise.all([lintFaults(linted), typeFaults(), routeFaults(), houseRuleFaults()])
  ).flat();
  faults.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  for (const { file, line, rule, message } of faults) console.log(`${file}:${line} ${rule}: ${message}`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`check: ${faults.length === 1 ? "1 fault" : `${faults.length || "no"} faults`} (${seconds} s)`);
  return faults.length === 0;
}

async function lintFaults(files: readonly string[]): Promise<Fault[]> {
  if (files.length === 0) return [];
  // Warnings count, as nobody reads them twice. What Biome calls information is a matter of taste and is left out.
  const options = ["check", "--reporter=gitlab", "--diagnostic-level=warn", "--error-on-warnings"];
  return biomeFaults(
    await runTool("biome", [...options, "--max-diagnostics=none", "--no-errors-on-unmatched", ...files]),
  );
}

/** What the compiler knows of files that have not changed; `npm ci` clears it. */
const typesFile = path.join(repositoryRoot, "node_modules", ".cache", "check.tsbuildinfo");

/** In one thread: more would each work out the types of the libraries anew, which costs two cores more than it gains. */
async function typeFaults(): Promise<Fault[]> {
  const options = ["--pretty", "false", "--singleThreaded", "--incremental", "--tsBuildInfoFile", typesFile];
  return compilerFaults(await runTool("tsc", ["-p", ".", ...options]));
}

function runTool(name: string, options: string[]) {
  const tool = path.join(repositoryRoot, "node_modules", ".bin", name);
  return runCommand(process.execPath, [tool, ...options], { cwd: repositoryRoot });
}

async function houseRuleFaults(): Promise<Fault[]> {
  const files = await readFiles(repositoryRoot, [".ts", ".mjs", ".js", ".css"]);
  const documents = await readFiles(repositoryRoot, [".md"]);
  return [
    ...houseRules.flatMap((rule) => rule(files)),
    ...textFaults(await readLocaleFiles(), files),
    ...documentFaults(await listFiles(repositoryRoot, [""]), documents),
  ];
}

async function routeFaults(): Promise<Fault[]> {
  const script = path.join(repositoryRoot, "scripts", "list-routes.ts");
  const result = await runCommand(process.execPath, [script], { cwd: repositoryRoot, timeoutMs: 120_000 });
  if (result.exitCode !== 0) {
    const reason =
      /^\w*Error\b.*$/m.exec(result.stderr)?.[0] ?? (result.stderr.trim() || "it took over two minutes");
    const message = `listRoutes() gives no answer: ${reason}`;
    return [{ file: "packages/server/src/testing/list-routes.ts", line: 1, rule: "route-map", message }];
  }
  const routes = JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "") as RegisteredRoute[];
  const mapFile = path.join(repositoryRoot, routeMapFile);
  const mapText = existsSync(mapFile) ? await readFile(mapFile, "utf8") : "";
  return routeMapFaults(mapText, routes, (file) => {
    const place = path.join(repositoryRoot, file);
    return file !== "" && existsSync(place) ? readFileSync(place, "utf8") : undefined;
  });
}

/** What of the repository the command's parameters want linted. */
async function lintedFiles(parameters: readonly string[]): Promise<string[]> {
  const changed = parameters
    .map((parameter) => /^--changed(?:=(.+))?$/.exec(parameter))
    .find((match) => match !== null);
  if (!changed) return ["."];
  const files = await changedFiles(changed[1]);
  return files.filter((file) => existsSync(path.join(repositoryRoot, file)));
}

if (import.meta.main) process.exitCode = (await check(await lintedFiles(process.argv.slice(2)))) ? 0 : 1;
