/** Next.js with Auth.js: the printed files at their places in an application with a layout and an address that tells the session. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";

const application = {
  "app/layout.js": "export default ({ children }) => <html><body>{children}</body></html>;\n",
  "app/session/route.js": `import { auth } from "../../auth";
export const GET = async () => Response.json(await auth());
`,
};

const printed = {
  ".env.local": ".env.local",
  "auth.ts": "auth.ts",
  "route.ts": "app/api/auth/[...nextauth]/route.ts",
};

/** In a folder beside the installed libraries, as its compiler follows no link to them. */
export async function startNext({ folder, port }: StackFiles): Promise<RunningProgram> {
  const libraries = keptFolder("npm");
  const app = await mkdtemp(path.join(libraries, "next-"));
  const remove = () => rm(app, { recursive: true, force: true, maxRetries: 5 });
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(app, file)), { recursive: true });
    await writeFile(path.join(app, file), text);
  };
  try {
    for (const [file, text] of Object.entries(application)) await write(file, text);
    for (const [file, place] of Object.entries(printed))
      await write(place, await readFile(path.join(folder, file), "utf8"));
    const next = path.join(libraries, "node_modules/next/dist/bin/next");
    const command = ["env", "NEXT_TELEMETRY_DISABLED=1", process.execPath, next, "dev"] as const;
    const where = ["--hostname", "localhost", "--port", String(port)];
    const options = { port, folder: app, signal: "SIGTERM" } as const;
    const program = await startProgram("next", [...command, ...where], options);
    return { ...program, stop: () => program.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
