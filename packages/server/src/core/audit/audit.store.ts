/**
 * The audit log: who did what to which record, from where. Written in the transaction of the action; never contains a
 * secret.
 */

import { redactSecrets } from "@signet/protocol/redact-secrets";
import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import { columnsOf } from "../../db/columns.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Columns, eachColumn, type Parameter, prepared } from "../../db/prepared.ts";
import { isNamed, nameIn } from "../../db/search-text.ts";
import type { AuditEventTable } from "../../db/tables/organisations.ts";
import { findMemberNames } from "../users/members/member-names.store.ts";
import { type AuditAction, isChangeOf } from "./actions.ts";
import { insertMentions, insertTypedEmail } from "./event-context.store.ts";
import {
  type EventContext,
  eventContext,
  joinDetails,
  mentionsOf,
  readTypedEmail,
  splitDetails,
} from "./event-context.ts";
import { canonicalAddress } from "./ip-address.ts";

export interface AuditEvent {
  readonly orgId: string;
  readonly at: number;
  /**
   * `user:<id>`, `client:<id>`, `system-account:<id>`, `agent:<id>`, `device:<id>`, `connection:<id>`, `portal-link:<id>`,
   * `initial-access-token:<id>`, `operator` (command line), `system` (by itself) or `anonymous`.
   */
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of the record: at most a few hundred bytes, because it is indexed. */
  readonly target?: string | undefined;
  readonly address?: string | undefined;
  /** The application that it happened through; targets and `client:` actors need no mention. */
  readonly applicationId?: string | undefined;
  /** Another record that it is as much about as about its target, e.g. who is given a role. */
  readonly subjectId?: string | undefined;
  /** What was typed as an email address: kept for a time, apart from the event, if no account (`target`) has it. */
  readonly typedEmail?: string | undefined;
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
}

export interface StoredEvent
  extends Omit<AuditEvent, "action" | "applicationId" | "subjectId" | "typedEmail"> {
  readonly id: string;
  /** An `AuditAction`, except for events of another version of Signet. */
  readonly action: string;
  readonly details: NonNullable<AuditEvent["details"]>;
  readonly context?: EventContext;
  /** Its position in the organisation's chain, from 1; undefined until it is chained, a second or so later. */
  readonly seq?: number;
  readonly hash?: string;
}

/** What a change and its audit event have in common. */
export type Act = Pick<AuditEvent, "orgId" | "actor" | "address">;

export const auditFields = ({ orgId, actor, address }: Act, at: number) => ({ orgId, at, actor, address });

/**
 * @param db the transaction of the action. Events that unauthenticated requests can cause in any number go through
 * unauthenticated-events.ts.
 */
export const recordAuditEvent = (db: Db, event: AuditEvent): Promise<void> => recordAuditEvents(db, [event]);

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 500;

/** Many at once, in as few statements as their number allows. */
export async function recordAuditEvents(db: Db, events: readonly AuditEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += MAX_ROWS)
    await insertEvents(db, events.slice(at, at + MAX_ROWS).map(toInsert));
}

function toInsert(event: AuditEvent) {
  const { orgId, at } = event;
  const id = newUuid();
  const typedEmail =
    event.typedEmail === undefined ? undefined : readTypedEmail(event.typedEmail, event.target !== undefined);
  const context = eventContext({
    applicationId: event.applicationId,
    subjectId: event.subjectId,
    typedEmail,
  });
  const row = {
    org_id: orgId,
    id,
    at,
    actor: event.actor,
    action: event.action,
    target: event.target === undefined ? null : redactSecrets(event.target),
    address: event.address === undefined ? null : (canonicalAddress(event.address) ?? event.address),
    // Details contain no secrets by design; error texts from others may.
    details: redactSecrets(JSON.stringify(joinDetails(event.details ?? {}, context))),
    seq: null,
    hash: null,
    is_change: isChangeOf(event.action, event.target) ? (1 as const) : (0 as const),
  };
  return { row, key: { orgId, eventId: id, at }, mentions: mentionsOf(context), typedEmail };
}

const columns = columnsOf<AuditEventTable>()(
  ...(["org_id", "id", "at", "actor", "action", "target", "address"] as const),
  ...(["details", "seq", "hash", "is_change"] as const),
);

const insertOne = prepared((db, value: Parameter<Columns<AuditEventTable>>) =>
  db.insertInto("audit_event").values(eachColumn(columns, value)),
);

async function insertEvents(db: Db, inserts: readonly ReturnType<typeof toInsert>[]): Promise<void> {
  const [first, ...others] = inserts;
  if (first && others.length === 0) await insertOne(db, first.row);
  else
    await db
      .insertInto("audit_event")
      .values(inserts.map(({ row }) => row))
      .execute();
  await insertMentions(db, inserts);
  for (const { key, typedEmail } of inserts) if (typedEmail) await insertTypedEmail(db, key, typedEmail);
}

/** In the order of writing, newest first. */
export async function listAuditEvents(db: Db, orgId: string, limit: number): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toStoredEvent);
}

