import assert from "node:assert/strict";
import { before, test } from "node:test";
import { loadParser, organisationsIn } from "./organisations-in-statement.ts";
import { faultOf } from "./statement-guard.ts";

const distribution = new Map([
  ["organisation", "id"],
  ...["member", "account", "session", "note"].map((table) => [table, "org_id"] as const),
]);

/** @param values of the parameters; by default all the same */
const faultIn = (statement: string, values: readonly unknown[] = ["a", "a", "a", "a"]) =>
  faultOf(organisationsIn(statement, distribution), values);

before(loadParser);

test("a statement that names one organisation for every table is in order", () => {
  for (const statement of [
    "select * from member where org_id = $1",
    "select * from organisation where id = $1",
    "select * from member m join account a on a.org_id = m.org_id and a.id = m.user_id where m.org_id = $1",
    "select * from member m left join account a on a.org_id = m.org_id where m.org_id = cast($1 as text)",
    "select * from member m join organisation home on home.id = m.org_id where m.org_id = $1 and (m.a = 1 or m.b = 2)",
    "select (select count(*) from session where org_id = m.org_id and user_id = m.user_id) from member m where m.org_id = $1",
    "select * from member where org_id = $1 and id in (select id from session where org_id = $2)",
    "select * from member where org_id in ($1)",
    "with recent as (select org_id, id from session where org_id = $1) select * from recent r join member m on m.org_id = r.org_id",
    `with recursive inside (id) as (select id from member where org_id = $1 union
      select n.id from inside join note n on n.org_id = $2 and n.parent = inside.id) select * from inside`,
    "select * from member where org_id = $1 union all select * from account where org_id = $2",
    "select * from (select org_id, id from member) m where m.org_id = $1",
    "insert into member (id, org_id) values ($2, $1)",
    "insert into member (org_id, id) values ($1, 1), ($2, 2) on conflict do nothing returning id",
    "insert into member (org_id, id) select org_id, id from session where org_id = $1",
    "update member set a = 1 where org_id = $1 and id in (select id from note where org_id = $2 for update) returning id",
    "update member set a = s.a from session s where s.org_id = member.org_id and member.org_id = $1",
    "delete from member where org_id = $1 and not exists (select 1 from note n where n.org_id = member.org_id)",
    "with gone as (delete from note where org_id = $1 returning org_id) select * from gone join member m on m.org_id = gone.org_id",
    "select 1",
    "select * from pg_catalog.pg_class",
    "select * from lease where name = $1",
    "begin",
  ])
    assert.equal(faultIn(statement), undefined, statement);
});

test("a table without an organisation is named", () => {
  for (const [statement, tables] of [
    ["select * from member where id = $1", "member"],
    ["select * from member where org_id > $1", "member"],
    ["select * from member where org_id <> $1", "member"],
    ["select * from member where org_id = $1 or id = $2", "member"],
    ["select * from member where not (org_id = $1)", "member"],
    ["select * from member where org_id = id", "member"],
    ["select * from organisation", "organisation"],
    ["select * from member m join account a on a.org_id = m.home_org_id where m.org_id = $1", "account"],
    ["select * from member m join account a on a.id = m.user_id where m.org_id = $1", "account"],
    ["select * from member m where m.home_org_id = $1", "member"],
    ["select (select count(*) from session) from member where org_id = $1", "session"],
    [
      "select * from member where org_id = $1 and id in (select id from session where user_id = $2)",
      "session",
    ],
    ["select * from member where org_id = $1 union all select * from account", "account"],
    [
      "with recent as (select id from session) select * from recent join member m on m.org_id = $1",
      "session",
    ],
    ["insert into member (id) values ($1)", "member"],
    ["insert into member (org_id, id) select org_id, id from session", "member, session"],
    ["update member set org_id = $1", "member"],
    ["update member set a = (select max(a) from note) where org_id = $1", "note"],
    ["delete from member using session s where s.org_id = $1", "member"],
    ["delete from member where org_id = $1 and exists (select 1 from note n where n.id = member.id)", "note"],
  ] as const)
    assert.deepEqual(
      faultIn(statement)?.split("for ")[1]?.split(", ").toSorted().join(", "),
      tables,
      statement,
    );
});

test("several organisations are told by their values", () => {
  const two = "select * from member m, account a where m.org_id = $1 and a.org_id = $2";
  assert.equal(faultIn(two, ["a", "a"]), undefined);
  assert.equal(faultIn(two, ["a", "b"]), "names several organisations");
  assert.equal(
    faultIn("insert into member (org_id) values ($1), ($2)", ["a", "b"]),
    "names several organisations",
  );
  assert.equal(faultIn("select * from member where org_id = $1 and id = $2", ["a", "b"]), undefined);
  assert.equal(faultIn("select * from member where org_id in ($1, $2)"), "names a list of organisations");
});
