/** Groups inside groups: how deep they go, and whether one would be inside itself. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { MAX_DEPTH } from "./group.ts";

interface Nesting {
  readonly orgId: string;
  /** The outer group. */
  readonly groupId: string;
  readonly memberIds: readonly string[];
}

/**
 * The fault of a nesting that is stored already. Walks no deeper than a chain may be, and one step more: in a cycle it comes
 * to the outer group again, or never ends.
 */
export async function nestingFault(
  tx: Db,
  { orgId, groupId, memberIds }: Nesting,
): Promise<"group-cycle" | "group-depth" | undefined> {
  if (memberIds.includes(groupId)) return "group-cycle";
  const above = await walk(tx, { orgId, from: [groupId], step: "up" });
  const below = await walk(tx, { orgId, from: memberIds, step: "down" });
  if (below.ids.includes(groupId)) return "group-cycle";
  return above.depth + below.depth > MAX_DEPTH ? "group-depth" : undefined;
}

/** @returns how many groups the longest chain has, these included, and which ones there are beyond these */
async function walk(
  tx: Db,
  { orgId, from, step }: { orgId: string; from: readonly string[]; step: "up" | "down" },
): Promise<{ readonly depth: number; readonly ids: readonly string[] }> {
  const [near, far] = (step === "up" ? ["member_id", "group_id"] : ["group_id", "member_id"]).map((column) =>
    sql.ref(`group_nested.${column}`),
  );
  const start = sql.join(from.map((id) => sql`${id}`));
  const { rows } = await sql<{ id: string; depth: number }>`
    with recursive walked (id, depth) as (
      select id, 1 from user_group where org_id = ${orgId} and id in (${start})
      union
      select ${far}, walked.depth + 1 from walked
      join group_nested on group_nested.org_id = ${orgId} and ${near} = walked.id
      where walked.depth <= ${MAX_DEPTH})
    select id, max(depth) as depth from walked group by id`.execute(tx);
  const depths = rows.map(({ depth }) => Number(depth));
  return {
    depth: Math.max(0, ...depths),
    ids: rows.filter(({ depth }) => Number(depth) > 1).map(({ id }) => id),
  };
}
