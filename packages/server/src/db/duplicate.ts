/** Whether an error is a unique key violation, for races between a check and a write. */

/** SQLite's extended result codes for a unique index and a primary key. */
const SQLITE_CODES = [2067, 1555];
/** PostgreSQL's SQLSTATE `unique_violation`. */
const POSTGRES_CODE = "23505";

export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === POSTGRES_CODE || SQLITE_CODES.includes(Number(errcode));
}
