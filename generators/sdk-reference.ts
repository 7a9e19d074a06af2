/**
 * `npm run generate:reference`: docs/sdk/reference.md and its pages, from the docstrings of the client SDK's public
 * entries (`exports` of its package.json). What is not exported there is not public and has no page.
 */
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { Application, type TypeDocOptions } from "typedoc";

const root = path.join(import.meta.dirname, "..");
const sdk = path.join(root, "packages", "client-sdk");
export const referenceFolder = path.join(root, "docs", "sdk", "reference");

/** Writes the pages. @throws Error with what TypeDoc has to say, of a docstring that names what is not there too */
export async function writeReference(folder: string): Promise<void> {
  const { exports } = JSON.parse(await readFile(path.join(sdk, "package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  const entryPoints = Object.values(exports).map((file) => path.join(sdk, file));
  const application = await Application.bootstrapWithPlugins(options(entryPoints, folder));
  const project = await application.convert();
  if (!project || application.logger.hasErrors()) throw new Error("the sources do not compile");
  application.validate(project);
  if (application.logger.hasWarnings()) throw new Error("a docstring is at fault: see above");
  await application.generateOutputs(project);
}

const options = (entryPoints: string[], folder: string): TypeDocOptions & Record<string, unknown> => ({
  entryPoints,
  tsconfig: path.join(import.meta.dirname, "sdk-reference.tsconfig.json"),
  basePath: path.join(sdk, "src"),
  plugin: ["typedoc-plugin-markdown"],
  outputs: [{ name: "markdown", path: folder }],
  name: "Client SDK reference",
  readme: "none",
  router: "module",
  entryFileName: "README",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  skipErrorChecking: true,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeDeclarationFormat: "table",
  gitRevision: "main",
  sort: ["source-order"],
  tableColumnSettings: { hideModifiers: true },
  logLevel: "Warn",
});

if (process.argv[1] === import.meta.filename) {
  await rm(referenceFolder, { recursive: true, force: true });
  await writeReference(referenceFolder);
}
