/** Images by buildah, and a container as an orchestrator runs it: read-only, without root, with its volume alone. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { guardProcess } from "../../e2e/support/process-guard.ts";
import { keptFolder } from "../kept-folder.ts";

const run = promisify(execFile);

/** Debian's files, made by `.ci/run` (debootstrap). */
export const debianFolder = (): string => keptFolder("debian");
export const missingDebian = (): string | false =>
  !existsSync(path.join(debianFolder(), "made")) && "Debian's files are not there (debootstrap)";

/** The user of the images. */
export const USER = 65_532;

/** @returns standard output @throws with its words when it fails */
export type Buildah = (...parameters: string[]) => Promise<string>;

/** @param folder for all that it keeps, on a disk */
export const buildah = (folder: string): Buildah => {
  const store = ["--root", path.join(folder, "store"), "--runroot", path.join(folder, "run")];
  const env = { ...process.env, STORAGE_DRIVER: "vfs", BUILDAH_ISOLATION: "chroot", TMPDIR: folder };
  return async (...parameters) =>
    (
      await run("buildah", ["--storage-driver", "vfs", ...store, ...parameters], { env, maxBuffer: 2 ** 26 })
    ).stdout.trim();
};

/** What a node:26-slim has: Debian, Node and npm. */
export async function makeBase(build: Buildah, name: string): Promise<void> {
  const { stdout: npm } = await run("sh", ["-c", 'readlink -f "$(command -v npm)"']);
  const container = await build("from", "scratch");
  await build("copy", "--quiet", container, path.join(debianFolder(), "root"), "/");
  await build("copy", "--quiet", container, process.execPath, "/usr/local/bin/node");
  await build(
    "copy",
    "--quiet",
    container,
    path.dirname(path.dirname(npm.trim())),
    "/usr/local/lib/node_modules/npm",
  );
  await build(
    "copy",
    "--quiet",
    container,
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/certs/ca-certificates.crt",
  );
  await build(
    "run",
    container,
    "--",
    "ln",
    "-s",
    "../lib/node_modules/npm/bin/npm-cli.js",
    "/usr/local/bin/npm",
  );
  await build("commit", "--quiet", container, name);
  await build("rm", container);
}

export interface Container {
  output(): string;
  /** The exit code of a program in it, with its own environment. */
  exec(program: readonly string[]): Promise<number>;
  /** Its exit code, once it has ended by itself. */
  readonly ended: Promise<number | null>;
  /** SIGTERM to its first process. @returns the exit code */
  stop(): Promise<number | null>;
  kill(): void;
}

export interface ContainerOptions {
  /** The image's files. */
  readonly root: string;
  /** Folders of this machine by their place in the container. */
  readonly volumes: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** Mounts of its own, its own first process, and the network of this machine. */
export function startContainer({ root, volumes, env, command }: ContainerOptions): Container {
  // The engines' own PATH, where the image has none.
  const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const variables = Object.entries({ PATH, ...env }).map(([name, value]) => `${name}=${value}`);
  const entered = ["env", "-i", ...variables, "chroot", `--userspec=${USER}:${USER}`, root];
  const mounts = [
    `mount --bind "${root}" "${root}"`,
    ...Object.entries(volumes).map(([place, folder]) => `mount --bind "${folder}" "${root}${place}"`),
    `mount -t tmpfs -o size=16m,mode=1777 tmp "${root}/tmp"`,
    // The bind mount of the image alone: volumes stay writable.
    `mount -o remount,bind,ro "${root}"`,
  ];
  const script = `set -e\n${mounts.join("\n")}\nexec "$@"`;
  const isolation = ["--mount", "--pid", "--fork", "--kill-child=SIGKILL"];
  const child = spawn("unshare", [...isolation, "sh", "-c", script, "sh", ...entered, ...command]);
  guardProcess(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString();
    });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return {
    ended,
    output: () => output,
    exec: async (program) => {
      const inside = ["-t", String(firstProcess(child)), "--mount", ...entered, ...program];
      const [code] = (await once(spawn("nsenter", inside), "exit")) as [number];
      return code;
    },
    stop: async () => {
      process.kill(firstProcess(child), "SIGTERM");
      return ended;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

function firstProcess({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}
