/** Applications that may ask for a protected resource: by name, or by one of its scopes. */
import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { containing } from "../../db/search-text.ts";
import type { ResourceWithScopes } from "./protected-resource.ts";

export interface ResourceUses {
  readonly first: ReadonlyArray<{ readonly id: string; readonly name: string }>;
  readonly count: number;
}

/** @param limit of the first ones, by name */
export async function findResourceUses(
  db: Db,
  { orgId, identifier, scopes }: ResourceWithScopes,
  limit: number,
): Promise<ResourceUses> {
  const wanted = [
    lists(db, "allowedResources", identifier),
    ...scopes.map(({ name }) => lists(db, "allowedScopes", name)),
  ];
  const using = db
    .selectFrom("application")
    .where("org_id", "=", orgId)
    // What agents may have is their policy's to say, not their record's.
    .where("source", "<>", "metadata-document")
    .where(sql<boolean>`(${sql.join(wanted, sql` or `)})`);
  const first = await using.select(["id", "name"]).orderBy("name").orderBy("id").limit(limit).execute();
  const { count } = await using.select((eb) => eb.fn.countAll().as("count")).executeTakeFirstOrThrow();
  return { first, count: Number(count) };
}

/** The text first, which spares the rest of the rows from being parsed. */
function lists(db: Db, member: "allowedResources" | "allowedScopes", value: string): RawBuilder<boolean> {
  const has = isPostgres(db)
    ? sql`jsonb_exists(cast(settings as jsonb) -> ${sql.lit(member)}, ${value})`
    : sql`exists (select 1 from json_each(settings, ${sql.lit(`$.${member}`)}) where value = ${value})`;
  return sql<boolean>`(settings like ${containing(JSON.stringify(value))} escape '!' and ${has})`;
}
