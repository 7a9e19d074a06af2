/** The fields of a package.json that the build reads or writes. */
export type Manifest = {
  name: string;
  version: string;
  bin?: Record<string, string>;
  exports?: Record<string, string>;
  dependencies?: Record<string, string>;
  /** Those of `dependencies` whose files the built package has among its own, as far as it uses them. */
  inlineDependencies?: string[];
  [other: string]: unknown;
};

const ownScope = "@signet/";
// What only this repository needs; the rest (description, license, engines …) goes along as it is.
const leftOut = new Set([
  "devDependencies",
  "scripts",
  "private",
  "exports",
  "bin",
  "dependencies",
  "inlineDependencies",
]);

/** Names of the repository's own packages that a package depends on. */
export function ownDependencies(manifest: Manifest): string[] {
  return Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith(ownScope));
}

/**
 * The package.json of a built package, for its `dist` folder: entries name the JavaScript beside it instead of
 * `src/*.ts`, and the repository's own packages travel inside, so that one tarball is enough to install it: as packages
 * (`bundled`) or as files of its own (`inlined`); what those depend on themselves, it depends on.
 */
export function publishableManifest(
  source: Manifest,
  bundled: Manifest[],
  inlined: Manifest[] = [],
): Record<string, unknown> {
  const fields = Object.entries(source).filter(([field]) => !leftOut.has(field));
  const own = new Set(inlined.map(({ name }) => name));
  const needed = Object.assign({}, ...[...bundled, ...inlined, source].map((one) => one.dependencies));
  const dependencies = Object.fromEntries(Object.entries(needed).filter(([name]) => !own.has(name)));
  const inside = Object.fromEntries(bundled.map(({ name, version }) => [name, version]));
  const exports = mapValues(source.exports, (file) => ({
    types: builtFile(file, ".d.ts"),
    default: builtFile(file, ".js"),
  }));
  return {
    ...Object.fromEntries(fields),
    ...(source.bin && { bin: mapValues(source.bin, (file) => builtFile(file, ".js")) }),
    exports: { ...exports, "./package.json": "./package.json" },
    dependencies: { ...dependencies, ...inside },
    ...(bundled.length > 0 && { bundleDependencies: bundled.map(({ name }) => name) }),
  };
}

/** `./src/main.ts` as it is called in `dist`: `./main.js`. */
function builtFile(file: string, ending: ".js" | ".d.ts"): string {
  return file.replace(/^\.\/src\//, "./").replace(/\.ts$/, ending);
}

function mapValues<From, To>(
  record: Record<string, From> = {},
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
