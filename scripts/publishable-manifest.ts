import { COMMONJS_FOLDER } from "./commonjs-entries.ts";

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

/** Of a built package. */
export interface BuiltManifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
  readonly [other: string]: unknown;
}

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
): BuiltManifest {
  const fields = Object.entries(source).filter(([field]) => !leftOut.has(field));
  const own = new Set(inlined.map(({ name }) => name));
  const needed: Record<string, string> = Object.assign(
    {},
    ...[...bundled, ...inlined, source].map((one) => one.dependencies),
  );
  const dependencies = Object.fromEntries(Object.entries(needed).filter(([name]) => !own.has(name)));
  const inside = Object.fromEntries(bundled.map(({ name, version }) => [name, version]));
  return {
    name: source.name,
    version: source.version,
    ...Object.fromEntries(fields),
    ...(source.bin && { bin: builtPrograms(source.bin) }),
    exports: builtEntries(source),
    dependencies: { ...dependencies, ...inside },
    ...(bundled.length > 0 && { bundleDependencies: bundled.map(({ name }) => name) }),
  };
}

/** Each begins with a file of its name that checks the version of Node (program-entry). */
const builtPrograms = (bin: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.keys(bin).map((name) => [name, `./${name}.cjs`]));

/** For ES modules and for CommonJS (commonjs-entries.ts). A program is run, not imported, but for entries that it names. */
function builtEntries({ bin, exports = {} }: Manifest): Record<string, unknown> {
  if (bin) return programEntries(exports);
  const entries = Object.entries(exports);
  const folder = `./${COMMONJS_FOLDER}/`;
  const built = entries.map(([name, file]) => {
    const [types, module] = [builtFile(file, ".d.ts"), builtFile(file, ".js")];
    const [ownTypes, required] = [types, module].map((one) => one.replace("./", folder));
    return [
      name,
      { import: { types, default: module }, require: { types: ownTypes, default: required } },
    ] as const;
  });
  const isOpen = entries.some(([name]) => name === "./*");
  return {
    ...Object.fromEntries(built),
    ...(isOpen && { [`${folder}*`]: null }),
    "./package.json": "./package.json",
  };
}

const programEntries = (exports: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(exports)
      .filter(([name]) => !name.includes("*"))
      .map(([name, file]) => [name, builtFile(file, ".js")]),
  ),
  "./package.json": "./package.json",
});

/** `./src/index.ts` as it is called in `dist`: `./index.js`. */
function builtFile(file: string, ending: ".js" | ".d.ts"): string {
  return file.replace(/^\.\/src\//, "./").replace(/\.ts$/, ending);
}
