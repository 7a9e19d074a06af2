/** `signet migrate`: brings the schema up to date without starting the server. */

import { mkdir } from "node:fs/promises";
import { migrate } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import type { Command } from "./command.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "bring the database schema up to date",
  usage: "[--json]",
  options: { json: { type: "boolean" } },
  run: async ({ config, values, io }) => {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const database = openDatabase(config.databaseUrl, 1);
    try {
      const applied = await migrate(database);
      if (values.json) io.print(JSON.stringify({ applied }));
      else io.print(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
      return 0;
    } finally {
      await database.close();
    }
  },
};
