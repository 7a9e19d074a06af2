/** An application of Nuxt, as `npm run dev` starts it, with what the guide's `.env` says. */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { keptFolder } from "../../interop/kept-folder.ts";
import { startProgram } from "../../interop/program.ts";
import { clockProgram, type GuideFolder, type GuideServer, HOUR_MS } from "./guide.ts";

/** In a folder beside the installed libraries, as its bundler follows no link to them. */
export async function startNuxtGuide({ folder, port }: GuideFolder): Promise<GuideServer> {
  const libraries = keptFolder("npm");
  const app = await mkdtemp(path.join(libraries, "nuxt-"));
  const remove = () => rm(app, { recursive: true, force: true, maxRetries: 5 });
  try {
    await cp(folder, app, { recursive: true });
    const offset = path.join(app, "offset");
    await writeFile(offset, "0");
    await writeFile(path.join(app, "clock.mjs"), clockProgram(offset));
    const settings = ["NUXT_TELEMETRY_DISABLED=1", `NODE_OPTIONS=--import=${path.join(app, "clock.mjs")}`];
    const nuxt = path.join(libraries, "node_modules/nuxt/bin/nuxt.mjs");
    const command = ["env", ...settings, process.execPath, nuxt, "dev"] as const;
    const where = ["--host", "localhost", "--port", String(port)];
    const program = await startProgram("nuxt", [...command, ...where], {
      ...{ port, folder: app, signal: "SIGTERM" },
    });
    const expireToken = () => writeFile(offset, String(HOUR_MS));
    return { ...program, expireToken, stop: () => program.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
