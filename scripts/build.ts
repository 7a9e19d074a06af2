/**
 * `npm run build`: makes packages/<p>/dist of every package a folder that can be published or packed: JavaScript, types, assets and a
 * package.json of its own. `npm pack packages/server/dist` gives one tarball that installs without this repository.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { COMMONJS_FOLDER, writeCommonJsEntries } from "./commonjs-entries.ts";
import { inlinePackage } from "./inline-package.ts";
import { renameImports, renameToBuilt } from "./module-specifiers.ts";
import { packPrograms } from "./pack-programs.ts";
import { SBOM_FILE } from "./packed-files/bill-of-materials.ts";
import { LICENCES_FILE } from "./packed-files/licences.ts";
import { writePackedFiles } from "./packed-files/write-packed-files.ts";
import { writeEntry } from "./program-entry/write-entry.ts";
import { type Manifest, ownDependencies, publishableManifest } from "./publishable-manifest.ts";
import { runCommand } from "./run-command.ts";
import { listFiles, repositoryRoot } from "./source-files.ts";

type Package = { folder: string; dist: string; manifest: Manifest };

export interface BuildOptions {
  /** False where the check has been made already: it takes four fifths of the time. */
  readonly checksTypes?: boolean;
  /** Whether the server's package has the documentation site, which takes as long again. */
  readonly hasDocumentation?: boolean;
  /** Only these packages, and what they depend on. */
  readonly only?: readonly string[];
  /** Where to build, instead of the `dist` folder of each package. */
  readonly into?: string;
}

/**
 * Builds packages, each after those that it depends on, and gives their built folders by package name. The built server holds the
 * tarballs that it serves, and the documentation site where that is asked for.
 */
export async function build({
  checksTypes = true,
  hasDocumentation = false,
  only,
  into,
}: BuildOptions = {}): Promise<Map<string, string>> {
  const packages = await readPackages(into);
  const built = new Map<string, string>();
  async function buildOne(name: string): Promise<void> {
    const target = packages.get(name);
    if (!target) throw new Error(`no package of this repository is called ${name}`);
    if (built.has(name)) return;
    const needed = ownPackages(target, packages);
    for (const { manifest } of needed) await buildOne(manifest.name);
    await buildPackage(target, needed, checksTypes);
    built.set(name, target.dist);
  }
  for (const name of only ?? packages.keys()) await buildOne(name);
  const server = built.get("@signet/server");
  if (server !== undefined) await packPrograms(built, path.join(server, "downloads"));
  if (server !== undefined && hasDocumentation) {
    // The generator is loaded only where it has something to do.
    const { buildDocumentation } = await import("../docs/site/build.ts");
    await buildDocumentation(path.join(server, "documentation"));
  }
  return built;
}

async function readPackages(into?: string): Promise<Map<string, Package>> {
  const packages = new Map<string, Package>();
  for (const entry of await readdir(path.join(repositoryRoot, "packages"))) {
    const folder = path.join(repositoryRoot, "packages", entry);
    const manifest = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) as Manifest;
    const dist = into === undefined ? path.join(folder, "dist") : path.join(into, entry);
    packages.set(manifest.name, { folder, dist, manifest });
  }
  return packages;
}

/** The repository's packages that one needs at run time, also through another. */
function ownPackages({ manifest }: Package, packages: Map<string, Package>): Package[] {
  const direct = ownDependencies(manifest).flatMap((name) => packages.get(name) ?? []);
  return [...new Set(direct.flatMap((own) => [own, ...ownPackages(own, packages)]))];
}

