/** Single-page applications, bundled from the printed file and ours beside it, and served on the application's address. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { keptFolder } from "../kept-folder.ts";
import type { StackFiles } from "./stack-files.ts";

export interface SinglePageApp {
  /** A file of npm/. */
  readonly ours: string;
  /** What the printed file imports it as, where it does. */
  readonly as?: string;
  readonly entry: string;
}

const modules = path.join(keptFolder("npm"), "node_modules");
const page = `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><div id="root"></div>
<script type="module" src="/bundle.js"></script></html>`;

export async function startSinglePageApp(
  { folder, port }: StackFiles,
  { ours, as = ours, entry }: SinglePageApp,
) {
  await copyFile(path.join(import.meta.dirname, "npm", ours), path.join(folder, as));
  await symlink(modules, path.join(folder, "node_modules"));
  const options = [
    "--bundle",
    "--format=esm",
    "--jsx=automatic",
    "--outfile=bundle.js",
    "--log-level=warning",
  ];
  const { stderr } = await promisify(execFile)(
    path.join(modules, ".bin/esbuild"),
    [entry, ...options, "--define:process.env.NODE_ENV='production'"],
    { cwd: folder },
  );
  const bundle = readFileSync(path.join(folder, "bundle.js"));
  const server = createServer(({ url = "/" }, response) => {
    const isBundle = url === "/bundle.js";
    response.setHeader("content-type", isBundle ? "text/javascript" : "text/html; charset=utf-8");
    response.end(isBundle ? bundle : page);
  });
  await once(server.listen(port, "localhost"), "listening");
  return {
    output: () => stderr,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
