/** Searches the roles of an organisation, or of one of its applications. */
import { sql } from "kysely";
import { type Subject, subjectColumns } from "../../../core/roles/assignments.store.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing, isNamed } from "../../../db/search-text.ts";

export type RoleSort = "name" | "created";

export interface ListedRole {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly permissions: readonly string[];
  readonly builtIn: boolean;
  readonly createdAt: number;
  readonly nameOrder: string;
  /** Undefined: the organisation's own. */
  readonly application: { readonly id: string; readonly name: string } | undefined;
  /** How many have it by an assignment. */
  readonly assignments: number;
}

export interface RoleFilter {
  /** Each must occur in the name, the key, the ID or the application's name. */
  readonly words: readonly string[];
  readonly of?: "organisation" | "application" | undefined;
  readonly applicationId?: string | undefined;
  /** Those that an assignment could give this subject: neither built in nor given already. */
  readonly assignableTo?: Subject | undefined;
}

const orderColumns = { name: sql`lower(role.name)`, created: sql.ref("role.created_at") } as const;

export async function searchRoles(
  db: Db,
  orgId: string,
  { page, limit, ...filter }: RoleFilter & { page: KeysetPage & { sort: RoleSort }; limit: number },
): Promise<ListedRole[]> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: sql.ref("role.id") });
  const rows = await matching(db, orgId, filter)
    .select(["role.id", "role.key", "role.name", "role.description", "role.permissions", "role.built_in"])
    .select(["role.created_at as createdAt", "role.application_id", "application.name as applicationName"])
    .select(orderColumns.name.$castTo<string>().as("nameOrder"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("role.id", direction)
    .limit(limit)
    .execute();
  const counts = await countAssignments(
    db,
    orgId,
    rows.map(({ id }) => id),
  );
  return inListOrder(page, rows).map(
    ({ permissions, built_in, application_id: id, applicationName: name, ...row }) => ({
      ...row,
      permissions: JSON.parse(permissions) as string[],
      builtIn: built_in === 1,
      application: id === null ? undefined : { id, name: name ?? id },
      assignments: counts.get(row.id) ?? 0,
    }),
  );
}

/** Of a page's roles alone: beside the order SQLite would count those of all. */
async function countAssignments(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("role_assignment")
    .select("role_id")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where("org_id", "=", orgId)
    .where("role_id", "in", ids)
    .groupBy("role_id")
    .execute();
  return new Map(rows.map(({ role_id, count }) => [role_id, Number(count)]));
}

/** @param max counts no further */
export const countSearchedRoles = (
  db: Db,
  orgId: string,
  { max, ...filter }: RoleFilter & { max: number },
): Promise<number> => countRows(db, matching(db, orgId, filter).select("role.id").limit(max));

const has = (word: string) =>
  sql<boolean>`(${isNamed("role", word)} or role.key like ${containing(word)} escape '!'
    or lower(application.name) like ${containing(word)} escape '!')`;

const matching = (db: Db, orgId: string, { words, of, applicationId, assignableTo }: RoleFilter) =>
  db
    .selectFrom("role")
    .leftJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "role.org_id")
        .onRef("application.id", "=", "role.application_id"),
    )
    .where("role.org_id", "=", orgId)
    .$if(words.length > 0, (query) => query.where(sql<boolean>`(${sql.join(words.map(has), sql` and `)})`))
    .$if(of === "organisation", (query) => query.where("role.application_id", "is", null))
    .$if(of === "application", (query) => query.where("role.application_id", "is not", null))
    .$if(applicationId !== undefined, (query) =>
      query.where("role.application_id", "=", applicationId ?? null),
    )
    .$if(assignableTo !== undefined, (query) => query.where("role.built_in", "=", 0))
    .$if(assignableTo !== undefined, (query) =>
      query.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("role_assignment")
              .select("role_assignment.id")
              .where("role_assignment.org_id", "=", orgId)
              .whereRef("role_assignment.role_id", "=", "role.id")
              .where(
                `role_assignment.${subjectColumns[assignableTo?.subjectType ?? "user"]}`,
                "=",
                assignableTo?.subjectId ?? "",
              ),
          ),
        ),
      ),
    );
