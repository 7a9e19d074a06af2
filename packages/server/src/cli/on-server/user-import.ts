/** `signet user import` with `--server`: the file is read and checked here, and its users sent in portions. */
import type { MovedUser } from "../../core/users/import/moving/moved-user.ts";
import type { RecordCall } from "../command.ts";
import { errorMessage } from "../output.ts";
import { type Imported, printImport, readImportFile } from "../user/user-import.ts";
import type { OnServer } from "./on-server.ts";

/** What one call of API v1 takes, with room for what is around the users. */
const MAX_USERS = 1_000;
const MAX_BYTES = 1_000_000;

/** As many as one call takes, by number and size: names may be long. */
export function portionsOf(users: readonly MovedUser[]): MovedUser[][] {
  const portions: MovedUser[][] = [];
  let size = 0;
  for (const user of users) {
    const bytes = Buffer.byteLength(JSON.stringify(user)) + 1;
    const last = portions.at(-1);
    size += bytes;
    if (last && last.length < MAX_USERS && size <= MAX_BYTES) last.push(user);
    else {
      portions.push([user]);
      size = bytes;
    }
  }
  return portions;
}

/** Each portion is imported whole or not at all. What is there already is skipped, so that a second run goes on. */
export const importUsers: OnServer = async (call) => {
  const read = readImportFile(call.values);
  const done = { created: 0, skipped: 0 };
  if (read.failed.length > 0) return printImport(call, read, done);
  for (const users of portionsOf(read.users)) {
    const { created, skipped } = await importPortion(call, users, done);
    done.created += created;
    done.skipped += skipped;
  }
  return printImport(call, read, done);
};

async function importPortion(
  { api }: RecordCall,
  users: readonly MovedUser[],
  before: Imported,
): Promise<Imported> {
  const sent = users.map(({ ignored: _, ...user }) => user);
  try {
    return await api.send<Imported>("POST", "/users/import", { users: sent });
  } catch (error) {
    if (before.created + before.skipped === 0) throw error;
    throw new Error(
      `${errorMessage(error)}\n${before.created} users were created before: run it again to go on`,
      { cause: error },
    );
  }
}
