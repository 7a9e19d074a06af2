/** The audit log: who did what to what, from where. Written in the transaction of the act; never holds a secret. */
import { redactSecrets } from "@signet/protocol/redact-secrets";
import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { AuditEventTable } from "../../db/tables/organisations.ts";
import { type AuditAction, isChangeOf } from "./actions.ts";

export interface AuditEvent {
  readonly orgId: string;
  readonly at: number;
  /**
   * `user:<id>`, `client:<id>`, `system-account:<id>`, `agent:<id>`, `device:<id>`, `operator` (command line), `system`
   * (by itself) or `anonymous`.
   */
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of what it was done to: at most a few hundred bytes, for it is in an index. */
  readonly target?: string;
  readonly address?: string | undefined;
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** An event as it is kept. */
export interface KeptEvent extends Omit<AuditEvent, "action"> {
  readonly id: string;
  /** One of `AuditAction`, but for events of another version of this program. */
  readonly action: string;
  readonly details: NonNullable<AuditEvent["details"]>;
  /** Its place in the organisation's chain, from 1; undefined for the second or so until it is chained. */
  readonly seq?: number;
  readonly hash?: string;
}

/** @param db the transaction of the act. What follows a stranger's act, in any number, goes through unauthenticated-events.ts. */
export async function recordAuditEvent(db: Db, event: AuditEvent): Promise<void> {
  await db
    .insertInto("audit_event")
    .values({
      org_id: event.orgId,
      id: newUuid(),
      at: event.at,
      actor: event.actor,
      action: event.action,
      target: event.target === undefined ? null : redactSecrets(event.target),
      address: event.address ?? null,
      // Acts hold no secret in their details in the first place; the texts of errors are others'.
      details: redactSecrets(JSON.stringify(event.details ?? {})),
      seq: null,
      hash: null,
      is_change: isChangeOf(event.action, event.target) ? 1 : 0,
    })
    .execute();
}

/** In the order in which they were written, the newest first. */
export async function listAuditEvents(db: Db, orgId: string, limit: number): Promise<KeptEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(keptEvent);
}

export async function findAuditEvent(db: Db, orgId: string, id: string): Promise<KeptEvent | undefined> {
  const row = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && keptEvent(row);
}

export const keptEvent = (row: AuditEventTable): KeptEvent => ({
  orgId: row.org_id,
  id: row.id,
  at: row.at,
  actor: row.actor,
  action: row.action,
  ...(row.target === null ? {} : { target: row.target }),
  ...(row.address === null ? {} : { address: row.address }),
  details: detailsOf(row.details),
  ...(row.seq === null ? {} : { seq: row.seq }),
  ...(row.hash === null ? {} : { hash: row.hash }),
});

/** Somebody may have written there what is no JSON: the page shows it all the same, and `signet audit verify` tells. */
function detailsOf(text: string): NonNullable<AuditEvent["details"]> {
  try {
    const details: unknown = JSON.parse(text);
    if (typeof details === "object" && details !== null && !Array.isArray(details))
      return details as NonNullable<AuditEvent["details"]>;
  } catch {}
  return { details: text };
}

export interface LastChange {
  readonly actor: string;
  readonly at: number;
}

/** Who changed a record last. @param target the record's id. @returns undefined when nobody ever did */
export async function lastChange(db: Db, orgId: string, target: string): Promise<LastChange | undefined> {
  const row = await newestChange(db, orgId, target).executeTakeFirst();
  return row && { actor: row.actor, at: row.at };
}

/** For the rows of a list. @returns by target; those that nobody ever changed are not in it */
export async function lastChanges(
  db: Db,
  orgId: string,
  targets: readonly string[],
): Promise<ReadonlyMap<string, LastChange>> {
  const [first, ...others] = [...new Set(targets)].slice(0, MOST_AT_ONCE);
  if (first === undefined) return new Map();
  const of = (target: string) =>
    db.selectFrom(newestChange(db, orgId, target).as("newest")).select(["target", "actor", "at"]);
  const rows = await others.reduce((query, target) => query.unionAll(of(target)), of(first)).execute();
  return new Map(rows.flatMap(({ target, actor, at }) => (target === null ? [] : [[target, { actor, at }]])));
}

/** Terms of one statement: SQLite takes 500. */
const MOST_AT_ONCE = 200;

const newestChange = (db: Db, orgId: string, target: string) =>
  db
    .selectFrom("audit_event")
    .select(["target", "actor", "at"])
    .where("org_id", "=", orgId)
    .where("target", "=", target)
    // Said as the index says it: a parameter would not be known to fit.
    .where("is_change", "=", sql.lit(1))
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1);

/** What has a name: users by their address, everything else by its own. */
export type NamedKind = "user" | keyof typeof namedTables;

const namedTables = {
  "system-account": "system_account",
  client: "application",
  agent: "signing_agent",
  device: "device",
  pool: "signing_pool",
  scope: "custom_scope",
} as const;

export const namedKinds = ["user", ...Object.keys(namedTables)] as readonly NamedKind[];

/** @param ids not too many for one statement. @returns of those that are there */
export async function selectNames(
  db: Db,
  orgId: string,
  kind: NamedKind,
  ids: readonly string[],
): Promise<Array<{ id: string; name: string }>> {
  if (ids.length === 0) return [];
  if (kind !== "user")
    return db
      .selectFrom(namedTables[kind])
      .select(["id", "name"])
      .where("org_id", "=", orgId)
      .where("id", "in", ids)
      .execute();
  return db
    .selectFrom("membership")
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.home_org_id")
        .onRef("user_account.id", "=", "membership.user_id"),
    )
    .select(["user_account.id", "user_account.email as name"])
    .where("membership.org_id", "=", orgId)
    .where("membership.user_id", "in", ids)
    .execute();
}
