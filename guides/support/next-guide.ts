/** An application of Next.js with this repository's package, and what the guide's `.env` and `.env.local` say. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { startNextApplication } from "../../interop/clients/nextjs-package.ts";
import { type GuideFolder, type GuideServer, HOUR_MS } from "./guide.ts";

/** @param withPackage false for a guide that does without `@signet/nextjs` */
export async function startNextGuide(
  { folder, port }: GuideFolder,
  withPackage = true,
): Promise<GuideServer> {
  const read = (file: string) => readFile(path.join(folder, file), "utf8").catch(() => "");
  const text = `${await read(".env.local")}\n${await read(".env")}`;
  const environment = parseEnv(text) as Record<string, string>;
  const quoted = Object.entries(environment).map(([name, value]) => [name, JSON.stringify(value)]);
  const application = await startNextApplication({
    ...{ port, environment: Object.fromEntries(quoted) as Record<string, string> },
    ...{ middleware: "proxy", sources: folder, withPackage },
  });
  return { ...application, expireToken: () => application.move(HOUR_MS) };
}
