/** An application of Next.js with this repository's package, and what the guide's `.env` says. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { startNextApplication } from "../../interop/clients/nextjs-package.ts";
import { type GuideFolder, type GuideServer, HOUR_MS } from "./guide.ts";

export async function startNextGuide({ folder, port }: GuideFolder): Promise<GuideServer> {
  const environment = parseEnv(await readFile(path.join(folder, ".env"), "utf8")) as Record<string, string>;
  const quoted = Object.entries(environment).map(([name, value]) => [name, JSON.stringify(value)]);
  const application = await startNextApplication({
    ...{ port, environment: Object.fromEntries(quoted) as Record<string, string> },
    ...{ middleware: "proxy", sources: folder },
  });
  return { ...application, expireToken: () => application.move(HOUR_MS) };
}
