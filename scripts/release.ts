/**
 * `npm run release -- --repository URL`: builds the packages and has npm check what it would publish. With `--publish` it publishes
 * them with provenance, which only a CI that npm trusts can give (npm, "Generating provenance statements").
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.ts";
import type { BuiltManifest } from "./publishable-manifest.ts";
import { runCommand } from "./run-command.ts";
import { repositoryRoot } from "./source-files.ts";

/** What depends on none of the others is first. The runtime of the command-line programs travels inside them. */
export const releasedPackages = [
  "protocol",
  "client-sdk",
  "device-client",
  "signing-agent",
  "server",
  "testing",
  "react",
  "nextjs",
];

/** Of `npm publish`, in the folder of a built package. */
export const publishArguments = (dist: string, isPublished: boolean): string[] => [
  "publish",
  dist,
  "--access=public",
  "--ignore-scripts",
  ...(isPublished ? ["--provenance"] : ["--dry-run"]),
];

/** The repository that a provenance statement must agree with. */
export function withRepository(manifest: BuiltManifest, url: string): BuiltManifest {
  const directory = `packages/${manifest.name.slice("@signet/".length)}`;
  return {
    ...manifest,
    repository: { type: "git", url: `git+${url.replace(/(\.git)?$/, ".git")}`, directory },
  };
}

async function release(parameters: string[]): Promise<number> {
  const options = { repository: { type: "string" }, publish: { type: "boolean" } } as const;
  const { repository, publish = false } = parseArgs({ args: parameters, options }).values;
  if (repository === undefined || !/^https:\/\/[^/]+\/./.test(repository)) {
    console.error("--repository URL is required: the https address of this repository, for the provenance");
    return 2;
  }
  const built = await build({ hasDocumentation: true });
  for (const name of releasedPackages) {
    const dist = built.get(`@signet/${name}`) ?? "";
    const file = path.join(dist, "package.json");
    const manifest = JSON.parse(await readFile(file, "utf8")) as BuiltManifest;
    await writeFile(file, `${JSON.stringify(withRepository(manifest, repository), null, 2)}\n`);
    const { exitCode, stdout, stderr } = await runCommand("npm", publishArguments(dist, publish), {
      cwd: repositoryRoot,
    });
    console.log(`${stdout}${stderr}`);
    if (exitCode !== 0) return 1;
  }
  console.log(publish ? "Published." : "Nothing was published: --publish does.");
  return 0;
}

if (import.meta.main) process.exitCode = await release(process.argv.slice(2));
