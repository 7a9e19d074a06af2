/** One migration. Its statements run on SQLite and PostgreSQL. */
import type { Db } from "../open.ts";

export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
  /** After the statements, in their transaction: for rows that SQL alone cannot make on both databases. */
  readonly fill?: (tx: Db) => Promise<void>;
}
