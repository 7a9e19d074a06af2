import { type Fault, type HouseRule, isTestCode } from "./fault.ts";
import { importsByFile, type ModuleImport } from "./source/module-imports.ts";

/** Which layers of the server each layer may import, itself included. `top` is app.ts and main.ts. */
const serverLayers: Record<string, string[]> = {
  telemetry: ["telemetry"],
  config: ["config", "core", "db", "http", "telemetry"],
  db: ["db", "telemetry"],
  http: ["http", "telemetry"],
  html: ["html"],
  core: ["core", "db", "telemetry"],
  "page-kit": ["page-kit", "core", "db", "http", "html"],
  features: ["features", "page-kit", "core", "db", "http", "html", "telemetry"],
  modules: ["modules", "config", "features", "page-kit", "core", "db", "http", "html", "telemetry"],
  cli: ["cli", "top", "modules", "config", "features", "page-kit", "core", "db", "http", "html", "telemetry"],
  top: ["cli", "top", "modules", "config", "features", "page-kit", "core", "db", "http", "html", "telemetry"],
};

/** Which packages a package may import, beside `protocol`. */
const packageImports: Readonly<Record<string, readonly string[]>> = {
  "signing-agent": ["cli-runtime"],
  "device-client": ["cli-runtime"],
};

/** The same for a layer of the server. */
const layerImports: Readonly<Record<string, readonly string[]>> = { cli: ["cli-runtime"] };

/** Where a file stands: its package (or top folder), and in the server its layer and, among features, its feature. */
type Place = { area: string; layer: string; feature: string };

/**
 * Imports point one way: protocol <- cli-runtime <- signing-agent, device-client and the server's cli, and in the server protocol <- core
 * <- features <- app.ts; `db`, `http` and `html` know only protocol; a feature never imports a feature; `testing` is for tests, e2e, bench and
 * scripts; packages know each other only as `@signet/<name>`.
 */
export const importDirection: HouseRule = (files) => {
  const faults: Fault[] = [];
  for (const [file, imports] of importsByFile(files)) {
    for (const entry of imports) {
      const message = fault(file, entry);
      if (message) faults.push({ file, line: entry.line, rule: "import-direction", message });
    }
  }
  return faults;
};

function fault(file: string, { specifier, target }: ModuleImport): string | undefined {
  if (target === undefined) return undefined;
  const from = placeOf(file);
  const to = placeOf(target);
  const isPackage = file.startsWith("packages/");
  const crosses = isPackage && target.startsWith("packages/") && from.area !== to.area;
  if (crosses && specifier.startsWith("."))
    return `${specifier} reaches into another package: import @signet/${to.area}/…`;
  if (!isPackage || isTestCode(file)) return undefined;
  if (!target.startsWith("packages/")) return `a package may not import ${target}`;
  if (to.layer === "testing") return "testing is only for tests, e2e and bench";
  if (from.area !== to.area) {
    const ofLayer = from.area === "server" ? (layerImports[from.layer] ?? []) : [];
    const allowed = ["protocol", ...(packageImports[from.area] ?? []), ...ofLayer];
    return allowed.includes(to.area)
      ? undefined
      : `${from.area} may import ${allowed.join(" and ")}, not ${to.area}`;
  }
  return from.area === "server" ? serverFault(from, to) : undefined;
}

function serverFault(from: Place, to: Place): string | undefined {
  const allowed = serverLayers[from.layer];
  if (!allowed) return `the layer of ${from.layer}/ is not known: add it to import-direction.ts`;
  if (!allowed.includes(to.layer)) return `${from.layer} may not import ${to.layer}`;
  const crossesFeatures = from.layer === "features" && to.layer === "features" && from.feature !== to.feature;
  return crossesFeatures ? `feature ${from.feature} may not import feature ${to.feature}` : undefined;
}

function placeOf(file: string): Place {
  const [top = "", area = "", , layer = "", feature = ""] = file.split("/");
  if (top !== "packages") return { area: top, layer: "", feature: "" };
  return { area, layer: layer.endsWith(".ts") ? "top" : layer, feature };
}
