/** Applications with their secrets and origins: found, listed, searched, changed, deleted. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { columnsOf } from "../../db/columns.ts";
import { allOf } from "../../db/conditions.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../db/keyset.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import { isNamed } from "../../db/search-text.ts";
import type { ApplicationTable, ClientSecretTable } from "../../db/tables/applications.ts";
import {
  type Application,
  type ApplicationSettings,
  type ClientSecret,
  defaultSettings,
} from "./application.ts";

const applicationColumns = columnsOf<ApplicationTable>()(
  ...(["org_id", "id", "name", "client_type", "settings"] as const),
  ...([
    "created_at",
    "updated_at",
    "disabled_at",
    "version",
    "home_org_id",
    "granted_scopes",
    "source",
  ] as const),
);

const secretColumns = columnsOf<ClientSecretTable>()(
  ...(["org_id", "application_id", "id", "label", "secret_hash", "hint"] as const),
  ...(["created_at", "expires_at", "revoked_at", "last_used_at"] as const),
);

export async function insertApplication(db: Db, application: Application): Promise<void> {
  const { settings, secrets: _secrets, grantedScopes, ...members } = application;
  await db
    .insertInto("application")
    .values({
      ...toRow(members),
      settings: JSON.stringify(settings),
      granted_scopes: grantedScopes && JSON.stringify(grantedScopes),
    })
    .execute();
  await replaceOrigins(db, application);
}

/** Includes its secrets, also revoked and expired ones. */
export async function findApplication(db: Db, orgId: string, id: string): Promise<Application | undefined> {
  const row = await findRow(db, { orgId, id });
  return row && fromRow(row, await findSecrets(db, { orgId, id }));
}

/** Not one that another organisation shares. */
export async function findOwnApplication(
  db: Db,
  orgId: string,
  id: string,
): Promise<Application | undefined> {
  const application = await findApplication(db, orgId, id);
  return application?.homeOrgId === null ? application : undefined;
}

const selectApplication = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("application")
    .select(applicationColumns)
    .where((eb) => allOf(eb, { org_id: value("orgId"), id: value("id") })),
);

const selectSecrets = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("client_secret")
    .select(secretColumns)
    .where((eb) => allOf(eb, { org_id: value("orgId"), application_id: value("id") }))
    .orderBy("id"),
);

/** For the stores of applications; functions of their own, so that metrics name a statement alike, whoever asked first. */
export async function findRow(db: Db, key: { readonly orgId: string; readonly id: string }) {
  const [row] = await selectApplication(db, key);
  return row;
}

/** @param key.orgId of a copy: its home */
export const findSecrets = (db: Db, key: { readonly orgId: string; readonly id: string }) =>
  selectSecrets(db, key);

/** Oldest first. */
const secretsOf = (db: Db, orgId: string, applicationIds: readonly string[]): Promise<ClientSecretTable[]> =>
  db
    .selectFrom("client_secret")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("application_id", "in", applicationIds)
    .orderBy("id")
    .execute();

/** Oldest first, with their secrets. @param which.isOwn without those that other organisations share, and those with a metadata document */
export async function listApplications(
  db: Db,
  orgId: string,
  { after = "", limit, isOwn = false }: { after?: string | undefined; limit: number; isOwn?: boolean },
): Promise<Application[]> {
  const rows = await db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", ">", after)
    .$if(isOwn, (query) => query.where("home_org_id", "is", null).where("source", "<>", "metadata-document"))
    .orderBy("id")
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const secrets = Map.groupBy(await secretsOf(db, orgId, ids), ({ application_id: id }) => id);
  return rows.map((row) => fromRow(row, secrets.get(row.id)));
}

/** What an index holds in order; ids rise with the time of creation. */
export const applicationSorts = ["created", "name"] as const;
export type ApplicationSort = (typeof applicationSorts)[number];

export interface ApplicationFilter {
  /** Part of a name or an id; on SQLite, non-ASCII letters are case-sensitive. */
  readonly text?: string | undefined;
  readonly clientType?: ClientType | undefined;
  readonly state?: "enabled" | "disabled" | undefined;
}

