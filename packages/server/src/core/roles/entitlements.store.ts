/** Reads everything that a subject has by groups and roles, in one statement: groups are walked outwards by the database. */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { Entitlements, HeldRole } from "./entitlement.ts";

type Kind = "group" | "direct" | "nested" | "role" | "access";

/** What the columns mean depends on the kind. */
interface Row {
  readonly kind: Kind;
  readonly id: string;
  readonly a: string | null;
  readonly b: string | null;
  readonly c: string | null;
  readonly d: string | null;
}

/** A statement that the builder of `prepared` may return. */
const compilable = (db: Db, statement: RawBuilder<Row>) => ({
  compile: (): CompiledQuery<Row> => statement.compile(db),
});

type UserKey = { orgId: string; userId: string };
type Holder = { orgId: string; id: string };

/** Of the groups in `inside`: they, what they are members of, their roles, and the applications that they are assigned to. */
const ofGroups = (orgId: string) => sql`
  select 'group' as kind, g.id, g.display_name as a, g.external_id as b, null as c, null as d
    from inside join user_group g on g.org_id = ${orgId} and g.id = inside.id
  union all
  select 'nested', n.member_id, n.group_id, null, null, null
    from inside join group_nested n on n.org_id = ${orgId} and n.member_id = inside.id
  union all
  select 'role', r.id, r.application_id, r.key, r.permissions, inside.id
    from inside join role_assignment s on s.org_id = ${orgId} and s.group_id = inside.id
    join role r on r.org_id = s.org_id and r.id = s.role_id
  union all
  select 'access', p.application_id, inside.id, null, null, null
    from inside join application_group p on p.org_id = ${orgId} and p.group_id = inside.id`;

const outwards = (orgId: string) => sql`
  select n.group_id from inside join group_nested n on n.org_id = ${orgId} and n.member_id = inside.id`;

const selectOfUser = prepared((db, value: Parameter<UserKey>) => {
  const orgId = value("orgId");
  const userId = value("userId");
  return compilable(
    db,
    sql<Row>`
      with recursive inside (id) as (
        select group_id from group_user where org_id = ${orgId} and user_id = ${userId}
        union ${outwards(orgId)})
      ${ofGroups(orgId)}
      union all
      select 'direct', group_id, null, null, null, null
        from group_user where org_id = ${orgId} and user_id = ${userId}
      union all
      select 'role', r.id, r.application_id, r.key, r.permissions, null
        from role_assignment s join role r on r.org_id = s.org_id and r.id = s.role_id
        where s.org_id = ${orgId} and s.user_id = ${userId}
      union all
      select 'access', application_id, null, null, null, null
        from application_user where org_id = ${orgId} and user_id = ${userId}`,
  );
});

export const findEntitlementsOfUser = async (db: Db, key: UserKey): Promise<Entitlements> =>
  fromRows(await selectOfUser(db, key));

const selectOfGroup = prepared((db, value: Parameter<Holder>) => {
  const orgId = value("orgId");
  const seed = sql`select id from user_group where org_id = ${orgId} and id = ${value("id")}`;
  return compilable(
    db,
    sql<Row>`
      with recursive inside (id) as (${seed} union ${outwards(orgId)})
      ${ofGroups(orgId)}
      union all
      select 'direct', seed.id, null, null, null, null from (${seed}) seed`,
  );
});

/** Of every member of a group, by it. */
export const findEntitlementsOfGroup = async (db: Db, key: Holder): Promise<Entitlements> =>
  fromRows(await selectOfGroup(db, key));

const selectOf = (column: "client_id" | "system_account_id") =>
  prepared((db, value: Parameter<Holder>) =>
    compilable(
      db,
      sql<Row>`
        select 'role' as kind, r.id, r.application_id as a, r.key as b, r.permissions as c, null as d
        from role_assignment s join role r on r.org_id = s.org_id and r.id = s.role_id
        where s.org_id = ${value("orgId")} and s.${sql.ref(column)} = ${value("id")}`,
    ),
  );

const selectOfClient = selectOf("client_id");
const selectOfAccount = selectOf("system_account_id");

/** Of an application acting on its own behalf. */
export const findEntitlementsOfClient = async (db: Db, key: Holder): Promise<Entitlements> =>
  fromRows(await selectOfClient(db, key));

export const findEntitlementsOfAccount = async (db: Db, key: Holder): Promise<Entitlements> =>
  fromRows(await selectOfAccount(db, key));

function fromRows(rows: readonly Row[]): Entitlements {
  const of = (kind: Kind) => rows.filter((row) => row.kind === kind);
  return {
    groups: new Map(
      of("group").map(({ id, a, b }) => [id, { id, displayName: a ?? "", externalId: b }] as const),
    ),
    direct: of("direct").map(({ id }) => id),
    outer: new Map(
      [...Map.groupBy(of("nested"), ({ id }) => id)].map(([id, outer]) => [
        id,
        outer.map(({ a }) => a ?? ""),
      ]),
    ),
    roles: of("role").map(toRole),
    access: of("access").map(({ id, a }) => ({ applicationId: id, groupId: a })),
  };
}

const toRole = ({ id, a, b, c, d }: Row): HeldRole => ({
  id,
  applicationId: a,
  key: b ?? "",
  permissions: JSON.parse(c ?? "[]") as string[],
  groupId: d,
});
