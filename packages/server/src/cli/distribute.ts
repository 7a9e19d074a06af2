/** `signet distribute`: prints, or runs, what distributes the database by organisation over a Citus cluster. */
import { distribute, distributionStatements } from "../db/distribution/distribute.ts";
import { openDatabase } from "../db/open.ts";
import { type Command, jsonOption } from "./command.ts";
import { requireDatabase } from "./installation.ts";
import { printResult } from "./output.ts";

export const distributeCommand: Command = {
  name: "distribute",
  summary: "distribute the database by organisation over a Citus cluster: prints the statements",
  usage: "[--apply] [--json]",
  options: {
    apply: { help: "run them: stop the servers first" },
    ...jsonOption,
  },
  run: async (call) => {
    const { config, values, io } = call;
    await requireDatabase(config);
    const database = openDatabase(config.databaseUrl, 1);
    try {
      const isApplied = values["apply"] === true;
      const tell = (statement: string) => (values["json"] ? undefined : io.print(`${statement};`));
      const statements = isApplied
        ? await distribute(database, tell)
        : await distributionStatements(database);
      return printResult(call, { statements, applied: isApplied }, () => {
        if (statements.length === 0) return ["Everything is distributed by organisation."];
        return isApplied ? ["Done."] : statements.map((statement) => `${statement};`);
      });
    } finally {
      await database.close();
    }
  },
};
