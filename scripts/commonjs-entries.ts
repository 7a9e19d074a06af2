/**
 * Lets CommonJS take a built package of ES modules: `cjs/` has, for each module, a file that requires the module itself, so that
 * an application has it once, and declarations that a compiler in CommonJS mode (`node16`) accepts.
 */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { listFiles } from "./source-files.ts";

/** Of a package's dist; its own package.json makes what is in it CommonJS. */
export const COMMONJS_FOLDER = "cjs";

export async function writeCommonJsEntries(dist: string): Promise<void> {
  const folder = path.join(dist, COMMONJS_FOLDER);
  const files = await listFiles(dist, [".js", ".d.ts"]);
  for (const file of files) {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    if (file.endsWith(".js")) await writeFile(target, requireOf(file));
    else {
      await cp(path.join(dist, file), target);
      await writeFile(target, inCommonJs(await readFile(target, "utf8")));
    }
  }
  await writeFile(path.join(folder, "package.json"), '{ "type": "commonjs" }\n');
}

/** Node 20.19, 22.12 and later require ES modules. */
function requireOf(file: string): string {
  const module = path.posix.relative(path.posix.join(COMMONJS_FOLDER, path.posix.dirname(file)), file);
  return `"use strict";\nmodule.exports = require(${JSON.stringify(module)});\n`;
}

const typeImport = /^import (?:type )?\{([^}]*)\} from "([^".:][^":]*)";$/gm;
const inlineImport = /\bimport\("([^".:][^":]*)"\)/g;
const AS_MODULE = '{ "resolution-mode": "import" }';

/** The types of ES modules of others are asked for as such. Own ones are beside the file. */
export const inCommonJs = (declarations: string): string =>
  declarations
    .replace(typeImport, (_, names: string, module: string) => {
      const types = names.replaceAll(/\btype (?=\w)/g, "").trim();
      return `import type { ${types} } from "${module}" with ${AS_MODULE};`;
    })
    .replace(inlineImport, (_, module: string) => `import("${module}", { with: ${AS_MODULE} })`);
