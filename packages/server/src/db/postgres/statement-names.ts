/**
 * Names of the statements that every connection prepares once: PostgreSQL parses and plans such a statement at its first use
 * only. There are as many as the stores have compiled ones; a statement that is built for one request never gets a name.
 */
const names = new Map<string, string>();

/**
 * A statement whose rows have every column of a table has none: once a migration adds a column, the server refuses the plan
 * that it has kept (`cached plan must not change result type`), and the version before still serves.
 */
const HAS_EVERY_COLUMN = /(?:select|returning|,|\.)\s*\*/i;

export function nameStatement(sql: string): void {
  if (!names.has(sql) && !HAS_EVERY_COLUMN.test(sql)) names.set(sql, `signet_${names.size}`);
}

/** Undefined for a statement that is parsed each time. */
export const statementName = (sql: string): string | undefined => names.get(sql);
