// Whoever changes applications of one signing pool at the same moment, on two nodes: none waits for somebody who waits for
// them, in whatever order each takes the records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { boundTo, type Database } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { makePool } from "../../testing/fixtures/agent.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { Application } from "./application.ts";
import { changeApplication } from "./application-changes.ts";
import { findApplication, lockApplication } from "./applications.store.ts";
import { createApplication } from "./applications.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let poolId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    poolId = (await makePool(running.service, org)).id;
  });
  after(() => running.close());
  const database = () => running.service.database;
  const by = () => ({ orgId: org.organisation.id, actor: "test" });

  const make = () =>
    createApplication(running.service, {
      ...by(),
      name: "App",
      clientType: "confidential",
      settings: { grantTypes: ["client_credentials"], signingPoolId: poolId },
    });
  const change = (inside: Database, { id }: Application, name: string) =>
    changeApplication({ ...running.service, database: inside }, { ...by(), id }, (before) => ({
      name,
      settings: before.settings,
      disabled: false,
    }));
  /** As a form of the console, which holds the record while it looks whether it is what was seen. */
  const changeHeld = (application: Application, name: string) =>
    database().transaction(async (tx) => {
      await lockApplication(tx, application);
      await change(boundTo(database(), tx), application, name);
    });

  /** @param first its two steps, in one transaction; the second begins between them */
  async function between(
    first: readonly [(inside: Database) => Promise<unknown>, (inside: Database) => Promise<unknown>],
    second: () => Promise<unknown>,
  ): Promise<void> {
    let hasEnded = false;
    let ended: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
    await database().transaction(async (tx) => {
      const inside = boundTo(database(), tx);
      await first[0](inside);
      ended = asAnotherRequest(() => Promise.allSettled([second()])).finally(() => {
        hasEnded = true;
      });
      const waits = async () => hasEnded || (await isStatementBlocked(database().query));
      // SQLite has one writer anyway.
      if (database().kind === "postgres") await eventually("the second waits, or is done", waits);
      await first[1](inside);
    });
    const [result] = await ended;
    assert.equal(result?.status, "fulfilled", JSON.stringify(result));
  }
  const nameOf = async ({ orgId, id }: Application) =>
    (await findApplication(database().query, orgId, id))?.name;

  test("a console form and an API call change the same application without deadlock", async () => {
    const application = await make();
    const form = [
      (inside: Database) => lockApplication(inside.query, application),
      (inside: Database) => change(inside, application, "by the form"),
    ] as const;
    await between(form, () => change(database(), application, "by the call"));
    assert.equal(await nameOf(application), "by the call");
  });

  test("a configuration file changes two applications while a console form changes the second", async () => {
    const [one, two] = [await make(), await make()];
    const file = [
      (inside: Database) => change(inside, one, "by the file"),
      (inside: Database) => change(inside, two, "by the file"),
    ] as const;
    await between(file, () => changeHeld(two, "by the form"));
    assert.equal(await nameOf(one), "by the file");
  });
});
