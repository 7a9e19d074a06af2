/**
 * `npm run generate:reference`: docs/sdk/reference, a page for each entry of the package.json of what applications use, made by
 * TypeDoc from the sources and their docstrings. What no entry exports is not public and has no place there.
 */
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { Application, type TypeDocOptions } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";

const root = path.join(import.meta.dirname, "..");
const packages = ["client-sdk", "nextjs", "react", "testing"].map((name) =>
  path.join(root, "packages", name),
);
export const referenceFolder = path.join(root, "docs", "sdk", "reference");

/**
 * Writes the pages.
 *
 * @throws Error after naming what is exported without a docstring, or has a type in it that nobody can import
 */
export async function writeReference(folder: string): Promise<void> {
  const entryPoints = (await Promise.all(packages.map(entriesOf))).flat();
  const application = await Application.bootstrapWithPlugins({ ...options, entryPoints }, []);
  application.options.setValue("outputs", [{ name: "markdown", path: folder }]);
  const project = await application.convert();
  if (project) application.validate(project);
  const { logger } = application;
  if (!project || logger.hasErrors() || logger.hasWarnings()) throw new Error("see above");
  await application.generateOutputs(project);
}

async function entriesOf(folder: string): Promise<string[]> {
  const { exports } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  return Object.values(exports).map((file) => path.join(folder, file));
}

/** Records of API v1 and the table of its calls: `/docs` of a service describes them, as its version has them. */
const SERVICE_TYPES = ["generated/*.ts", "api-calls.ts"];

const options: TypeDocOptions & PluginOptions = {
  tsconfig: path.join(import.meta.dirname, "sdk-reference.tsconfig.json"),
  plugin: ["typedoc-plugin-markdown"],
  name: "Client SDK reference",
  readme: "none",
  router: "module",
  entryFileName: "README",
  sort: ["kind", "source-order"],
  kindSortOrder: ["Function", "Class", "Interface", "TypeAlias", "Variable"],
  requiredToBeDocumented: ["Class", "Function", "Interface"],
  exclude: SERVICE_TYPES.map((name) => `**/client-sdk/src/api/${name}`),
  validation: { notExported: true, invalidLink: true, notDocumented: true },
  // `npm run check` has looked at the types.
  skipErrorChecking: true,
  excludeExternals: true,
  disableSources: true,
  disableGit: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  expandParameters: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  tableColumnSettings: { hideModifiers: true },
  logLevel: "Warn",
};

if (import.meta.main) {
  await rm(referenceFolder, { recursive: true, force: true });
  await writeReference(referenceFolder);
}
