/**
 * Settings whose value is in a file, as vaults, Kubernetes, Docker and systemd hand secrets over: `DATABASE_URL_FILE` names the
 * file of `DATABASE_URL`.
 */
import { accessSync, constants, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ownershipFault } from "@signet/protocol/secret-file-rules";
import { type Env, text } from "./config-values.ts";
import { type SettingName, secretSettings, secretsOfTracing, settingNames, twinOf } from "./setting-names.ts";

const MAX_BYTES = 64 * 1024;

/** The environment with the files' contents in place; a fault names the variable and the file, never the content. */
export function withSettingFiles(env: Env, faults: string[]): Env {
  const read = [...secretSettings, ...secretsOfTracing].flatMap((name) => {
    const twin = twinOf(name);
    const file = text(env, twin);
    if (file === undefined) return [];
    if (text(env, name) !== undefined) {
      faults.push(`${name} and ${twin} are both set: keep one of them`);
      return [];
    }
    try {
      return [[name, contentOf(resolve(file))] as const];
    } catch (error) {
      faults.push(`${twin}: ${(error as Error).message}`);
      return [];
    }
  });
  return read.length === 0 ? env : { ...env, ...Object.fromEntries(read) };
}

/** Where each setting that is set comes from: `environment`, or the path of its file. */
export function originsOf(env: Env): Partial<Record<SettingName, string>> {
  const set = settingNames.filter((name) => text(env, name) !== undefined);
  const fromFiles = secretSettings.flatMap((name) => {
    const file = text(env, twinOf(name));
    return file === undefined ? [] : [[name, resolve(file)] as const];
  });
  return Object.fromEntries([...set.map((name) => [name, "environment"] as const), ...fromFiles]);
}

/** @throws Error with a sentence that names the file */
function contentOf(path: string): string {
  const found = lookAt(path);
  // A pipe without a writer would be waited for without end.
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  if (found.size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES / 1024} KiB`);
  const target = attempt(path, () => realpathSync(path));
  for (const one of new Set([path, dirname(path), dirname(target)])) {
    const fault = ownershipFault(one, lookAt(one), process.geteuid?.());
    if (fault !== undefined) throw new Error(fault);
  }
  const content = attempt(path, () => readFileSync(path, "utf8")).trim();
  if (content === "") throw new Error(`${path} is empty`);
  return content;
}

/** What keeps a file from being read, in a sentence that names it; undefined when nothing does. */
export function faultOfFile(path: string): string | undefined {
  try {
    attempt(path, () => accessSync(path, constants.R_OK));
    return lookAt(path).isFile() ? undefined : `${path} is not a file`;
  } catch (error) {
    return (error as Error).message;
  }
}

const lookAt = (path: string): Stats => attempt(path, () => statSync(path));

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    const reason =
      { ENOENT: "does not exist", EACCES: "can't be read by this user" }[code] ?? `can't be read: ${code}`;
    throw new Error(`${path} ${reason}`);
  }
}
