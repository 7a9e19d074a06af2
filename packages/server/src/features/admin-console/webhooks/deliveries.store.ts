/** What the pages show of the deliveries of webhooks. */
import type { EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord } from "../../../db/records.ts";

type State = EventDelivery["state"];

/** The newest events first: their ids rise with the time. @param place.after an id */
export async function listDeliveries(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
  place: { readonly state: State | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<EventDelivery[]> {
  const { state, after, limit } = place;
  const rows = await db
    .selectFrom("event_delivery")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id }))
    .$if(state !== undefined, (query) => query.where("state", "=", state ?? ""))
    .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...toRecord(row), state: row.state as State }));
}

/** How many of each webhook were given up, by its id; those without any are missing. */
export async function countFailed(db: Db, orgId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("event_delivery")
    .select(["target_id", ({ fn }) => fn.countAll<number>().as("failed")])
    .where((eb) => allOf(eb, { org_id: orgId, state: "dead" }))
    .groupBy("target_id")
    .execute();
  return new Map(rows.map(({ target_id, failed }) => [target_id, Number(failed)]));
}

/** Of one webhook, by state. */
export async function countDeliveries(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<Readonly<Record<State, number>>> {
  const rows = await db
    .selectFrom("event_delivery")
    .select(["state", ({ fn }) => fn.countAll<number>().as("count")])
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id }))
    .groupBy("state")
    .execute();
  const of = (state: State) => Number(rows.find((row) => row.state === state)?.count ?? 0);
  return { pending: of("pending"), delivered: of("delivered"), dead: of("dead") };
}
