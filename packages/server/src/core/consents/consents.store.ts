/** Stores consents and pre-authorizations. */

import { formatScope } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { ConsentTable, PreauthorizationTable } from "../../db/tables/consents.ts";
import type { ClientSource } from "../applications/application.ts";
import type { ScopeFingerprints } from "../scopes/custom-scope.ts";
import { definitionsOf, type ScopeDefinitions, writeDefinitions } from "../scopes/scope-definitions.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { type Consent, preauthorization } from "./consent.ts";
import { countingScopes, readCountingScopes } from "./counting-scopes.ts";

/** The active consents of every kind that apply to this user and application. */
export async function findConsents(
  db: Db,
  key: { orgId: string; applicationId: string; userId: string },
): Promise<Consent[]> {
  const consents = await db
    .selectFrom("consent")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: key.orgId, application_id: key.applicationId }))
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("kind", "=", "organisation"), eb("user_id", "=", key.userId)]))
    .execute();
  return [...(await fromRows(db, consents)), ...(await findPreauthorizations(db, key))];
}

export interface ConsentGrant {
  readonly orgId: string;
  readonly applicationId: string;
  /** Undefined: for all users of the organisation. */
  readonly userId?: string;
  readonly scopes: readonly string[];
  readonly fingerprints: ScopeFingerprints;
  /** As read by the decision, with the fingerprints. */
  readonly definitions: ScopeDefinitions;
  readonly grantedBy: string;
  readonly now: number;
}

/** @returns the consent's id */
export async function grantUserConsent(
  db: Db,
  grant: Omit<ConsentGrant, "grantedBy" | "userId"> & { readonly userId: string },
): Promise<string> {
  return (await grantConsent(db, { ...grant, grantedBy: `user:${grant.userId}` })).id;
}

export interface Granted {
  readonly id: string;
  /** False when scopes were added to an existing consent. */
  readonly isNew: boolean;
}

/**
 * Adds scopes to the consent. A user has one active consent for each application, an organisation too: two concurrent
 * grants end in one row.
 */
