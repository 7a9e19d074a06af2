/** Counts what a connection has brought: what deleting it releases, or leaves without a way in. */
import type { ConnectionKey } from "../../../core/connections/connection.ts";
import type { Db } from "../../../db/open.ts";

export interface ConnectionUses {
  readonly users: number;
  readonly groups: number;
  /** Users who sign in by it. */
  readonly identities: number;
}

const tables = { users: "scim_user", groups: "user_group", identities: "linked_identity" } as const;

export async function countUses(db: Db, key: ConnectionKey): Promise<ConnectionUses> {
  const [users, groups, identities] = await Promise.all([
    countRows(db, key, tables.users),
    countRows(db, key, tables.groups),
    countRows(db, key, tables.identities),
  ]);
  return { users, groups, identities };
}

async function countRows(
  db: Db,
  { orgId, id }: ConnectionKey,
  table: (typeof tables)[keyof typeof tables],
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll().as("count"))
    .where("org_id", "=", orgId)
    .where("connection_id", "=", id)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
