/** Lists consents with their users and applications. */
import { isUuid } from "@signet/protocol/hash";
import { sql } from "kysely";
import { readCountingScopes } from "../../../core/consents/counting-scopes.ts";
import { findMemberNames } from "../../../core/users/members/member-names.store.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";

export interface ListedConsent {
  readonly id: string;
  /** `isShared`: another organisation's. */
  readonly application: { readonly id: string; readonly name: string; readonly isShared: boolean };
  /** Undefined for everyone. `email` is null for a former member. */
  readonly user: { readonly id: string; readonly email: string | null } | undefined;
  readonly scopes: readonly string[];
  readonly grantedBy: string;
  readonly grantedAt: number;
  readonly revokedAt: number | null;
  /** Null while it is active, and for revocations from before this was recorded. */
  readonly revokedBy: string | null;
}

export interface ConsentFilter {
  readonly applicationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly kind?: "user" | "organisation" | undefined;
  /** Revoked consents instead of active ones. */
  readonly isRevoked: boolean;
}

interface Page {
  /** By default the newest first. */
  readonly page?: KeysetPage;
  readonly limit: number;
}

const NEWEST_FIRST: KeysetPage = { isDescending: true };

/** With names: a query for each kind, whatever the organisation's size. Ids rise with the time of the grant. */
export async function listNamedConsents(
  db: Db,
  orgId: string,
  { page = NEWEST_FIRST, limit, ...filter }: ConsentFilter & Page,
): Promise<ListedConsent[]> {
  const id = sql.ref("consent.id");
  const { within, direction } = readPage(page, { value: id, id });
  const rows = await matchingConsents(db, orgId, filter)
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "consent.org_id")
        .onRef("application.id", "=", "consent.application_id"),
    )
    .selectAll("consent")
    .select(["application.name as applicationName", "application.home_org_id as homeOrgId"])
    .where(within)
    .orderBy("consent.id", direction)
    .limit(limit)
    .execute();
  const scopes = await readCountingScopes(db, rows);
  const users = rows.flatMap(({ user_id }) => user_id ?? []);
  const names = await findMemberNames(db, orgId, users);
  const listed = rows.map((row, at) => ({
    id: row.id,
    application: { id: row.application_id, name: row.applicationName, isShared: row.homeOrgId !== null },
    user:
      row.user_id === null ? undefined : { id: row.user_id, email: names.get(row.user_id)?.email ?? null },
    scopes: scopes[at] ?? [],
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
  }));
  return inListOrder(page, listed);
}

/** @param max counts no further */
export const countConsents = (
  db: Db,
  orgId: string,
  { max, ...filter }: ConsentFilter & { max: number },
): Promise<number> => countRows(db, matchingConsents(db, orgId, filter).select("consent.id").limit(max));

const matchingConsents = (db: Db, orgId: string, { applicationId, userId, kind, isRevoked }: ConsentFilter) =>
  db
    .selectFrom("consent")
    .where("consent.org_id", "=", orgId)
    // There is one partial index for each of the two.
    .where("consent.revoked_at", isRevoked ? "is not" : "is", null)
    .$if(applicationId !== undefined, (query) =>
      query.where("consent.application_id", "=", applicationId ?? ""),
    )
    .$if(userId !== undefined, (query) => query.where("consent.user_id", "=", userId ?? ""))
    // A literal, so that the partial index is used.
    .$if(kind !== undefined, (query) => query.where("consent.kind", "=", sql.lit(kind ?? "user")));

/** With the applications' names. */
export async function listNamedPreauthorizations(
  db: Db,
  orgId: string,
  { applicationId, page = NEWEST_FIRST, limit }: Pick<ConsentFilter, "applicationId"> & Page,
): Promise<ListedConsent[]> {
  const id = sql.ref("preauthorization.id");
  const { within, direction } = readPage(page, { value: id, id });
  const rows = await matchingPreauthorizations(db, orgId, applicationId)
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "preauthorization.org_id")
        .onRef("application.id", "=", "preauthorization.application_id"),
    )
    .selectAll("preauthorization")
    .select(["application.name as applicationName", "application.home_org_id as homeOrgId"])
    .where(within)
    .orderBy("preauthorization.id", direction)
    .limit(limit)
    .execute();
  const scopes = await readCountingScopes(db, rows);
  const listed = rows.map((row, at) => ({
    id: row.id,
    application: { id: row.application_id, name: row.applicationName, isShared: row.homeOrgId !== null },
    user: undefined,
    scopes: scopes[at] ?? [],
    grantedBy: row.created_by,
    grantedAt: row.created_at,
    revokedAt: null,
    revokedBy: null,
  }));
  return inListOrder(page, listed);
}

/** @param max counts no further */
export const countPreauthorizations = (
  db: Db,
  orgId: string,
  { applicationId, max }: Pick<ConsentFilter, "applicationId"> & { max: number },
): Promise<number> =>
  countRows(db, matchingPreauthorizations(db, orgId, applicationId).select("preauthorization.id").limit(max));

const matchingPreauthorizations = (db: Db, orgId: string, applicationId: string | undefined) =>
  db
    .selectFrom("preauthorization")
    .where("preauthorization.org_id", "=", orgId)
    .$if(applicationId !== undefined, (query) =>
      query.where("preauthorization.application_id", "=", applicationId ?? ""),
    );

/** By id or part of the name; exact matches first. */
export async function applicationsLike(
  db: Db,
  orgId: string,
  text: string,
  limit: number,
): Promise<Array<{ id: string; name: string }>> {
  const query = db.selectFrom("application").select(["id", "name"]).where("org_id", "=", orgId);
  if (isUuid(text)) return query.where("id", "=", text.toLowerCase()).execute();
  const part = containing(text.toLowerCase());
  return query
    .where(sql<boolean>`lower(name) like ${part} escape '!'`)
    .orderBy(sql`case when lower(name) = ${text.toLowerCase()} then 0 else 1 end`)
    .orderBy("name")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** With more matches, the search has to be narrowed. */
export const MAX_CHOICES = 20;

/** The applications that a text can mean: one if it is the id, the whole name, or part of a single name. */
export async function findApplicationsBy(
  db: Db,
  orgId: string,
  text: string,
): Promise<Array<{ id: string; name: string }>> {
  const applications = await applicationsLike(db, orgId, text, MAX_CHOICES);
  const exact = applications.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  return exact.length === 1 ? exact : applications;
}
