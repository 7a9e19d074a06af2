/** Compares what is indexed of a chained event with the event itself, which its hash covers. */
import type { Db } from "../../../db/open.ts";
import { readContextRows } from "../event-context.store.ts";
import { mentionsOf, splitDetails, typedEmailHash } from "../event-context.ts";
import type { StoredLink } from "./chain.store.ts";

/**
 * Every mention is indexed, and nothing else is. A typed email address may be gone, never another one.
 * @param events of one organisation, in the order of the chain
 */
export async function contextIndexChecker(
  db: Db,
  orgId: string,
  events: readonly StoredLink[],
): Promise<(event: StoredLink) => boolean> {
  const seqs = events.map(({ seq }) => seq);
  const range = { after: Math.min(...seqs) - 1, until: Math.max(...seqs) };
  const { mentions, emails } = await readContextRows(db, orgId, range);
  const [indexed, typed] = [Map.groupBy(mentions, byEvent), Map.groupBy(emails, byEvent)];
  return ({ id, at, details }) => {
    const { context } = splitDetails(parse(details));
    const expected = mentionsOf(context).map(({ kind, value }) => `${kind} ${at} ${value}`);
    const found = (indexed.get(id) ?? []).map((row) => `${row.kind} ${row.at} ${row.value}`);
    return (
      expected.sort().join("\n") === found.sort().join("\n") &&
      (typed.get(id) ?? []).every((row) => row.at === at && typedEmailHash(row) === context?.emailHash)
    );
  };
}

const byEvent = ({ eventId }: { readonly eventId: string }): string => eventId;

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const details: unknown = JSON.parse(text);
    return typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
