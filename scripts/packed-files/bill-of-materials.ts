/** `sbom.cdx.json`: a CycloneDX 1.6 bill of materials of a built package, for scanners. The same build gives the same bytes. */
import type { BuiltManifest } from "../publishable-manifest.ts";
import type { Lock } from "./shrinkwrap.ts";

export const SBOM_FILE = "sbom.cdx.json";

interface Described {
  readonly name: string;
  readonly version?: string | undefined;
  readonly license?: string | undefined;
  readonly integrity?: string | undefined;
}

/** @param places of the packages in the lock file, with whether the package does without it */
export function billOfMaterials(
  lock: Lock,
  manifest: BuiltManifest,
  places: ReadonlyArray<{ readonly place: string; readonly isOptional: boolean }>,
): Record<string, unknown> {
  const { bundleDependencies = [], dependencies } = manifest;
  const own = bundleDependencies.map((name) => ({
    ...component({ name, version: dependencies[name], license: String(manifest["license"]) }),
    scope: "required",
  }));
  const others = places.map(({ place, isOptional }) => {
    const { version, license, integrity } = (lock.packages[place] ?? {}) as Omit<Described, "name">;
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    return {
      ...component({ name, version, license, integrity }),
      scope: isOptional ? "optional" : "required",
    };
  });
  // A package may stand in several places.
  const unique = new Map([...own, ...others].map((one) => [one["bom-ref"], one]));
  const sorted = [...unique.values()].toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const { name, version } = manifest;
  const subject = {
    ...component({ name, version, license: String(manifest["license"]) }),
    type: subjectType(manifest),
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: subject },
    components: sorted,
    dependencies: [{ ref: subject["bom-ref"], dependsOn: sorted.map((one) => one["bom-ref"]) }],
  };
}

const subjectType = ({ bin }: BuiltManifest): string => (bin ? "application" : "library");

function component({ name, version, license, integrity }: Described) {
  // Package URL (purl-spec, "npm"): the scope's @ is encoded.
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  const [group, short] = name.startsWith("@") ? (name.split("/") as [string, string]) : [undefined, name];
  return {
    type: "library",
    "bom-ref": purl,
    ...(group !== undefined && { group }),
    name: short,
    version,
    ...(license !== undefined && { licenses: [licenceChoice(license)] }),
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    purl,
  };
}

const licenceChoice = (license: string) =>
  /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };

/** Of a tarball (Subresource Integrity). */
function hashOf(integrity: string) {
  const [alg = "", digest = ""] = integrity.split("-", 2);
  return { alg: alg.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") };
}
