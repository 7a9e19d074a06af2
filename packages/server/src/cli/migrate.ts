/** `signet migrate`: brings the schema up to date without starting the server. */

import { mkdir } from "node:fs/promises";
import { migrate } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { answer } from "./answer.ts";
import { type Command, jsonOption } from "./command.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "bring the database schema up to date; signet start does so by itself",
  usage: "[--json]",
  options: jsonOption,
  run: async (call) => {
    const { config } = call;
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const database = openDatabase(config.databaseUrl, 1);
    try {
      const applied = await migrate(database);
      return answer(call, { applied }, () => [
        applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`,
      ]);
    } finally {
      await database.close();
    }
  },
};