export async function grantConsent(db: Db, grant: ConsentGrant): Promise<Granted> {
  const { userId } = grant;
  const newId = newUuid();
  const kind = userId === undefined ? "organisation" : "user";
  const { id } = await db
    .insertInto("consent")
    .values({
      org_id: grant.orgId,
      id: newId,
      kind,
      application_id: grant.applicationId,
      user_id: userId ?? null,
      scope: formatEachOnce(grant.scopes),
      granted_by: grant.grantedBy,
      granted_at: grant.now,
      created_at: grant.now,
      revoked_at: null,
      scope_fingerprints: JSON.stringify(grant.fingerprints),
      scope_definitions: writeDefinitions(grant.definitions),
    })
    .onConflict((conflict) =>
      conflict
        .columns(
          userId === undefined ? ["org_id", "application_id"] : ["org_id", "application_id", "user_id"],
        )
        .where("revoked_at", "is", null)
        // A literal, because the partial index is matched by its condition.
        .where("kind", "=", sql.lit(kind))
        .doUpdateSet({ granted_by: grant.grantedBy }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  if (id !== newId) await addToConsent(db, { orgId: grant.orgId, id }, grant);
  return { id, isNew: id === newId };
}

/** Scopes that no longer count leave the consent: its new time and definitions would revive them. */
async function addToConsent(db: Db, { orgId, id }: RecordKey, grant: ConsentGrant): Promise<void> {
  const before = await db
    .selectFrom("consent")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirstOrThrow();
  const customScopes = await listCustomScopes(db, orgId);
  const others = countingScopes(before, customScopes).filter((name) => !grant.scopes.includes(name));
  // The consent is to the current claims of the added scopes.
  const fingerprints = Object.entries(readFingerprints(before.scope_fingerprints)).filter(([name]) =>
    others.includes(name),
  );
  await db
    .updateTable("consent")
    .set({
      granted_at: grant.now,
      created_at: before.created_at ?? before.granted_at,
      scope: formatEachOnce([...others, ...grant.scopes]),
      scope_fingerprints: JSON.stringify({ ...Object.fromEntries(fingerprints), ...grant.fingerprints }),
      scope_definitions: writeDefinitions({ ...definitionsOf(customScopes, others), ...grant.definitions }),
    })
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** A caller may name a scope twice. */
const formatEachOnce = (scopes: readonly string[]): string => formatScope([...new Set(scopes)]);

type RecordKey = Pick<Consent, "orgId" | "id">;

export interface ConsentKey extends RecordKey {
  /** Only this user's consent. */
  readonly userId?: string;
  /** Only a consent for this application. */
  readonly applicationId?: string;
}

/** Also a revoked one. */
export async function findConsentRecord(db: Db, { orgId, id }: RecordKey): Promise<Consent | undefined> {
  const row = await db
    .selectFrom("consent")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && (await fromRows(db, [row]))[0];
}

/** @returns the revoked consent; undefined when there is no such active one */
export async function markConsentRevoked(
  db: Db,
  { orgId, id, userId, applicationId }: ConsentKey,
  { by, now }: { by: string; now: number },
): Promise<Consent | undefined> {
  const ofUser = userId === undefined ? {} : { kind: "user", user_id: userId };
  const ofApplication = applicationId === undefined ? {} : { application_id: applicationId };
  const row = await db
    .updateTable("consent")
    .set({ revoked_at: now, revoked_by: by })
    .where((eb) => allOf(eb, { org_id: orgId, id, ...ofUser, ...ofApplication, revoked_at: null }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row, row.scope.split(" "));
}

/** The user's active consents, or those for one application, newest first, with the applications' names and sources. */
export async function listUserConsents(
  db: Db,
  key: { orgId: string; userId: string; applicationId?: string },
): Promise<{ consent: Consent; applicationName: string; clientSource: ClientSource }[]> {
  const { applicationId } = key;
  const rows = await db
    .selectFrom("consent")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "consent.org_id")
        .onRef("application.id", "=", "consent.application_id"),
    )
    .selectAll("consent")
    .select(["application.name as applicationName", "application.source as clientSource"])
    .where((eb) => allOf(eb, { "consent.org_id": key.orgId, "consent.user_id": key.userId }))
    .where("consent.kind", "=", "user")
    .where("consent.revoked_at", "is", null)
    .$if(applicationId !== undefined, (query) =>
      query.where("consent.application_id", "=", applicationId ?? ""),
    )
    .orderBy("consent.granted_at", "desc")
    .orderBy("consent.id", "desc")
    .execute();
  const consents = await fromRows(
    db,
    rows.map(({ applicationName: _name, clientSource: _source, ...row }) => row),
  );
  return rows.flatMap(({ applicationName, clientSource }, at) => {
    const consent = consents[at];
    return consent ? [{ consent, applicationName, clientSource: clientSource as ClientSource }] : [];
  });
}

export interface ConsentFilter {
  readonly applicationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly kind?: "user" | "organisation" | undefined;
  /** Includes revoked consents. */
  readonly revoked?: boolean;
}

/** Consents of users and for all users, by id; active ones by default. */
export async function listConsents(
  db: Db,
  orgId: string,
  page: ConsentFilter & { after?: string | undefined; limit: number },
): Promise<Consent[]> {
  let query = db
    .selectFrom("consent")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id")
    .limit(page.limit);
  if (!page.revoked) query = query.where("revoked_at", "is", null);
  if (page.kind !== undefined) query = query.where("kind", "=", page.kind);
  if (page.applicationId !== undefined) query = query.where("application_id", "=", page.applicationId);
  if (page.userId !== undefined) query = query.where("user_id", "=", page.userId);
  if (page.after !== undefined) query = query.where("id", ">", page.after);
  return fromRows(db, await query.execute());
}

export async function insertPreauthorization(
  db: Db,
  record: Consent,
  definitions: ScopeDefinitions,
): Promise<void> {
  const { orgId, id, applicationId, scopes, grantedBy, grantedAt } = record;
  const granted = { scope: formatScope(scopes), created_by: grantedBy, created_at: grantedAt };
  await db
    .insertInto("preauthorization")
    .values({
      ...toRow({ orgId, id, applicationId }),
      ...granted,
      scope_definitions: writeDefinitions(definitions),
    })
    .execute();
}

export async function removePreauthorization(db: Db, { orgId, id }: RecordKey): Promise<Consent | undefined> {
  const row = await db
    .deleteFrom("preauthorization")
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromPreauthorization(row, row.scope.split(" "));
}

const preauthorizations = (db: Db, orgId: string) =>
  db.selectFrom("preauthorization").selectAll().where("org_id", "=", orgId).orderBy("id");

export async function listPreauthorizations(
  db: Db,
  orgId: string,
  {
    applicationId,
    after,
    limit,
  }: { applicationId?: string | undefined; after?: string | undefined; limit: number },
): Promise<Consent[]> {
  let query = preauthorizations(db, orgId).limit(limit);
  if (applicationId !== undefined) query = query.where("application_id", "=", applicationId);
  if (after !== undefined) query = query.where("id", ">", after);
  return fromPreauthorizations(db, await query.execute());
}

/** All of an application. */
export async function findPreauthorizations(
  db: Db,
  { orgId, applicationId }: { orgId: string; applicationId: string },
): Promise<Consent[]> {
  const rows = await preauthorizations(db, orgId).where("application_id", "=", applicationId).execute();
  return fromPreauthorizations(db, rows);
}

export async function findPreauthorization(db: Db, { orgId, id }: RecordKey): Promise<Consent | undefined> {
  const row = await preauthorizations(db, orgId).where("id", "=", id).executeTakeFirst();
  return row && (await fromPreauthorizations(db, [row]))[0];
}

type Key = { orgId: string; consentId: string };

const lockRow = (table: "consent" | "preauthorization") =>
  prepared((db, value: Parameter<Key>) => {
    const query = db
      .selectFrom(table as "consent")
      .select("id")
      .where((eb) => allOf(eb, { org_id: value("orgId"), id: value("consentId") }))
      .$if(table === "consent", (consents) => consents.where("revoked_at", "is", null));
    return isPostgres(db) ? query.forShare() : query;
  });

const lockConsentRow = lockRow("consent");
const lockPreauthorizationRow = lockRow("preauthorization");

/**
 * Whether the consent is active, locked until the transaction ends. A shared lock, because all codes of an application may
 * depend on one organisation-wide consent: only revoking it waits, and then sees the new token families. SQLite
 * transactions are serial anyway.
 */
export async function lockConsent(tx: Db, key: Key): Promise<boolean> {
  return (await lockConsentRow(tx, key)).length > 0 || (await lockPreauthorizationRow(tx, key)).length > 0;
}

const selectFingerprints = prepared((db, value: Parameter<Key>) =>
  db
    .selectFrom("consent")
    .select("scope_fingerprints")
    .where((eb) => allOf(eb, { org_id: value("orgId"), id: value("consentId") }))
    .where("kind", "=", "user"),
);

/** Undefined for an administrator's consent, which doesn't limit a scope's claims. */
export async function findConsentedFingerprints(db: Db, key: Key): Promise<ScopeFingerprints | undefined> {
  const [row] = await selectFingerprints(db, key);
  return row && readFingerprints(row.scope_fingerprints);
}

const readFingerprints = (text: string | null): ScopeFingerprints =>
  text === null ? {} : (JSON.parse(text) as ScopeFingerprints);

async function fromRows(db: Db, rows: readonly ConsentTable[]): Promise<Consent[]> {
  const scopes = await readCountingScopes(db, rows);
  return rows.map((row, at) => fromRow(row, scopes[at] ?? []));
}

function fromRow(row: ConsentTable, scopes: readonly string[]): Consent {
  const { kind, scope: _scope, scope_fingerprints, scope_definitions, revoked_by: _, ...members } = row;
  const fingerprints = readFingerprints(scope_fingerprints);
  const { createdAt, ...record } = toRecord(members);
  return {
    ...{ ...record, createdAt: createdAt ?? record.grantedAt },
    ...{ kind: kind as Consent["kind"], scopes, fingerprints },
  };
}

async function fromPreauthorizations(db: Db, rows: readonly PreauthorizationTable[]): Promise<Consent[]> {
  const scopes = await readCountingScopes(db, rows);
  return rows.map((row, at) => fromPreauthorization(row, scopes[at] ?? []));
}

const fromPreauthorization = (
  { org_id, id, application_id, created_by, created_at }: PreauthorizationTable,
  scopes: readonly string[],
): Consent =>
  preauthorization({
    ...toRecord({ org_id, id, application_id }),
    scopes,
    grantedBy: created_by,
    grantedAt: created_at,
  });
