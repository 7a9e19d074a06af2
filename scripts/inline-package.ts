/** Puts what a built package uses of another one of this repository among its own files, so that it does not depend on it. */
import { existsSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { renameImports, specifiersIn } from "./module-specifiers.ts";

/**
 * Copies the modules of `own` that `dist` imports, with what they import themselves, into a folder of the package's short
 * name, and has the imports point there. Both folders are built.
 *
 * @throws Error when a module is not there, or `dist` has a folder of that name already
 */
export async function inlinePackage(
  dist: string,
  own: { readonly name: string; readonly dist: string },
): Promise<void> {
  const folder = own.name.slice(own.name.indexOf("/") + 1);
  if (existsSync(path.join(dist, folder))) throw new Error(`${folder}/ is there already, in ${dist}`);
  const wanted = new Set<string>();
  await renameImports(dist, [".js", ".d.ts"], (specifier, file) => {
    if (!specifier.startsWith(`${own.name}/`)) return specifier;
    const module = specifier.slice(own.name.length + 1);
    wanted.add(module);
    const target = path.posix.relative(path.posix.dirname(file), `${folder}/${module}.js`);
    return target.startsWith(".") ? target : `./${target}`;
  });
  // What is added while the loop runs is visited as well.
  for (const module of wanted)
    for (const ending of [".js", ".d.ts"]) {
      const source = path.join(own.dist, module + ending);
      const target = path.join(dist, folder, module + ending);
      await mkdir(path.dirname(target), { recursive: true });
      await cp(source, target);
      for (const specifier of specifiersIn(await readFile(source, "utf8")))
        if (specifier.startsWith("."))
          wanted.add(path.posix.join(path.posix.dirname(module), specifier).replace(/\.js$/, ""));
    }
}
