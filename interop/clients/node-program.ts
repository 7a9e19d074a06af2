/** Node programs with client libraries that `.ci/run` installs (npm/package.json), beside the printed files. */
import { existsSync, readFileSync } from "node:fs";
import { copyFile, symlink } from "node:fs/promises";
import path from "node:path";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";

const sources = path.join(import.meta.dirname, "npm");
const installed = path.join(keptFolder("npm"), "installed.json");

/** `.ci/run` writes what it has installed when it is done. */
export const missingNpmClients = (): string | false =>
  (!existsSync(installed) ||
    readFileSync(installed, "utf8") !== readFileSync(path.join(sources, "package-lock.json"), "utf8")) &&
  "npm/package.json is not installed";

/** @param ours a program of npm/; without it, the printed app.mjs is a program itself */
export async function startNodeProgram(
  { folder, port }: StackFiles,
  ours?: `${"authjs" | "grant" | "mcp" | "passport" | "passport-openidconnect"}.mjs`,
): Promise<RunningProgram> {
  const program = ours ?? "app.mjs";
  for (const file of ours ? [ours, "printed-values.mjs"] : [])
    await copyFile(path.join(sources, file), path.join(folder, file));
  await symlink(path.join(keptFolder("npm"), "node_modules"), path.join(folder, "node_modules"));
  const command = [process.execPath, "--env-file-if-exists=.env.local", program, String(port)] as const;
  return startProgram(program, command, { port, folder });
}
