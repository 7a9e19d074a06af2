/** `signet dev`: a development server whose organisations are what `signet.dev.yaml` says, also after each change of the file. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../config/config.ts";
import { type Command, type Io, optionalText, UsageError } from "../command.ts";
import { writeServerNote } from "../installation.ts";
import { readBounded } from "../org/configuration-file.ts";
import { errorMessage } from "../output.ts";
import type { Kept } from "./apply-document.ts";
import {
  type DevelopmentDocument,
  InvalidDocument,
  parseDevelopmentDocument,
} from "./development-document.ts";
import type { DevelopmentServer } from "./development-server.ts";
import { pasteLines } from "./paste-lines.ts";
import { sampleDocument } from "./sample-document.ts";
import { watchFile } from "./watch-file.ts";

const DEFAULT_FILE = "signet.dev.yaml";
const DATA_FOLDER = ".signet-dev";

export const devCommand: Command = {
  name: "dev",
  summary:
    "run a development server from signet.dev.yaml, which it follows; for this machine alone, never for production",
  usage: "[--file FILE] [--port PORT] [--init]",
  options: {
    file: { value: "FILE", help: `organisations, users, roles and applications (default: ${DEFAULT_FILE})` },
    port: { value: "PORT", help: "listens there, on this machine alone (default: PORT, else 8080)" },
    init: { help: "write an example of the file, and stop" },
  },
  examples: ["signet dev --init && signet dev"],
  run: async ({ config, values, io }) => {
    const file = optionalText(values, "file") ?? DEFAULT_FILE;
    if (values.init === true) return writeSample(file, io);
    const atPort = withPort(config, optionalText(values, "port"));
    requireDevelopment(atPort);
    const document = await readDocument(file);
    const own = await withDataFolder(atPort);
    const stopped = nextSignal();
    await serve(own, { file, document, io, stopped });
    return 0;
  },
};

/** @throws UsageError */
function withPort(config: Config, given: string | undefined): Config {
  if (given === undefined) return config;
  const port = Number(given);
  if (!/^\d+$/.test(given) || port < 1 || port > 65_535)
    throw new UsageError("--port must be a whole number from 1 to 65535");
  const isSet = config.origins.SIGNET_BASE_URL !== undefined;
  return { ...config, port, baseUrl: isSet ? config.baseUrl : `http://localhost:${port}` };
}

async function writeSample(file: string, io: Io): Promise<number> {
  await writeFile(file, sampleDocument, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? new UsageError(`${file} is there already`) : error;
  });
  io.print(`Wrote ${file}. Start with: signet dev`);
  return 0;
}

const loopback = ["localhost", "127.0.0.1", "::1", "[::1]"];

/** Its people and secrets are in a file, and its mails on a page: nobody else may reach it. @throws UsageError */
function requireDevelopment({ host, baseUrl, databaseUrl, workers, trustedProxies }: Config): void {
  const { hostname } = new URL(baseUrl);
  const isLocal = loopback.includes(hostname) || hostname.endsWith(".localhost");
  const reason = [
    loopback.includes(host) ? undefined : `HOST is ${host}`,
    isLocal ? undefined : `SIGNET_BASE_URL is at ${hostname}`,
    databaseUrl.startsWith("sqlite:") ? undefined : "DATABASE_URL is a server",
    workers === 1 ? undefined : "SIGNET_WORKERS is more than 1",
    trustedProxies.length === 0 ? undefined : "TRUSTED_PROXIES are set",
  ].find((one) => one !== undefined);
  if (reason !== undefined)
    throw new UsageError(`a development server is for this machine alone, and ${reason}: use signet start`);
}

async function readDocument(file: string): Promise<DevelopmentDocument> {
  if (!existsSync(file)) throw new UsageError(`there is no ${file}: signet dev --init writes an example`);
  const text = await readBounded(file);
  return parseDevelopmentDocument(Buffer.from(text).toString(), file);
}

/** A folder of its own, unless the environment names one: never that of a service. */
async function withDataFolder(config: Config): Promise<Config> {
  const isNamed = config.origins.SIGNET_DATA_DIR !== undefined;
  const dataDir = isNamed ? config.dataDir : path.resolve(DATA_FOLDER);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(path.join(dataDir, ".gitignore"), "*\n");
  const isSet = config.origins.DATABASE_URL !== undefined;
  return {
    ...config,
    dataDir,
    databaseUrl: isSet ? config.databaseUrl : `sqlite:${path.join(dataDir, "signet.db")}`,
  };
}

interface Serving {
  readonly file: string;
  readonly document: DevelopmentDocument;
  readonly io: Io;
  readonly stopped: Promise<unknown>;
}

/** Resolves when the server has stopped. */
async function serve(config: Config, { file, document, io, stopped }: Serving): Promise<void> {
  const keptFile = path.join(config.dataDir, "dev.json");
  const kept = await readKept(keptFile);
  // The other commands start without the web server.
  const { startDevelopmentServer } = await import("./development-server.ts");
  const onError = (error: unknown) => io.printError(`signet dev: ${errorMessage(error)}`);
  const server = await startDevelopmentServer(config, {
    document,
    kept: kept ?? {},
    isNew: kept === undefined,
    file,
    onError,
  });
  try {
    await writeServerNote(config, true);
    await writeKept(keptFile, server.applied.kept);
    for (const line of pasteLines(server.applied.organisations, config.baseUrl)) io.print(line);
    io.print(`Following ${file}. Stop with Ctrl+C.`);
    const stopWatching = watchFile(file, () => follow(server, { file, keptFile, io }));
    await stopped;
    await stopWatching();
  } finally {
    await server.close();
  }
}

/** What is wrong with a changed file is a sentence; the server goes on with what it had. */
async function follow(
  server: DevelopmentServer,
  { file, keptFile, io }: { readonly file: string; readonly keptFile: string; readonly io: Io },
): Promise<void> {
  try {
    const before = pasteLines(server.applied.organisations, server.baseUrl).join("\n");
    const { organisations, kept } = await server.apply(await readDocument(file));
    await writeKept(keptFile, kept);
    const lines = pasteLines(organisations, server.baseUrl);
    io.print(`Applied ${file}.`);
    if (lines.join("\n") !== before) for (const line of lines) io.print(line);
  } catch (error) {
    const isOurs = error instanceof InvalidDocument || error instanceof UsageError;
    const sentence = isOurs ? error.message : `${file}: ${errorMessage(error)}`;
    io.printError(`signet dev: ${sentence.replace(/\.?$/, ".")} Nothing was changed.`);
  }
}

async function readKept(file: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function writeKept(file: string, kept: Kept): Promise<void> {
  const half = `${file}.${process.pid}`;
  await writeFile(half, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  await rename(half, file);
}

function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}
