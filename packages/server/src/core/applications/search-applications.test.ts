import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { lastUse } from "./application-use.store.ts";
import { type ApplicationSearch, searchApplications } from "./applications.store.ts";
import { createApplication, setApplicationStatus } from "./applications.ts";

forEachDatabase(({ fresh }) => {
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

  test("pages without gaps and without secrets", async () => {
    const first = await search({ limit: 3 });
    const rest = await search({ limit: 3, after: first.at(-1)?.id });
    assert.deepEqual(
      [...first, ...rest].map(({ name }) => name),
      await names({}),
    );
    assert.ok([...first, ...rest].every(({ secrets }) => secrets.length === 0));
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
