import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { isNamed } from "../../db/search-text.ts";
import type { ApplicationTable, ClientSecretTable } from "../../db/tables/applications.ts";
import {
  type Application,
  type ApplicationSettings,
  type ClientSecret,
  defaultSettings,
} from "./application.ts";

export async function insertApplication(db: Db, application: Application): Promise<void> {
  await db
    .insertInto("application")
    .values({
      org_id: application.orgId,
      id: application.id,
      name: application.name,
      client_type: application.clientType,
      settings: JSON.stringify(application.settings),
      created_at: application.createdAt,
      updated_at: application.updatedAt,
      disabled_at: application.disabledAt,
      version: application.version,
    })
    .execute();
  await replaceOrigins(db, application);
}

/** Includes its secrets, also revoked and expired ones. */
export async function findApplication(db: Db, orgId: string, id: string): Promise<Application | undefined> {
  const row = await db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return undefined;
  return fromRow(row, (await secretsOf(db, orgId, [id])).map(secretFromRow));
}

/** Oldest first. */
const secretsOf = (db: Db, orgId: string, applicationIds: readonly string[]): Promise<ClientSecretTable[]> =>
  db
    .selectFrom("client_secret")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("application_id", "in", applicationIds)
    .orderBy("id")
    .execute();

/** Oldest first, with their secrets. */
export async function listApplications(
  db: Db,
  orgId: string,
  page: { after?: string | undefined; limit: number },
): Promise<Application[]> {
  let query = db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id")
    .limit(page.limit);
  if (page.after) query = query.where("id", ">", page.after);
  const rows = await query.execute();
  if (rows.length === 0) return [];
  const secrets = await secretsOf(
    db,
    orgId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) =>
    fromRow(row, secrets.filter((secret) => secret.application_id === row.id).map(secretFromRow)),
  );
}

export interface ApplicationSearch {
  /** The last id of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** Part of a name or an id; on SQLite, non-ASCII letters are case-sensitive. */
  readonly text?: string | undefined;
  readonly clientType?: ClientType | undefined;
  readonly state?: "enabled" | "disabled" | undefined;
}

/** Newest first, without their secrets. */
export async function searchApplications(
  db: Db,
  orgId: string,
  { after, limit, text, clientType, state }: ApplicationSearch,
): Promise<Application[]> {
  const rows = await db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
    .$if(text !== undefined, (query) => query.where(isNamed("application", text ?? "")))
    .$if(clientType !== undefined, (query) => query.where("client_type", "=", clientType ?? ""))
    .$if(state === "enabled", (query) => query.where("disabled_at", "is", null))
    .$if(state === "disabled", (query) => query.where("disabled_at", "is not", null))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => fromRow(row, []));
}

const selectOrganisation = prepared((db, value: Parameter<{ id: string }>) =>
  db.selectFrom("application").select("org_id").where("id", "=", value("id")),
);

/** Ids are unique across organisations. */
export async function organisationOfApplication(db: Db, id: string): Promise<string | undefined> {
  const [row] = await selectOrganisation(db, { id });
  return row?.org_id;
}

/**
 * Replaces everything but id, type and creation time, if the version is still the one before.
 * @returns false when the application is gone or has changed
 */
export async function replaceApplication(db: Db, application: Application): Promise<boolean> {
  const result = await db
    .updateTable("application")
    .set({
      name: application.name,
      settings: JSON.stringify(application.settings),
      updated_at: application.updatedAt,
      disabled_at: application.disabledAt,
      version: application.version,
    })
    .where("org_id", "=", application.orgId)
    .where("id", "=", application.id)
    .where("version", "=", application.version - 1)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await replaceOrigins(db, application);
  return true;
}

/**
 * Deletes an application with its secrets, codes, refresh tokens, consents, session keys and system accounts.
 * @returns false when there is none of this version
 */
export async function deleteApplicationRow(
  db: Db,
  key: { orgId: string; id: string; version: number },
): Promise<boolean> {
  const deleted = await db
    .deleteFrom("application")
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .where("version", "=", key.version)
    .returning("id")
    .executeTakeFirst();
  return deleted !== undefined;
}

/**
 * Locks an application until the end of the transaction. (SQLite runs transactions one after the other anyway.)
 * @returns false when there is none
 */
