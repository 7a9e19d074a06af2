/** One step of the schema's timeline. The statements are written so that SQLite and PostgreSQL both take them. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}
