/** One migration. Its statements run on SQLite and PostgreSQL. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}