export async function lockApplication(tx: Db, key: { orgId: string; id: string }): Promise<boolean> {
  const locked = await tx
    .updateTable("application")
    .set((eb) => ({ version: eb.ref("version") }))
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .returning("id")
    .executeTakeFirst();
  return locked !== undefined;
}

/** Enabled applications, oldest first, without secrets. @param which.ids limits the list to these */
export async function listEnabledApplications(
  db: Db,
  orgId: string,
  which: { after?: string; limit: number; ids?: readonly string[] },
): Promise<Application[]> {
  const { after, limit, ids } = which;
  const rows = await db
    .selectFrom("application")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("disabled_at", "is", null)
    .$if(ids !== undefined, (query) => query.where("id", "in", ids ?? []))
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => fromRow(row, []));
}

/** @returns false when there is no such application, or its status is already the wanted one */
export async function setApplicationDisabled(
  db: Db,
  key: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("application")
    .set((eb) => ({ disabled_at: disabledAt, updated_at: now, version: eb("version", "+", 1) }))
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .where("disabled_at", disabledAt === null ? "is not" : "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function insertClientSecret(
  db: Db,
  key: { orgId: string; applicationId: string },
  secret: ClientSecret,
): Promise<void> {
  await db
    .insertInto("client_secret")
    .values({
      org_id: key.orgId,
      application_id: key.applicationId,
      id: secret.id,
      label: secret.label,
      secret_hash: secret.hash,
      hint: secret.hint,
      created_at: secret.createdAt,
      expires_at: secret.expiresAt,
      revoked_at: secret.revokedAt,
      last_used_at: secret.lastUsedAt,
    })
    .execute();
}

/** @returns false when there is no such secret, or it is already revoked */
export async function revokeClientSecret(
  db: Db,
  key: { orgId: string; applicationId: string; id: string },
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("client_secret")
    .set({ revoked_at: now })
    .where("org_id", "=", key.orgId)
    .where("application_id", "=", key.applicationId)
    .where("id", "=", key.id)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Expires the other active secrets at that time, unless they expire earlier. */
export async function expireOtherSecrets(
  db: Db,
  newest: { orgId: string; applicationId: string; id: string },
  at: number,
): Promise<void> {
  await db
    .updateTable("client_secret")
    .set({ expires_at: at })
    .where("org_id", "=", newest.orgId)
    .where("application_id", "=", newest.applicationId)
    .where("id", "!=", newest.id)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
    .execute();
}

export async function touchClientSecret(
  db: Db,
  key: { orgId: string; applicationId: string; id: string },
  usedAt: number,
): Promise<void> {
  await db
    .updateTable("client_secret")
    .set({ last_used_at: usedAt })
    .where("org_id", "=", key.orgId)
    .where("application_id", "=", key.applicationId)
    .where("id", "=", key.id)
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
    .where("application_origin.org_id", "=", orgId)
    .where("application_origin.origin", "=", origin)
    .where("application.disabled_at", "is", null)
    .execute();
  return rows.map(({ id }) => id);
}

async function replaceOrigins(db: Db, { orgId, id, settings }: Application): Promise<void> {
  await db
    .deleteFrom("application_origin")
    .where("org_id", "=", orgId)
    .where("application_id", "=", id)
    .execute();
  const origins = new Set(
    settings.redirectUris.map((uri) => new URL(uri).origin).filter((origin) => origin !== "null"),
  );
  if (origins.size === 0) return;
  const rows = [...origins].map((origin) => ({ org_id: orgId, origin, application_id: id }));
  await db.insertInto("application_origin").values(rows).execute();
}

function fromRow(row: ApplicationTable, secrets: readonly ClientSecret[]): Application {
  const clientType = row.client_type as ClientType;
  return {
    orgId: row.org_id,
    id: row.id,
    name: row.name,
    clientType,
    settings: {
      ...defaultSettings(clientType),
      ...(JSON.parse(row.settings) as Partial<ApplicationSettings>),
    },
    secrets,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    disabledAt: row.disabled_at,
    version: row.version,
  };
}

function secretFromRow(row: ClientSecretTable): ClientSecret {
  return {
    id: row.id,
    label: row.label,
    hash: row.secret_hash,
    hint: row.hint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
