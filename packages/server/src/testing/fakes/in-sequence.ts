/** Two concurrent transactions, as on two nodes: the second begins just before the first commits. */
import { boundTo, type Database } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { eventually } from "../eventually.ts";
import { isStatementBlocked } from "../probes/blocked-statements.ts";

/**
 * @param first in its transaction. @param second in one of its own
 * @returns how the second ended. @throws when it does not wait for the first, or the first fails
 */
export async function runConcurrently(
  database: Database,
  first: (inside: Database) => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<PromiseSettledResult<unknown>> {
  const waits = () => isStatementBlocked(database.query);
  let ended: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await database.transaction(async (tx) => {
    await first(boundTo(database, tx));
    ended = asAnotherRequest(() => Promise.allSettled([second()]));
    // SQLite has one writer anyway.
    if (database.kind === "postgres") await eventually("the second waits for the first", waits);
  });
  const [result] = await ended;
  if (!result) throw new Error("the second has not begun");
  return result;
}
