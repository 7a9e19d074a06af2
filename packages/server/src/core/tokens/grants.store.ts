/** Reads grants: token families as administrators see them, while something of them is good. */
import { type RawBuilder, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { TokenFamilyTable } from "../../db/tables/tokens.ts";
import { readGrant } from "./grant-columns.ts";
import type { IssuedGrant } from "./issued-grant.ts";

/** Of an access token (`lifetimeRanges`), which may outlive the refresh token. */
const MAX_ACCESS_TOKEN_MS = 86_400_000;

const lastAccessTokenEnd = sql<number>`(coalesce(rotated_at, created_at) + ${sql.lit(MAX_ACCESS_TOKEN_MS)})`;

/** Milliseconds: no token of the grant is good from then on. */
export const grantEnd: RawBuilder<number> = sql<number>`case
  when coalesce(refresh_expires_at, 0) > ${lastAccessTokenEnd} then refresh_expires_at
  else ${lastAccessTokenEnd} end`;

export const grantLastUse: RawBuilder<number> = sql<number>`coalesce(rotated_at, created_at)`;

export const activeGrants = (db: Db, orgId: string, now: number) =>
  db
    .selectFrom("token_family")
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .where(grantEnd, ">", now);

export interface GrantFilter {
  readonly applicationId?: string | undefined;
  readonly userId?: string | undefined;
}

/** Oldest first. */
export async function listGrants(
  db: Db,
  orgId: string,
  page: GrantFilter & { readonly after?: string | undefined; readonly limit: number; readonly now: number },
): Promise<IssuedGrant[]> {
  const { applicationId, userId, after } = page;
  let query = activeGrants(db, orgId, page.now).selectAll().orderBy("id").limit(page.limit);
  if (applicationId !== undefined) query = query.where("application_id", "=", applicationId);
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (after !== undefined) query = query.where("id", ">", after);
  return (await query.execute()).map(fromRow);
}

export async function findGrant(
  db: Db,
  { orgId, id, now }: { orgId: string; id: string; now: number },
): Promise<IssuedGrant | undefined> {
  const row = await activeGrants(db, orgId, now)
    .selectAll()
    .where((eb) => allOf(eb, { id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

export function fromRow(row: TokenFamilyTable): IssuedGrant {
  const { scopes, resources, authorizationDetails } = readGrant(row);
  return {
    orgId: row.org_id,
    id: row.id,
    applicationId: row.application_id,
    userId: row.user_id,
    ...{ scopes, resources, authorizationDetails },
    dpopJkt: row.dpop_jkt,
    certificateThumbprint: row.certificate_thumbprint,
    createdAt: row.created_at,
    lastUsedAt: row.rotated_at ?? row.created_at,
    expiresAt: Math.max(
      row.refresh_expires_at ?? 0,
      (row.rotated_at ?? row.created_at) + MAX_ACCESS_TOKEN_MS,
    ),
  };
}
