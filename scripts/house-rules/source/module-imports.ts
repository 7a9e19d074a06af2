import path from "node:path";
import type { SourceFile } from "../../source-files.ts";
import { lineAt } from "../fault.ts";
import { codeText } from "./code-text.ts";

/** One `import`, `export … from` or `import()` of a file. `target` is the repository file it names, if it names one. */
export type ModuleImport = {
  specifier: string;
  line: number;
  isTypeOnly: boolean;
  target: string | undefined;
};

// Both run on codeText, in which the specifier between the quotes is blank.
const staticImport = /\b(?:import|export)(\s+type\b)?(?:[\w\s{},*$]*?\bfrom)?\s*(["'])( *)\2/g;
const dynamicImport = /\bimport\s*\(()\s*(["'])( *)\2/g;

/** All imports of a file, in the order of its text; a type-only one is one that Node never loads. */
export function listImports(file: SourceFile): ModuleImport[] {
  const code = codeText(file.text);
  const imports: ModuleImport[] = [];
  for (const match of [...code.matchAll(staticImport), ...code.matchAll(dynamicImport)]) {
    const end = match.index + match[0].length - 1;
    const specifier = file.text.slice(end - (match[3] ?? "").length, end);
    const line = lineAt(file.text, end);
    imports.push({ specifier, line, isTypeOnly: Boolean(match[1]), target: targetOf(file.path, specifier) });
  }
  return imports.sort((a, b) => a.line - b.line);
}

function targetOf(importer: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(importer), specifier);
  const workspace = /^@signet\/([^/]+)\/(.+)$/.exec(specifier);
  return workspace ? `packages/${workspace[1]}/src/${workspace[2]}.ts` : undefined;
}

/** `listImports` of every TypeScript file, by path; found once for all rules that are given the same files. */
export function importsByFile(files: SourceFile[]): ReadonlyMap<string, ModuleImport[]> {
  const known = found.get(files);
  if (known) return known;
  const scripts = files.filter((file) => file.path.endsWith(".ts"));
  const imports = new Map(scripts.map((file) => [file.path, listImports(file)]));
  found.set(files, imports);
  return imports;
}

const found = new Map<readonly SourceFile[], ReadonlyMap<string, ModuleImport[]>>();
