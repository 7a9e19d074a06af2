import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { lastUse } from "./application-use.store.ts";
import {
  type ApplicationSearch,
  applicationSorts,
  countApplications,
  type ListedApplication,
  searchApplications,
} from "./applications.store.ts";
import { createApplication, setApplicationStatus } from "./applications.ts";

forEachDatabase(({ fresh, name: engine }) => {
  let running: TestService;
  let org: TestOrganisation;
  const ids: string[] = [];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    const other = await makeOrganisation(running.service, "Elsewhere");
    for (const [orgId, name, clientType] of [
      [org.organisation.id, "Payroll 100%", "spa"],
      [org.organisation.id, "payslips_old", "native"],
      [other.organisation.id, "Payroll of somebody else", "spa"],
    ] as const)
      ids.push((await createApplication(running.service, { orgId, name, clientType, actor: "test" })).id);
    const [, old = ""] = ids;
    await setApplicationStatus(running.service, {
      orgId: org.organisation.id,
      id: old,
      disabled: true,
      actor: "test",
    });
  });
  after(() => running.close());

  const search = async (asked: Partial<ApplicationSearch>) =>
    searchApplications(running.service.database.query, org.organisation.id, { limit: 10, ...asked });
  const names = async (asked: Partial<ApplicationSearch>) => (await search(asked)).map(({ name }) => name);

  test("lists applications of the organisation, newest first", async () => {
    assert.deepEqual(await names({}), ["payslips_old", "Payroll 100%", "Native", "Web", "Web"]);
  });

  test("finds applications by part of a name, case-insensitively and with wildcards escaped", async () => {
    assert.deepEqual(await names({ text: "PAY" }), ["payslips_old", "Payroll 100%"]);
    assert.deepEqual(await names({ text: "100%" }), ["Payroll 100%"]);
    assert.deepEqual(await names({ text: "s_o" }), ["payslips_old"]);
    assert.deepEqual(await names({ text: "%" }), ["Payroll 100%"]);
    assert.deepEqual(await names({ text: "'; --" }), []);
  });

  test("finds an application by client ID, within the organisation only", async () => {
    const [payroll = "", , foreign = ""] = ids;
    assert.deepEqual(await names({ text: payroll.toUpperCase() }), ["Payroll 100%"]);
    assert.deepEqual(await names({ text: foreign }), []);
  });

  test("filters by type and status", async () => {
    assert.deepEqual(await names({ clientType: "native" }), ["payslips_old", "Native"]);
    assert.deepEqual(await names({ state: "disabled" }), ["payslips_old"]);
    assert.deepEqual(await names({ clientType: "native", state: "enabled" }), ["Native"]);
  });

  test("pages without gaps in each order, there and back, and without secrets", async () => {
    for (const sort of applicationSorts)
      for (const isDescending of [true, false]) {
        const order = { sort, isDescending };
        const cursor = ({ id, nameOrder }: ListedApplication) => ({
          value: sort === "name" ? nameOrder : id,
          id,
        });
        const all = await search({ page: order });
        assert.equal(all.length, 5);
        const first = await search({ page: order, limit: 3 });
        const [last] = first.slice(-1);
        assert.ok(last);
        const rest = await search({ page: { ...order, after: cursor(last) } });
        const idsOf = (rows: readonly ListedApplication[]) => rows.map(({ id }) => id);
        assert.deepEqual(idsOf([...first, ...rest]), idsOf(all), `${sort} ${isDescending}`);
        const [next] = rest;
        assert.ok(next);
        assert.deepEqual(idsOf(await search({ page: { ...order, before: cursor(next) } })), idsOf(first));
        assert.ok(all.every(({ secrets }) => secrets.length === 0));
      }
    const byName = { sort: "name", isDescending: false } as const;
    assert.deepEqual(await names({ page: byName }), ["Native", "Payroll 100%", "payslips_old", "Web", "Web"]);
  });

  test("counts what matches, no further than it is asked to", async () => {
    const count = (filter: Partial<Parameters<typeof countApplications>[2]>) =>
      countApplications(running.service.database.query, org.organisation.id, { max: 100, ...filter });
    assert.deepEqual([await count({}), await count({ text: "pay" }), await count({ max: 2 })], [5, 2, 2]);
  });

  test("sorting by name reads its index", async () => {
    const plan = await running.service.database.transaction(async (tx) => {
      if (engine === "postgres") await sql`set local enable_seqscan = off`.execute(tx);
      if (engine === "postgres") await sql`set local enable_sort = off`.execute(tx);
      const statement = sql`select * from application where org_id = 'x' order by lower(name), id limit 26`;
      const explain =
        engine === "postgres" ? sql`explain ${statement}` : sql`explain query plan ${statement}`;
      const { rows } = await explain.execute(tx);
      return rows.map((row) => Object.values(row as object).join(" ")).join("\n");
    });
    assert.match(plan, /application_name/);
    assert.doesNotMatch(plan, /TEMP B-TREE|Sort/);
  });

  test("the last use is the last sign-in and its user, or a service's last use of its secret", async () => {
    const { query } = running.service.database;
    const use = (applicationId: string, isService: boolean) =>
      lastUse(query, { orgId: org.organisation.id, applicationId }, isService);
    assert.equal(await use(org.web.application.id, false), undefined);
    await codeSource(org).tokens();
    const signIn = await use(org.web.application.id, false);
    assert.equal(signIn?.kind === "sign-in" && signIn.email, org.user.email);
    assert.equal(await use(org.batch.application.id, true), undefined);
    await running.service.secretUse.flush();
    assert.equal((await use(org.web.application.id, true))?.kind, "own-token");
  });
});
