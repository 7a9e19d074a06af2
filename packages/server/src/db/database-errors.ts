/** Errors of both databases: an unavailable, full or overloaded one against a faulty statement, and unique key violations. */
import { TurnTimeout } from "./sqlite/turns.ts";

/** `read_only_sql_transaction`: of a standby, and of a primary that was made read-only. */
const READ_ONLY = "25006";

/** What a server says of itself, before a statement of a request fails with the same code. */
export class ReadOnlyServer extends Error {
  readonly code = READ_ONLY;
  constructor() {
    super("the database server is read-only");
    this.name = "ReadOnlyServer";
  }
}

/** A server makes connections, and ends each before it has answered a statement. */
export class UnansweredConnection extends Error {
  constructor() {
    super("the database server greets, and answers no statement");
    this.name = "UnansweredConnection";
  }
}

/** A commit that was done here, and that no synchronous standby has: after a failover it may never have been. */
export class UnreplicatedCommit extends Error {
  constructor() {
    super("the wait for the synchronous standby was cancelled");
    this.name = "UnreplicatedCommit";
  }
}

const NETWORK_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"],
]);
/** SQLite's primary result codes: BUSY, LOCKED, IOERR, FULL, CANTOPEN. */
const SQLITE_CODES = new Set([5, 6, 10, 13, 14]);
/**
 * Foreign key violations of SQLite (extended code) and PostgreSQL: the referenced row was deleted between read and
 * write, perhaps on another node. A retry finds it gone.
 */
const FOREIGN_KEY_CODES: ReadonlySet<unknown> = new Set([787, "23503"]);
/** Messages of `pg` for an exhausted pool and lost connections. */
const POOL_MESSAGE =
  /timeout exceeded when trying to connect|connection terminated|client has encountered a connection error|query read timeout|Cannot use a pool after calling end|driver has already been destroyed/i;

export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (error instanceof TurnTimeout || error instanceof UnansweredConnection) return true;
  if (error instanceof UnreplicatedCommit) return true;
  if (FOREIGN_KEY_CODES.has(errcode) || FOREIGN_KEY_CODES.has(code)) return true;
  if (typeof errcode === "number" && SQLITE_CODES.has(errcode & 0xff)) return true;
  if (isNotReached(error)) return true;
  if (typeof code === "string" && (NETWORK_CODES.has(code) || isPostgresTrouble(code))) return true;
  return POOL_MESSAGE.test(error.message);
}

/**
 * Whatever the system says to a connection attempt: EACCES and EPERM of a firewall, ENOENT of a socket file, EMFILE. With other
 * calls the same codes are faults of our own.
 */
const isNotReached = (error: Error): boolean => "syscall" in error && error.syscall === "connect";

/** A connection was not made: its server can't be reached, does not answer, or is starting up or shutting down. */
export function isServerAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isServerAway);
  const { code } = error as { code?: unknown };
  if (isNotReached(error) || (typeof code === "string" && (NETWORK_CODES.has(code) || /^57P0/.test(code))))
    return true;
  // Of `pg`: of the connection itself, not of a pool that has none left.
  return /^Connection terminated/.test(error.message);
}

/** The first two ask for a retry. */
const RETRIED_CODES = new Set(["40001", "40P01", READ_ONLY]);

/** Classes 08 connection, 53 resources, 57 operator intervention (57P01 shutting down, 57P03 starting up). */
function isPostgresTrouble(code: string): boolean {
  return /^(08|53|57)[0-9A-Z]{3}$/.test(code) || RETRIED_CODES.has(code);
}

/**
 * What an error of `pg` means for its connection: nothing, no further use, that it will never answer again, or that all
 * connections lead to the wrong server.
 */
export type ConnectionEnd = "no" | "broken" | "silent" | "wrong server";

export function connectionEndOf(error: unknown): ConnectionEnd {
  if (!(error instanceof Error)) return "no";
  if (error.message === "Query read timeout") return "silent";
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return "no";
  if (code === READ_ONLY) return "wrong server";
  if (isLostPlan(error.message, code)) return "broken";
  return /^(08|57P0)/.test(code) || NETWORK_CODES.has(code) ? "broken" : "no";
}

/**
 * A statement that the connection has prepared can't be used any more: a migration changed the type of a column that it returns
 * (`feature_not_supported`), or a pooler has given the connection another process. A new connection prepares it anew.
 */
const isLostPlan = (message: string, code: string): boolean =>
  code === "26000" || code === "42P05" || (code === "0A000" && message.includes("cached plan"));

/** SQLite's extended result codes for a unique index and a primary key; PostgreSQL's `unique_violation`. */
const UNIQUE_CODES: ReadonlySet<unknown> = new Set([2067, 1555, "23505"]);

/** SQLite's extended result code for a foreign key; PostgreSQL's `foreign_key_violation`. */
const REFERENCE_CODES: ReadonlySet<unknown> = new Set([787, "23503"]);

/** For races between a check and a write. */
export const isUniqueViolation = (error: unknown): boolean => hasCode(error, UNIQUE_CODES);

/** What the row belongs to was deleted meanwhile. */
export const isReferenceViolation = (error: unknown): boolean => hasCode(error, REFERENCE_CODES);

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return codes.has(code) || codes.has(errcode);
}
