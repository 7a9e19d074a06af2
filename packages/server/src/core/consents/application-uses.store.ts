/** What applications do on behalf of a user: when last, for which resources, and who acts on what was exchanged from their tokens. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

export interface ApplicationUse {
  /** Of the last refresh, or of the last grant; null: nothing that still is. Milliseconds. */
  readonly lastUsedAt: number | null;
  /** Of tokens that have not ended (RFC 8707). */
  readonly resources: readonly string[];
  /** Clients that have exchanged such a token for one of their own (RFC 8693), in the order of their names. */
  readonly actors: ReadonlyArray<{ readonly id: string; readonly name: string }>;
}

export const unused: ApplicationUse = { lastUsedAt: null, resources: [], actors: [] };

interface OfUser {
  readonly orgId: string;
  readonly userId: string;
  readonly now: number;
}

/** Newest first: of more nobody reads on a page. */
const MAX_FAMILIES = 1_000;

/** By the application's id. */
export async function usesOfUser(db: Db, of: OfUser): Promise<ReadonlyMap<string, ApplicationUse>> {
  const [granted, exchanged] = [await grantedFamilies(db, of), await exchangedFamilies(db, of)];
  const byApplication = Map.groupBy(granted, ({ applicationId }) => applicationId);
  return new Map(
    [...byApplication].map(([applicationId, families]) => {
      const ids = new Set(families.map(({ id }) => id));
      const actors = exchanged.filter(({ origin }) => ids.has(origin));
      return [applicationId, useOf(families, actors, of.now)];
    }),
  );
}

type Granted = Awaited<ReturnType<typeof grantedFamilies>>[number];
type Exchanged = Awaited<ReturnType<typeof exchangedFamilies>>[number];

function useOf(families: readonly Granted[], exchanged: readonly Exchanged[], now: number): ApplicationUse {
  const current = families.filter(({ expiresAt }) => expiresAt > now);
  const names = new Map(exchanged.map(({ applicationId: id, applicationName: name }) => [id, { id, name }]));
  return {
    lastUsedAt: Math.max(...families.map(({ usedAt }) => usedAt)),
    resources: [...new Set(current.flatMap(({ resources }) => resources))].sort(),
    actors: [...names.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** What the user has granted, and nobody has revoked. */
async function grantedFamilies(db: Db, { orgId, userId }: OfUser) {
  const rows = await db
    .selectFrom("token_family")
    .select(["id", "application_id", "resources", "expires_at"])
    .select(sql<number>`coalesce(rotated_at, created_at)`.as("usedAt"))
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("ancestors", "is", null)
    .orderBy("usedAt", "desc")
    .limit(MAX_FAMILIES)
    .execute();
  return rows.map(({ id, application_id, resources, expires_at, usedAt }) => ({
    ...{ id, applicationId: application_id, expiresAt: expires_at, usedAt },
    resources: JSON.parse(resources) as string[],
  }));
}

/** Tokens that are still good, each with the family that the first of its chain was granted in. */
async function exchangedFamilies(db: Db, { orgId, userId, now }: OfUser) {
  const rows = await db
    .selectFrom("token_family")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "token_family.org_id")
        .onRef("application.id", "=", "token_family.application_id"),
    )
    .select(["application.id as applicationId", "application.name as applicationName"])
    .select("token_family.ancestors as ancestors")
    .where("token_family.org_id", "=", orgId)
    .where("token_family.user_id", "=", userId)
    .where("token_family.revoked_at", "is", null)
    .where("token_family.expires_at", ">", now)
    .where("token_family.ancestors", "is not", null)
    .orderBy("token_family.created_at", "desc")
    .limit(MAX_FAMILIES)
    .execute();
  return rows.map(({ ancestors, ...application }) => {
    const { families } = JSON.parse(ancestors ?? "{}") as { families?: readonly string[] };
    return { ...application, origin: families?.[0] ?? "" };
  });
}