async function buildPackage(target: Package, needed: Package[], checksTypes: boolean): Promise<void> {
  await rm(target.dist, { recursive: true, force: true });
  await mkdir(target.dist, { recursive: true });
  await compile(target, needed, checksTypes);
  await copyAssets(target);
  const isInlined = ({ manifest: { name } }: Package) =>
    target.manifest.inlineDependencies?.includes(name) ?? false;
  const [inlined, bundled] = [needed.filter(isInlined), needed.filter((own) => !isInlined(own))];
  for (const own of inlined) await inlinePackage(target.dist, { name: own.manifest.name, dist: own.dist });
  for (const own of bundled) {
    const inside = path.join(target.dist, "node_modules", own.manifest.name);
    await cp(own.dist, inside, { recursive: true, filter: isLoaded });
    await needsNothing(path.join(inside, "package.json"));
  }
  const manifestsOf = (packages: Package[]) => packages.map(({ manifest }) => manifest);
  const manifest = publishableManifest(target.manifest, manifestsOf(bundled), manifestsOf(inlined));
  await writeFile(path.join(target.dist, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeEntry(target.dist, manifest);
  if (!manifest.bin) await writeCommonJsEntries(target.dist);
  await writePackedFiles(target.dist, path.relative(repositoryRoot, target.folder), manifest);
}

/** What a program loads of a package inside it: not what that one has inside, nor what others compile against. */
const isLoaded = (file: string): boolean =>
  !["node_modules", COMMONJS_FOLDER, SBOM_FILE, LICENCES_FILE].includes(path.basename(file)) &&
  !file.endsWith(".d.ts");

/**
 * The package around it has its dependencies. npm takes for bundled, and does not install, whatever a bundled package says that
 * it needs.
 */
async function needsNothing(manifestFile: string): Promise<void> {
  const text = await readFile(manifestFile, "utf8");
  const { dependencies, peerDependencies, peerDependenciesMeta, ...rest } = JSON.parse(text) as Manifest;
  await writeFile(manifestFile, `${JSON.stringify(rest, null, 2)}\n`);
}

/** The sources without tests. Own packages are taken by their built types, so that the compiler does not emit them here. */
async function compile(
  { folder, dist, manifest }: Package,
  needed: Package[],
  checksTypes: boolean,
): Promise<void> {
  const paths = Object.fromEntries(
    needed.map((own) => [`${own.manifest.name}/*`, [path.join(own.dist, "*.d.ts")]]),
  );
  const compilerOptions = {
    noEmit: false,
    noEmitOnError: true,
    noCheck: !checksTypes,
    // Nobody imports a program.
    declaration: manifest.bin === undefined,
    rootDir: path.join(folder, "src"),
    outDir: dist,
    typeRoots: [path.join(repositoryRoot, "node_modules", "@types")],
    paths,
  };
  const configuration = {
    extends: path.join(repositoryRoot, "tsconfig.json"),
    compilerOptions,
    include: [path.join(folder, "src/**/*.ts")],
    exclude: [path.join(folder, "src/**/*.test.ts"), path.join(folder, "src/testing/**")],
  };
  const configurationFile = path.join(dist, "tsconfig.json");
  await writeFile(configurationFile, JSON.stringify(configuration));
  const compiler = path.join(repositoryRoot, "node_modules", ".bin", "tsc");
  const { exitCode, stdout, stderr } = await runCommand(
    process.execPath,
    [compiler, "-p", configurationFile, "--singleThreaded"],
    {
      cwd: folder,
    },
  );
  await rm(configurationFile);
  if (exitCode !== 0) throw new Error(`${manifest.name} does not compile:\n${stdout}${stderr}`);
  await renameImports(dist, [".d.ts"], renameToBuilt);
  await refuseSourceAddresses(dist);
}

/** The compiler rewrites `import "./x.ts"`, but not `new URL("./x.ts", import.meta.url)`, which would miss its file. */
async function refuseSourceAddresses(dist: string): Promise<void> {
  for (const file of await listFiles(dist, [".js"])) {
    const text = await readFile(path.join(dist, file), "utf8");
    if (/new URL\(\s*["'`][^"'`]*\.ts["'`]/.test(text))
      throw new Error(`${file} names a .ts file that is not in the build`);
  }
}

/** Styles, SQL, browser scripts: whatever lies among the sources and is neither TypeScript nor a README; locales; licence and README. */
async function copyAssets({ folder, dist }: Package): Promise<void> {
  const sources = path.join(folder, "src");
  const assets = (await listFiles(sources, [""])).filter(
    (file) => !/\.(ts|md)$/.test(file) && !file.startsWith("testing/"),
  );
  for (const file of assets) await cp(path.join(sources, file), path.join(dist, file));
  const locales = path.join(folder, "locales");
  if (existsSync(locales)) await cp(locales, path.join(dist, "locales"), { recursive: true });
  for (const name of ["LICENSE", "README.md"]) {
    const source = [folder, repositoryRoot]
      .map((place) => path.join(place, name))
      .find((file) => existsSync(file));
    if (source) await cp(source, path.join(dist, name));
  }
}

if (import.meta.main) {
  try {
    for (const [name, dist] of await build({ hasDocumentation: true }))
      console.log(`${name} -> ${path.relative(repositoryRoot, dist)}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
