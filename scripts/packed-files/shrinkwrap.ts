/**
 * `npm-shrinkwrap.json` of a built program: what package-lock.json has of the packages that it needs, so that whoever installs the
 * tarball gets the versions that the tests ran with, and their checksums.
 */
import type { BuiltManifest } from "../publishable-manifest.ts";

export interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [other: string]: unknown;
}
export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface Shrinkwrap extends Lock {
  readonly name: string;
  readonly version: string;
  readonly lockfileVersion: 3;
  readonly requires: true;
}

/** What says how the repository needs a package, or where this machine got it. */
const ofTheRepository = ["dev", "devOptional", "optional", "peer", "resolved", "inBundle"];

/** @param folder of the package in the repository, as `packages/server` */
export function shrinkwrapOf(lock: Lock, folder: string, manifest: BuiltManifest): Shrinkwrap {
  const { name, version, bundleDependencies = [] } = manifest;
  const bundled = bundleDependencies.map((own) => {
    return [`node_modules/${own}`, { version: manifest.dependencies[own], inBundle: true }] as const;
  });
  const wanted = Object.keys(manifest.dependencies).filter((one) => !bundleDependencies.includes(one));
  const found = neededPackages(lock, folder, wanted).map(({ place, isOptional }) => {
    const kept = Object.entries(lock.packages[place] ?? {}).filter(
      ([field]) => !ofTheRepository.includes(field),
    );
    const entry = { ...Object.fromEntries(kept), ...(isOptional && { optional: true }) };
    return [installedPlace(place), entry] as const;
  });
  const packages = Object.fromEntries([
    ["", rootEntry(manifest)],
    ...[...bundled, ...found].toSorted(byName),
  ]);
  if (Object.keys(packages).length !== 1 + bundled.length + found.length)
    throw new Error(`${name}: two versions of a package would have to stand in one place`);
  return { name, version, lockfileVersion: 3, requires: true, packages };
}

/** What npm itself would write of it. */
const ofTheRoot = ["name", "version", "license", "bundleDependencies", "dependencies", "bin", "engines"];
const peers = ["peerDependencies", "peerDependenciesMeta"];
const rootEntry = (manifest: BuiltManifest): Record<string, unknown> =>
  Object.fromEntries(
    [...ofTheRoot, ...peers].filter((field) => field in manifest).map((field) => [field, manifest[field]]),
  );

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** A workspace's own ones are as any other's where it is installed. */
const installedPlace = (place: string): string => place.slice(place.indexOf("node_modules/"));

interface Needed {
  /** In the lock file. */
  readonly place: string;
  /** The program does without it: it is for another platform. */
  readonly isOptional: boolean;
}

/** @throws Error when the lock file lacks one that is not optional */
export function neededPackages(lock: Lock, folder: string, names: readonly string[]): Needed[] {
  const seen = new Map<string, boolean>();
  const visit = (from: string, needed: readonly string[], isOptional: boolean): void => {
    for (const name of needed) {
      const place = placeOf(lock, from, name);
      if (place === undefined && isOptional) continue;
      if (place === undefined) throw new Error(`package-lock.json has no ${name} for ${from}`);
      const before = seen.get(place);
      if (before === false || before === isOptional) continue;
      seen.set(place, isOptional);
      const { dependencies = {}, optionalDependencies = {} } = lock.packages[place] ?? {};
      visit(place, Object.keys(dependencies), isOptional);
      visit(place, Object.keys(optionalDependencies), true);
    }
  };
  visit(folder, names, false);
  return [...seen].map(([place, isOptional]) => ({ place, isOptional }));
}

/** As Node looks for it: beside the package, then in each folder above. */
function placeOf({ packages }: Lock, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.includes("/") ? at.slice(0, at.lastIndexOf("/")) : "") {
    const place = `${at}${at === "" ? "" : "/"}node_modules/${name}`;
    if (!at.endsWith("node_modules") && packages[place] !== undefined) return place;
    if (at === "") return undefined;
  }
}
