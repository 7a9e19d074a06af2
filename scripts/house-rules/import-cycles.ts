import type { Fault, HouseRule } from "./fault.ts";
import { importsByFile, type ModuleImport } from "./source/module-imports.ts";

/** No file imports itself through others, not even for a type. One fault per cycle, at the import that closes it. */
export const importCycles: HouseRule = (files) => {
  const importsOf = importsByFile(files);
  const faults: Fault[] = [];
  const finished = new Set<string>();
  const open: string[] = [];

  function visit(file: string, line: number): void {
    const start = open.indexOf(file);
    if (start !== -1) {
      const importer = open.at(-1) ?? file;
      const message = [...open.slice(start), file].join(" -> ");
      faults.push({ file: importer, line, rule: "import-cycle", message });
      return;
    }
    if (finished.has(file)) return;
    open.push(file);
    for (const { target, line: at } of knownImports(importsOf, file)) visit(target, at);
    open.pop();
    finished.add(file);
  }

  for (const file of importsOf.keys()) visit(file, 1);
  return faults;
};

function knownImports(
  importsOf: ReadonlyMap<string, ModuleImport[]>,
  file: string,
): { target: string; line: number }[] {
  const imports = importsOf.get(file) ?? [];
  return imports.flatMap(({ target, line }) => (target && importsOf.has(target) ? [{ target, line }] : []));
}
