/** Runs the program that a quickstart page shows, in a temporary folder. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { guardProcess } from "../../../../e2e/support/process-guard.ts";
import { collect } from "./command-line.ts";
import type { TestPage } from "./fakes/browser.ts";
import { nodeEnvironment } from "./node-environment.ts";
import { plain } from "./probes/console-browser.ts";

export interface QuickstartProgram {
  readonly folder: string;
  /** Runs lines of a shell to their end. @returns what they wrote */
  shell(lines: string): Promise<string>;
  /** Starts Node with these arguments. */
  start(args: readonly string[]): RunningProgram;
  remove(): Promise<void>;
}

export interface RunningProgram {
  output(): string;
  stop(): Promise<void>;
}

/** The installed packages of this repository stand in for what `npm install` brings. */
const packages = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

/** @param files by name: ids of the page's snippets, or `=` and a text */
export async function quickstartProgram(
  page: Pick<TestPage, "body">,
  files: Readonly<Record<string, string>>,
): Promise<QuickstartProgram> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-shown-"));
  await symlink(packages, path.join(folder, "node_modules"));
  for (const [name, id] of Object.entries(files))
    await writeFile(path.join(folder, name), id.startsWith("=") ? id.slice(1) : snippetOf(page, id));
  const begin = (command: string, args: readonly string[]) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: nodeEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    guardProcess(child);
    const { out, err } = collect(child);
    const ended = once(child, "close");
    return { child, ended, output: () => out() + err() };
  };
  return {
    folder,
    shell: async (lines) => {
      const { ended, output } = begin("/bin/sh", ["-c", lines]);
      await ended;
      return output();
    },
    start: (args) => {
      const { child, ended, output } = begin(process.execPath, args);
      return {
        output,
        stop: async () => {
          child.kill("SIGKILL");
          await ended;
        },
      };
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** The lines of one snippet. @throws when the page has none of this id */
export function snippetOf({ body }: Pick<TestPage, "body">, id: string): string {
  const lines = new RegExp(`<code id="${id}">([\\s\\S]*?)</code>`).exec(body)?.[1];
  if (lines === undefined) throw new Error(`the page has no ${id}`);
  return plain(lines);
}
