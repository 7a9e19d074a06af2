/** Asks before something is deleted for good. */
import { type Call, UsageError } from "./command.ts";

/**
 * @param what e.g. `ada@acme.example`
 * @returns whether to go on: with `--yes` unasked. Otherwise it has said that nothing was deleted
 * @throws UsageError where nobody can be asked
 */
export async function confirmDeletion(
  { values, io }: Pick<Call, "io" | "values">,
  what: string,
): Promise<boolean> {
  if (values.yes === true) return true;
  if (values.json === true) throw new UsageError("--json can't ask for confirmation: add --yes");
  const confirmed = await io.confirm(`Delete ${what}? You can't undo this.`);
  if (confirmed === undefined) throw new UsageError("no terminal to confirm on: add --yes");
  if (!confirmed) io.printError("Nothing was deleted.");
  return confirmed;
}
