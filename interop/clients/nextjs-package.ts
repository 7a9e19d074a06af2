/** An application of Next.js with `@signet/nextjs` as it is packed, beside the installed libraries. */
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "../../scripts/build.ts";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";

const tested = path.join(import.meta.dirname, "nextjs");

export interface NextApplication extends RunningProgram {
  /** Moves the time of the application's process. */
  move(milliseconds: number): Promise<void>;
}

export interface NextOptions {
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  /** `proxy` runs on Node; `middleware`, its name before Next.js 16, in the edge runtime. */
  readonly middleware: "proxy" | "middleware";
  /** The application's folder; default: the one here. */
  readonly sources?: string;
  /** False for an application without `@signet/nextjs`. */
  readonly withPackage?: boolean;
}

/** In a folder beside the installed libraries, as its compiler follows no link to them. */
export async function startNextApplication({
  port,
  environment,
  middleware,
  sources = tested,
  withPackage = true,
}: NextOptions): Promise<NextApplication> {
  const libraries = keptFolder("npm");
  const app = await mkdtemp(path.join(libraries, "nextjs-"));
  const remove = () => rm(app, { recursive: true, force: true, maxRetries: 5 });
  try {
    await cp(sources, app, { recursive: true });
    if (middleware !== "proxy") await rename(path.join(app, "proxy.js"), path.join(app, `${middleware}.js`));
    if (withPackage) await installPackage(app);
    const offset = path.join(app, "offset");
    const move = (milliseconds: number) => writeFile(offset, String(milliseconds));
    await move(0);
    await writeFile(path.join(app, "clock.mjs"), clock(offset));
    const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    await writeFile(path.join(app, ".env.local"), `${lines.join("\n")}\n`);
    const next = path.join(libraries, "node_modules/next/dist/bin/next");
    const settings = ["NEXT_TELEMETRY_DISABLED=1", `NODE_OPTIONS=--import=${path.join(app, "clock.mjs")}`];
    const command = ["env", ...settings, process.execPath, next, "dev"] as const;
    const where = ["--hostname", "localhost", "--port", String(port)];
    const program = await startProgram("next", [...command, ...where], {
      port,
      folder: app,
      signal: "SIGTERM",
    });
    return { ...program, move, stop: () => program.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function installPackage(app: string): Promise<void> {
  const into = path.join(app, "built");
  const built = await build({ checksTypes: false, only: ["@signet/nextjs"], into });
  const place = path.join(app, "node_modules", "@signet");
  await mkdir(place, { recursive: true });
  await rename(built.get("@signet/nextjs") ?? "", path.join(place, "nextjs"));
  await rm(into, { recursive: true });
}

const clock = (offset: string): string => `
import { readFileSync } from "node:fs";
const { now } = Date;
Date.now = () => now() + Number(readFileSync(${JSON.stringify(offset)}, "utf8"));
`;
