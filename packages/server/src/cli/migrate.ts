/** `signet migrate`: applies pending migrations without starting the server. */

import { mkdir } from "node:fs/promises";
import { version } from "../config/version.ts";
import { migrate } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { type Command, jsonOption } from "./command.ts";
import { printResult } from "./output.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "apply pending database migrations; signet start also applies them",
  usage: "[--json]",
  options: jsonOption,
  run: async (call) => {
    const { config } = call;
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const database = openDatabase(config.databaseUrl, 1);
    try {
      const applied = await migrate(database, version);
      return printResult(call, { applied }, () => [
        applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`,
      ]);
    } finally {
      await database.close();
    }
  },
};