export async function findAuditEvent(db: Db, orgId: string, id: string): Promise<StoredEvent | undefined> {
  const row = await db
    .selectFrom("audit_event")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && toStoredEvent(row);
}

export const toStoredEvent = (row: AuditEventTable): StoredEvent => ({
  orgId: row.org_id,
  id: row.id,
  at: row.at,
  actor: row.actor,
  action: row.action,
  ...(row.target === null ? {} : { target: row.target }),
  ...(row.address === null ? {} : { address: row.address }),
  ...splitDetails(detailsOf(row.details)),
  ...(row.seq === null ? {} : { seq: row.seq }),
  ...(row.hash === null ? {} : { hash: row.hash }),
});

/** Tampered details may not be JSON: the page shows them anyway, and `signet audit verify` reports them. */
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

/** The last change of a record. @param target the record's id. @returns undefined when it was never changed */
export async function lastChange(db: Db, orgId: string, target: string): Promise<LastChange | undefined> {
  const row = await newestChange(db, orgId, target).executeTakeFirst();
  return row && { actor: row.actor, at: row.at };
}

/** The last change of each row of a list. @returns by target; records that were never changed are missing */
export async function lastChanges(
  db: Db,
  orgId: string,
  targets: readonly string[],
): Promise<ReadonlyMap<string, LastChange>> {
  const [first, ...others] = [...new Set(targets)].slice(0, MAX_TARGETS);
  if (first === undefined) return new Map();
  const of = (target: string) =>
    db.selectFrom(newestChange(db, orgId, target).as("newest")).select(["target", "actor", "at"]);
  const rows = await others.reduce((query, target) => query.unionAll(of(target)), of(first)).execute();
  return new Map(rows.flatMap(({ target, actor, at }) => (target === null ? [] : [[target, { actor, at }]])));
}

/** Terms of one compound SELECT: SQLite allows 500. */
const MAX_TARGETS = 200;

const newestChange = (db: Db, orgId: string, target: string) =>
  db
    .selectFrom("audit_event")
    .select(["target", "actor", "at"])
    .where((eb) => allOf(eb, { org_id: orgId, target }))
    // A literal, as in the partial index: with a parameter the index would not be used.
    .where("is_change", "=", sql.lit(1))
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1);

/** Kinds of records with a name; users are named by their email address. */
export type NamedKind = "user" | keyof typeof namedTables;

const namedTables = {
  "system-account": "system_account",
  client: "application",
  agent: "signing_agent",
  device: "device",
  pool: "signing_pool",
  scope: "custom_scope",
  connection: "connection",
  group: "user_group",
  role: "role",
  domain: "domain",
  webhook: "webhook",
  resource: "protected_resource",
  trust: "trust",
  "token-exchange-policy": "token_exchange_policy",
  "client-authority": "client_certificate_authority",
  "authorization-detail-type": "authorization_detail_type",
  "initial-access-token": "initial_access_token",
} as const;

type StoredKind = Exclude<NamedKind, "user">;

const nameColumns: Readonly<Partial<Record<StoredKind, readonly string[]>>> = {
  group: ["display_name"],
  domain: ["domain"],
  webhook: ["url"],
  trust: ["subject_pattern", "issuer"],
  "authorization-detail-type": ["display_name", "type"],
  "initial-access-token": ["label"],
};

const namesOf = (kind: StoredKind): readonly string[] => nameColumns[kind] ?? ["name"];

/** Some receivers have a secret in their address: what is read is where it is. */
const nameOf = (kind: StoredKind, name: string): string =>
  kind === "webhook" ? (URL.parse(name)?.host ?? name) : name;

export const namedKinds = ["user", ...Object.keys(namedTables)] as readonly NamedKind[];

/**
 * Records whose name or id contains the text, by name; users are found by `listMembers`.
 * @param limit one more than shown, to tell that there are more
 */
export async function selectIdsByName(
  db: Db,
  orgId: string,
  kind: StoredKind,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<string[]> {
  const table = namedTables[kind];
  const rows = await db
    .selectFrom(table)
    .select("id")
    .where("org_id", "=", orgId)
    .where(isNamed(table, text, namesOf(kind)))
    .orderBy(nameIn(table, namesOf(kind)))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** @param ids few enough for one statement. @returns those that exist */
export async function selectNames(
  db: Db,
  orgId: string,
  kind: NamedKind,
  ids: readonly string[],
): Promise<Array<{ id: string; name: string }>> {
  if (ids.length === 0) return [];
  if (kind !== "user") {
    const rows = await db
      .selectFrom(namedTables[kind])
      .select(["id", nameIn(namedTables[kind], namesOf(kind)).as("name")])
      .where("org_id", "=", orgId)
      .where("id", "in", ids)
      .execute();
    return rows.map(({ id, name }) => ({ id, name: nameOf(kind, name) }));
  }
  const names = await findMemberNames(db, orgId, ids);
  return [...names.values()].map(({ id, email }) => ({ id, name: email }));
}