/** The organisation's own. */
export interface ApplicationSearch extends ApplicationFilter {
  /** By default the newest first. */
  readonly page?: KeysetPage & { readonly sort: ApplicationSort };
  readonly limit: number;
}

export type ListedApplication = Application & {
  /** As the list is sorted by name: for a cursor. */
  readonly nameOrder: string;
};

// As in the indexes.
const orderColumns = { created: sql.ref("id"), name: sql`lower(name)` } as const;

/** Without their secrets. */
export async function searchApplications(
  db: Db,
  orgId: string,
  { page = { sort: "created", isDescending: true }, limit, ...filter }: ApplicationSearch,
): Promise<ListedApplication[]> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: sql.ref("id") });
  const rows = await matching(db, orgId, filter)
    .selectAll()
    .select(orderColumns.name.$castTo<string>().as("nameOrder"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows).map(({ nameOrder, ...row }) => ({ ...fromRow(row), nameOrder }));
}

/** @param max counts no further */
export const countApplications = (
  db: Db,
  orgId: string,
  { max, ...filter }: ApplicationFilter & { max: number },
): Promise<number> => countRows(db, matching(db, orgId, filter).select("id").limit(max));

const matching = (db: Db, orgId: string, { text, clientType, state }: ApplicationFilter) =>
  db
    .selectFrom("application")
    .where("org_id", "=", orgId)
    .where("home_org_id", "is", null)
    .where("source", "<>", "metadata-document")
    .$if(text !== undefined, (query) => query.where(isNamed("application", text ?? "")))
    .$if(clientType !== undefined, (query) => query.where("client_type", "=", clientType ?? ""))
    .$if(state === "enabled", (query) => query.where("disabled_at", "is", null))
    .$if(state === "disabled", (query) => query.where("disabled_at", "is not", null));

const selectOrganisation = prepared((db, value: Parameter<{ id: string }>) =>
  db
    .selectFrom("application")
    .select("org_id")
    .where("id", "=", value("id"))
    .where("home_org_id", "is", null),
);

/** Where its own home is: ids are unique but for copies. */
export async function organisationOfApplication(db: Db, id: string): Promise<string | undefined> {
  const [row] = await selectOrganisation(db, { id });
  return row?.org_id;
}

/**
 * Replaces everything but id, type and creation time, if the version is still the one before.
 * @returns false when the application is gone or has changed
 */
export async function replaceApplication(db: Db, application: Application): Promise<boolean> {
  const { orgId, id, name, settings, updatedAt, disabledAt, version, grantedScopes } = application;
  const isReplaced = await affectsAny(
    db
      .updateTable("application")
      .set({
        ...toRow({ name, updatedAt, disabledAt, version }),
        settings: JSON.stringify(settings),
        granted_scopes: grantedScopes && JSON.stringify(grantedScopes),
      })
      .where((eb) => allOf(eb, { org_id: orgId, id, version: version - 1 })),
  );
  if (isReplaced) await replaceOrigins(db, application);
  return isReplaced;
}

/**
 * Deletes an application with its secrets, codes, refresh tokens, consents, session keys and system accounts.
 * @returns false when there is none of this version
 */
export const deleteApplicationRow = (
  db: Db,
  { orgId, id, version }: { orgId: string; id: string; version: number },
): Promise<boolean> =>
  affectsAny(db.deleteFrom("application").where((eb) => allOf(eb, { org_id: orgId, id, version })));

/**
 * Locks an application until the end of the transaction. (SQLite runs transactions one after the other anyway.)
 * @returns false when there is none
 */
export const lockApplication = (tx: Db, { orgId, id }: { orgId: string; id: string }): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("application")
      .set((eb) => ({ version: eb.ref("version") }))
      .where((eb) => allOf(eb, { org_id: orgId, id })),
  );

/** Locks all applications of an organisation until the end of the transaction. */
export async function lockApplications(tx: Db, orgId: string): Promise<void> {
  const all = tx.selectFrom("application").select("id").where("org_id", "=", orgId);
  await tx
    .updateTable("application")
    .set((eb) => ({ version: eb.ref("version") }))
    .where("org_id", "=", orgId)
    .where("id", "in", lockedInOrder(tx, all, "id"))
    .execute();
}

