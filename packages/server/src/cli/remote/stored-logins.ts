/** What `signet login` keeps: one login for each server and organisation, in a file that its owner alone can read. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
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
const PRIVATE = 0o600;

/** @throws Error when others can read the file, or it is none of ours */
export async function readLogins(folder: string): Promise<StoredLogin[]> {
  const file = join(folder, FILE);
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw new Error(`others can read it: chmod 600 ${file}`);
    return (JSON.parse(await readFile(file, "utf8")) as { logins: StoredLogin[] }).logins;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`can't use the logins in ${file}: ${errorMessage(error)}`);
  }
}

export const isSameLogin = (
  one: Pick<StoredLogin, "server" | "orgId">,
  other: Pick<StoredLogin, "server" | "orgId">,
): boolean => one.server === other.server && one.orgId === other.orgId;

/** Stores the login in place of an earlier one. */
export async function writeLogin(folder: string, login: StoredLogin): Promise<void> {
  const others = (await readLogins(folder)).filter((one) => !isSameLogin(one, login));
  await writeLogins(folder, [...others, login]);
}

export async function removeLogin(folder: string, login: StoredLogin): Promise<void> {
  const others = (await readLogins(folder)).filter((one) => !isSameLogin(one, login));
  if (others.length > 0) await writeLogins(folder, others);
  else await rm(join(folder, FILE), { force: true });
}

/** Whole or not at all: a reader has the old file or the new one. */
async function writeLogins(folder: string, logins: readonly StoredLogin[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, FILE);
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(temporary, "wx", PRIVATE);
    try {
      await handle.writeFile(`${JSON.stringify({ logins }, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Whatever the umask says.
    await chmod(temporary, PRIVATE);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
