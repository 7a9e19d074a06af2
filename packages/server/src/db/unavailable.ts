/** Tells "the database is away, full or overloaded" from "this statement is wrong". */

const NETWORK_CODES = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);
/** SQLite's primary result codes: BUSY, LOCKED, IOERR, FULL, CANTOPEN. */
const SQLITE_CODES = new Set([5, 6, 10, 13, 14]);
/**
 * A foreign key that leads nowhere, of SQLite (an extended code) and PostgreSQL: what was looked at has been deleted
 * before the write, perhaps on another node that this one has not heard of yet. Asked again, the look finds it gone.
 */
const DELETED_MEANWHILE: ReadonlySet<unknown> = new Set([787, "23503"]);
/** The texts of `pg` for a pool without a free connection and for a connection that went away. */
const POOL_MESSAGE =
  /timeout exceeded when trying to connect|connection terminated|client has encountered a connection error|query read timeout|Cannot use a pool after calling end|driver has already been destroyed/i;

export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (DELETED_MEANWHILE.has(errcode) || DELETED_MEANWHILE.has(code)) return true;
  if (typeof errcode === "number" && SQLITE_CODES.has(errcode & 0xff)) return true;
  if (typeof code === "string" && (NETWORK_CODES.has(code) || isPostgresTrouble(code))) return true;
  return POOL_MESSAGE.test(error.message);
}

/** Classes 08 connection, 53 resources, 57 operator intervention; 40001 and 40P01: try again. */
function isPostgresTrouble(code: string): boolean {
  return /^(08|53|57)[0-9A-Z]{3}$/.test(code) || code === "40001" || code === "40P01";
}