/** Enabled applications, oldest first, without secrets. @param which.ids limits the list to these */
export async function listEnabledApplications(
  db: Db,
  orgId: string,
  { after = "", limit, ids }: { after?: string; limit: number; ids?: readonly string[] },
): Promise<Application[]> {
  const rows = await db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("disabled_at", "is", null)
    .$if(ids !== undefined, (query) => query.where("id", "in", ids ?? []))
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => fromRow(row));
}

/** @returns false when there is no such application, or its status is already the wanted one */
export const setApplicationDisabled = (
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("application")
      .set((eb) => ({ disabled_at: disabledAt, updated_at: now, version: eb("version", "+", 1) }))
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("disabled_at", disabledAt === null ? "is not" : "is", null),
  );

export async function insertClientSecret(
  db: Db,
  { orgId, applicationId }: { orgId: string; applicationId: string },
  { hash: secretHash, ...secret }: ClientSecret,
): Promise<void> {
  const row = toRow({ ...secret, orgId, applicationId, secretHash });
  await db.insertInto("client_secret").values(row).execute();
}

interface SecretKey {
  readonly orgId: string;
  readonly applicationId: string;
  readonly id: string;
}

/** @returns false when there is no such secret, or it is already revoked */
export const revokeClientSecret = (db: Db, { orgId, applicationId, id }: SecretKey, now: number) =>
  affectsAny(
    db
      .updateTable("client_secret")
      .set({ revoked_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId, id }))
      .where("revoked_at", "is", null),
  );

/** Expires the other active secrets at that time, unless they expire earlier. */
export async function expireOtherSecrets(
  db: Db,
  { orgId, applicationId, id }: SecretKey,
  at: number,
): Promise<void> {
  await db
    .updateTable("client_secret")
    .set({ expires_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .where("id", "!=", id)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
    .execute();
}

export async function touchClientSecret(
  db: Db,
  { orgId, applicationId, id }: SecretKey,
  usedAt: number,
): Promise<void> {
  await db
    .updateTable("client_secret")
    .set({ last_used_at: usedAt })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId, id }))
    .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<", usedAt)]))
    .execute();
}

/** Applications with a redirect URI of this web origin. */
export async function applicationsOfOrigin(db: Db, orgId: string, origin: string): Promise<string[]> {
  const rows = await db
    .selectFrom("application_origin")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "application_origin.org_id")
        .onRef("application.id", "=", "application_origin.application_id"),
    )
    .select("application.id")
    .where((eb) => allOf(eb, { "application_origin.org_id": orgId, "application_origin.origin": origin }))
    .where("application.disabled_at", "is", null)
    .execute();
  return rows.map(({ id }) => id);
}

async function replaceOrigins(db: Db, { orgId, id, settings }: Application): Promise<void> {
  await db
    .deleteFrom("application_origin")
    .where((eb) => allOf(eb, { org_id: orgId, application_id: id }))
    .execute();
  const origins = new Set(
    settings.redirectUris.map((uri) => new URL(uri).origin).filter((origin) => origin !== "null"),
  );
  if (origins.size === 0) return;
  const rows = [...origins].map((origin) => ({ org_id: orgId, origin, application_id: id }));
  await db.insertInto("application_origin").values(rows).execute();
}

export function fromRow(
  { settings, granted_scopes, ...row }: ApplicationTable,
  secrets: ClientSecretTable[] = [],
): Application {
  const clientType = row.client_type as ClientType;
  return {
    ...toRecord(row),
    clientType,
    source: row.source as Application["source"],
    grantedScopes: granted_scopes === null ? null : (JSON.parse(granted_scopes) as string[]),
    settings: { ...defaultSettings(clientType), ...(JSON.parse(settings) as Partial<ApplicationSettings>) },
    secrets: secrets.map(({ org_id: _, application_id: __, secret_hash: hash, ...secret }) => ({
      ...toRecord(secret),
      hash,
    })),
  };
}
