/** What `signet login` keeps: one login for each server and organisation, in a file that its owner alone can read. */
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { acquireLock, Locked } from "@signet/cli-runtime/exclusive-lock";
import { PRIVATE, replaceFile } from "@signet/cli-runtime/private-file";
import { errorMessage } from "../output.ts";

export interface StoredLogin {
  readonly server: string;
  readonly orgId: string;
  /** Whether it is the operators' organisation: its tokens are good for every other. */
  readonly isOfOperators: boolean;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  readonly clientId: string;
  readonly accessToken: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly refreshToken: string;
}

const FILE = "logins.json";

/** @throws Error when others can read the file, or it is none of ours */
export async function readLogins(folder: string): Promise<StoredLogin[]> {
  const file = join(folder, FILE);
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw new Error(`others can read it: chmod 600 ${file}`);
    const kept = JSON.parse(await readFile(file, "utf8")) as { logins?: StoredLogin[] } | null;
    const logins = kept?.logins;
    if (!Array.isArray(logins)) throw new Error("it holds no list of logins");
    return logins;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`can't use the logins in ${file}: ${errorMessage(error)}`);
  }
}

export const isSameLogin = (
  one: Pick<StoredLogin, "server" | "orgId">,
  other: Pick<StoredLogin, "server" | "orgId">,
): boolean => one.server === other.server && one.orgId === other.orgId;

/** Longer than a refresh may take. */
const LOCK_WAIT_MS = 90_000;
const LOCK_PAUSE_MS = 50;

/**
 * Runs what reads the logins and writes them again: one command at a time, so that none writes over what another has just
 * stored, and a refresh token, which is good once, is used by one of two.
 */
export async function withLogins<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const release = await waitForLock(join(folder, "logins.lock"));
  try {
    return await work();
  } finally {
    release();
  }
}

async function waitForLock(file: string): Promise<() => void> {
  for (const end = Date.now() + LOCK_WAIT_MS; ; ) {
    try {
      return acquireLock(file);
    } catch (error) {
      if (!(error instanceof Locked)) throw error;
      if (Date.now() > end) throw new Error(`another signet command has not let go of ${file}`);
    }
    await pause(LOCK_PAUSE_MS);
  }
}

/** Stores the login in place of an earlier one. Within `withLogins`. */
export async function writeLogin(folder: string, login: StoredLogin): Promise<void> {
  const others = (await readLogins(folder)).filter((one) => !isSameLogin(one, login));
  await writeLogins(folder, [...others, login]);
}

/** Within `withLogins`. */
export async function removeLogin(folder: string, login: StoredLogin): Promise<void> {
  const others = (await readLogins(folder)).filter((one) => !isSameLogin(one, login));
  if (others.length > 0) await writeLogins(folder, others);
  else await rm(join(folder, FILE), { force: true });
}

const writeLogins = (folder: string, logins: readonly StoredLogin[]): Promise<void> =>
  replaceFile(join(folder, FILE), `${JSON.stringify({ logins }, null, 2)}\n`, PRIVATE);
