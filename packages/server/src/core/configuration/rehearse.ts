/** What applying a file would change, or why it would be refused: the file is applied, by the same rules, and undone. */
import { boundTo } from "../../db/open.ts";
import { undone } from "../../db/savepoint.ts";
import { inPortions } from "../portions.ts";
import { type Applying, applyFile, ConfigurationChanged } from "./apply.ts";
import { compared } from "./difference.ts";
import { type Entry, entriesOf, isDone } from "./entries.ts";
import type { SectionDeps } from "./sections/section.ts";
import { readState } from "./state.ts";

/**
 * Changes nothing, and locks nothing where nothing would change: pipelines look often.
 * @returns the difference
 * @throws what `applyFile` throws
 */
export function rehearseFile(deps: SectionDeps, applying: Omit<Applying, "shown">): Promise<Entry[]> {
  const { database, changes } = deps;
  return database.transaction(async (tx) => {
    const state = await readState(tx, applying.orgId);
    if (!state) throw new ConfigurationChanged();
    const entries = entriesOf(await inPortions(compared(state, applying.file, applying.prune)));
    if (!entries.some(isDone)) return entries;
    // No cache drops what does not change.
    const silent = { ...changes, publish: async () => {} };
    const inside = { ...deps, database: boundTo(database, tx), changes: silent };
    return undone(tx, () => applyFile(inside, applying));
  });
}
