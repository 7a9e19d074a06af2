/** What npm's own tools and a CommonJS application say of built packages. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = path.join(import.meta.dirname, "..", "..");
const tool = (name: string): string => path.join(repository, "node_modules", ".bin", name);
type Failed = { stdout: string; stderr: string };

/** publint: whether entries, files and fields of a package fit together. */
export async function assertPublishable(dist: string): Promise<void> {
  await run(process.execPath, [tool("publint"), dist, "--strict"]).catch(({ stdout }: Failed) =>
    assert.fail(`${dist}: ${stdout}`),
  );
}

/** attw: whether ES modules and CommonJS find the types that fit what they load. @param modules behind a pattern, which it doesn't follow */
export async function assertTyped(tarball: string, modules: readonly string[] = []): Promise<void> {
  const included = modules.length === 0 ? [] : ["--include-entrypoints", ...modules];
  const options = ["--profile", "node16", "--format", "ascii", "--no-color"];
  await run(process.execPath, [tool("attw"), tarball, ...options, ...included]).catch(({ stdout }: Failed) =>
    assert.fail(`${tarball}: ${stdout}`),
  );
}

const commonJsApplication = `
import { none, type Principal, SignetError } from "@signet/client-sdk";
import { managementClient } from "@signet/client-sdk/management";
import { newUuid } from "@signet/protocol/uuid";

export const names: Array<Principal["subject"]> = [];
const error: SignetError | undefined = undefined;
console.log(typeof none, typeof managementClient, newUuid().length, error);
`;

/** Compiles (\`node16\`, CommonJS, declarations checked too) and runs it. @param folder that both packages are installed in */
export async function runCommonJsApplication(folder: string): Promise<string> {
  const place = path.join(folder, "commonjs");
  await mkdir(place);
  await writeFile(path.join(place, "package.json"), '{ "type": "commonjs" }\n');
  await writeFile(path.join(place, "application.ts"), commonJsApplication);
  const compilerOptions = {
    strict: true,
    target: "es2022",
    module: "node16",
    lib: ["es2022", "dom", "dom.iterable"],
    types: ["node"],
    typeRoots: [path.join(repository, "node_modules", "@types")],
    skipLibCheck: false,
  };
  const configuration = { compilerOptions, files: ["application.ts"] };
  await writeFile(path.join(place, "tsconfig.json"), JSON.stringify(configuration));
  const compiler = path.join(repository, "e2e", "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [compiler, "-p", place]).catch(({ stdout }: Failed) => assert.fail(stdout));
  const program = path.join(place, "application.js");
  assert.match(await readFile(program, "utf8"), /require\("@signet\/client-sdk"\)/);
  return (await run(process.execPath, [program])).stdout;
}

/** Where a lock file and what is installed differ: a line for each package. */
export async function differencesFromShrinkwrap(folder: string): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(path.join(folder, "npm-shrinkwrap.json"), "utf8")) as {
    packages: Record<string, { version: string; optional?: boolean }>;
  };
  const wanted = Object.entries(packages).filter(([place]) => place !== "");
  const compared = wanted.map(async ([place, { version, optional = false }]) => {
    const manifest = await readFile(path.join(folder, place, "package.json"), "utf8").catch(() => undefined);
    const found = manifest === undefined ? "nothing" : (JSON.parse(manifest) as { version: string }).version;
    return found === version || (optional && manifest === undefined)
      ? []
      : [`${place}: ${version}, not ${found}`];
  });
  return (await Promise.all(compared)).flat();
}
