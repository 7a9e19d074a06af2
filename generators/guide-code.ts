/** The code blocks of Markdown files, and whether they compile: each is a module of its own, as a reader would paste it. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.join(import.meta.dirname, "..");

export interface CodeBlock {
  /** Of the first line of the code, from 1. */
  readonly line: number;
  readonly code: string;
}

/** @param language what stands behind the opening fence */
export function codeBlocks(markdown: string, language: string): CodeBlock[] {
  const fence = /^```(\w*)\n([\s\S]*?)^```$/gm;
  return [...markdown.matchAll(fence)].flatMap(([, name, code = ""], index, all) => {
    const before = markdown.slice(0, all[index]?.index);
    return name === language ? [{ line: before.split("\n").length + 1, code }] : [];
  });
}

export interface Guide {
  readonly name: string;
  readonly markdown: string;
}

/**
 * Compiles every `ts` block against the sources, in one run and as strictly as they are themselves.
 *
 * @returns what the compiler says, with the guide and the line in it
 */
export async function guideFaults(guides: readonly Guide[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-guides-"));
  try {
    await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    await mkdir(path.join(folder, "code"));
    for (const { name, markdown } of guides)
      for (const { line, code } of codeBlocks(markdown, "ts")) {
        // So that lines are those of the guide; and a module even without imports.
        const module = `${"\n".repeat(line - 1)}${code}export {};\n`;
        await writeFile(path.join(folder, "code", `${name}-${line}.ts`), module);
      }
    await writeFile(path.join(folder, "package.json"), '{"type":"module"}');
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(configuration));
    return await compilerFaults(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const configuration = {
  extends: path.join(root, "tsconfig.json"),
  compilerOptions: { preserveSymlinks: false },
  // What Next.js and React are for this repository, which has their types as declarations of its own.
  include: ["code/*.ts", path.join(root, "packages/*/src/*-modules.d.ts")],
};

async function compilerFaults(folder: string): Promise<string[]> {
  const compiler = path.join(root, "node_modules", ".bin", "tsc");
  try {
    await promisify(execFile)(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
      cwd: folder,
    });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return stdout.trim().split("\n");
  }
}
