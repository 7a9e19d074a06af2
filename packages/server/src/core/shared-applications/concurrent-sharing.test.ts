// Who changes a shared application, its copy or the scopes here at one moment: each sees what the other has done, and none waits for
// somebody who waits for them.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { boundTo, type Database } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { Application } from "../applications/application.ts";
import { changeApplication } from "../applications/application-changes.ts";
import { findApplication, lockApplications } from "../applications/applications.store.ts";
import { setApplicationStatus } from "../applications/applications.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { createCustomScope, deleteCustomScope } from "../scopes/custom-scopes.ts";
import { enableShared, withdrawShared } from "./shared-applications.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let home: TestOrganisation;
  let tenant: TestOrganisation;
  let application: Application;
  let scope: CustomScope;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  beforeEach(async () => {
    home = await makeOrganisation(running.service, "Home");
    tenant = await makeOrganisation(running.service, "Tenant");
    for (const { organisation } of [home, tenant]) {
      const names = { name: "orders", displayName: "Orders", description: "Orders" };
      const rest = { orgId: organisation.id, actor: "test", claims: [], sensitive: false };
      scope = await createCustomScope(running.service, { ...names, ...rest });
    }
    ({ application } = await makeClient(running.service, home.organisation, {
      ...{ redirectUris: [REDIRECT_URI], allowedScopes: ["openid", "email", "orders"] },
      shared: { organisations: "any" },
    }));
    await enable(database(), ["openid", "email"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const database = () => running.service.database;
  const here = () => ({ orgId: tenant.organisation.id, actor: "test", id: application.id });
  const atHome = () => ({ orgId: home.organisation.id, actor: "test", id: application.id });
  const on = (inside: Database) => ({ ...running.service, database: inside });
  const enable = (inside: Database, scopes: string[]) => enableShared(on(inside), { ...here(), scopes });
  const change = (inside: Database, name: string, allowedScopes = application.settings.allowedScopes) =>
    changeApplication(on(inside), atHome(), ({ settings }) => ({
      ...{ name, disabled: false, settings: { ...settings, allowedScopes } },
    }));
  const deleteScope = (inside: Database) =>
    deleteCustomScope(on(inside), { orgId: tenant.organisation.id, actor: "test", id: scope.id });
  const copy = () => findApplication(database().query, tenant.organisation.id, application.id);

  /** The second begins when the first has done its first step, and waits or ends before the other. */
  async function between<Result>(
    first: readonly [(inside: Database) => Promise<unknown>, ((inside: Database) => Promise<unknown>)?],
    second: () => Promise<Result>,
  ): Promise<Result> {
    let hasEnded = false;
    let ended: Promise<PromiseSettledResult<Result>[]> = Promise.resolve([]);
    await database().transaction(async (tx) => {
      const inside = boundTo(database(), tx);
      await first[0](inside);
      ended = asAnotherRequest(() => Promise.allSettled([second()])).finally(() => {
        hasEnded = true;
      });
      const waits = async () => hasEnded || (await isStatementBlocked(database().query));
      if (database().kind === "postgres") await eventually("the second waits, or is done", waits);
      await first[1]?.(inside);
    });
    const [result] = await ended;
    assert.equal(result?.status, "fulfilled", String(result?.status === "rejected" && result.reason));
    return result.value;
  }

  test("a change at home reaches a copy whose scopes were changed at that moment", async () => {
    await between([(inside) => enable(inside, ["openid", "orders"])], () =>
      change(database(), "Renamed", ["openid", "email"]),
    );
    const { name, settings, grantedScopes } = (await copy()) ?? assert.fail("it is there");
    assert.deepEqual(
      [name, settings.allowedScopes, grantedScopes],
      ["Renamed", ["openid"], ["openid", "orders"]],
    );
  });

  test("a change at home reaches a copy that lost a scope at that moment", async () => {
    await enable(database(), ["openid", "orders"]);
    await between([deleteScope], () => change(database(), "Renamed"));
    const { name, settings, grantedScopes } = (await copy()) ?? assert.fail("it is there");
    assert.deepEqual([name, settings.allowedScopes, grantedScopes], ["Renamed", ["openid"], ["openid"]]);
  });

  test("disabling it gives copies what its home is, and not what it was", async () => {
    await between([(inside) => change(inside, "Renamed", ["openid"])], () =>
      setApplicationStatus(running.service, { ...atHome(), disabled: true }),
    );
    const { name, settings, disabledAt } = (await copy()) ?? assert.fail("it is there");
    assert.deepEqual([name, settings.allowedScopes, disabledAt !== null], ["Renamed", ["openid"], true]);
  });

  test("enabled with other scopes while it is withdrawn: it is there, whole", async () => {
    const enabled = await between([(inside) => withdrawShared(on(inside), here())], () =>
      enable(database(), ["openid"]),
    );
    assert.equal(enabled?.isNew, true);
    assert.deepEqual((await copy())?.settings.allowedScopes, ["openid"]);
  });

  test("a scope is deleted here while the application is given it: no deadlock, and it has not got it", async () => {
    await enable(database(), ["openid", "orders"]);
    const orgId = tenant.organisation.id;
    const answer = await between(
      [
        async (inside) => {
          await lockOrganisation(inside.query, orgId);
          await lockApplications(inside.query, orgId);
        },
        deleteScope,
      ],
      () => enable(database(), ["email", "orders"]).catch((error: unknown) => String(error)),
    );
    assert.match(String(answer), /orders is not a scope of the organisation/);
    assert.deepEqual((await copy())?.settings.allowedScopes, ["openid"]);
  });
});
