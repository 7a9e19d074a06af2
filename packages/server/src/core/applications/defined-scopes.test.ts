/** An application has defined scopes only, also when a scope is deleted while it is set, on two nodes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { boundTo } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { defineOlderScope, defineScopes } from "../../testing/fixtures/scopes.ts";
import { payloadOf } from "../../testing/probes/answers.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { deleteCustomScope } from "../scopes/custom-scopes.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { changeApplication } from "./application-changes.ts";
import { findApplication } from "./applications.store.ts";
import { createApplication } from "./applications.ts";
import { InvalidApplication } from "./validation.ts";

forEachDatabase(({ name: kind, fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const define = (...names: string[]) => defineScopes(running.service, org.organisation.id, ...names);
  const create = (allowedScopes: readonly string[], deps = running.service) =>
    createApplication(
      { ...running.service, database: deps.database },
      {
        ...{ ...by(), name: "App", clientType: "confidential" },
        settings: { allowedScopes, redirectUris: [REDIRECT_URI] },
      },
    );
  const setScopes = (id: string, allowedScopes: readonly string[], deps = running.service) =>
    changeApplication({ ...running.service, database: deps.database }, { ...by(), id }, (before) => ({
      ...{ name: before.name, disabled: false, settings: { ...before.settings, allowedScopes } },
    }));
  const remove = async (name: string) => {
    const scopes = await listCustomScopes(running.service.database.query, org.organisation.id);
    const id = scopes.find((scope) => scope.name === name)?.id ?? "";
    return deleteCustomScope(running.service, { ...by(), id });
  };
  const scopesOf = async (id: string) =>
    (await findApplication(running.service.database.query, org.organisation.id, id))?.settings.allowedScopes;
  const names = (scope: string, at: number) => (error: unknown) => {
    assert.ok(error instanceof InvalidApplication);
    assert.deepEqual(
      error.faults.map(({ path }) => path),
      [`allowedScopes[${at}]`],
    );
    assert.ok(error.message.includes(scope));
    return true;
  };

  test("refuses an undefined scope by name, for a new application and a changed one", async () => {
    await define("orders:read");
    await assert.rejects(create(["openid", "orders:write"]), names("orders:write", 1));
    const { id } = await create(["openid", "orders:read"]);
    await assert.rejects(setScopes(id, ["orders:read", "openid", "orders:write"]), names("orders:write", 2));
    assert.deepEqual(await scopesOf(id), ["openid", "orders:read"]);
    const other = await makeOrganisation(running.service, "Other");
    await defineScopes(running.service, other.organisation.id, "theirs");
    await assert.rejects(create(["theirs"]), names("theirs", 0));
  });

  test("an application that is older than the rule can still be changed", async () => {
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ allowedScopes: ["openid", "old:scope"], redirectUris: [REDIRECT_URI] },
    });
    assert.ok(await setScopes(application.id, ["openid", "old:scope", "email"]));
    await assert.rejects(setScopes(application.id, ["old:scope", "other:scope"]), names("other:scope", 1));
  });

  test("a deleted scope leaves every application, new tokens and refreshes; defined again, it stays away", async () => {
    await define("reports");
    const { service } = running;
    const client = await makeClient(service, org.organisation, {
      allowedScopes: ["openid", "email", "reports"],
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
    });
    const source = codeSource(org);
    const wanted = { scope: "openid email reports" };
    const tokens = await source.tokens(wanted, client);
    assert.equal(payloadOf(tokens.accessToken)["scope"], wanted.scope);
    assert.equal(await remove("reports"), true);
    await define("reports");
    const refreshed = await refresh(org, tokens.refreshToken, {}, client);
    assert.equal(refreshed.body["scope"], "openid email");
    assert.equal(payloadOf(String(refreshed.body["access_token"]))["scope"], "openid email");
    assert.equal(payloadOf((await source.tokens(wanted, client)).accessToken)["scope"], "openid email");
    const own = { grant_type: "client_credentials", scope: "reports", ...credentials(client) };
    assert.equal((await postForm(`${org.issuer}/token`, own)).body["error"], "invalid_scope");
    assert.deepEqual(await scopesOf(client.application.id), ["openid", "email"]);
    const events = await listAuditEvents(service.database.query, org.organisation.id, 10);
    assert.ok(
      events.some(
        ({ action, target }) => action === "application.changed" && target === client.application.id,
      ),
    );
  });

  test("a scope that is deleted while it is set is refused or removed, never left behind", async () => {
    await define("fleeting");
    const { id } = await create(["openid"]);
    const { database } = running.service;
    let deletion: Promise<boolean> | undefined;
    await database.transaction(async (tx) => {
      await setScopes(id, ["openid", "fleeting"], {
        ...running.service,
        database: boundTo(database, tx),
      });
      deletion = asAnotherRequest(() => remove("fleeting"));
      deletion.catch(() => {});
    });
    assert.equal(await deletion, true);
    assert.deepEqual(await scopesOf(id), ["openid"]);

    await define("passing");
    const [made, removed] = await Promise.allSettled([create(["openid", "passing"]), remove("passing")]);
    assert.equal(removed.status, "fulfilled");
    if (made.status === "fulfilled") assert.deepEqual(await scopesOf(made.value.id), ["openid"]);
    else names("passing", 1)(made.reason);
  });

  // Left behind, it would become the service's own scope of that name.
  for (const name of ["signet:users:write", "address"])
    test(`an older ${name} that is deleted while a new application gets it is removed`, async () => {
      await defineOlderScope(running.service, org.organisation.id, name);
      const { database } = running.service;
      let deletion: Promise<boolean> | undefined;
      const { id } = await database.transaction(async (tx) => {
        const deps = { ...running.service, database: boundTo(database, tx) };
        const made = await create(["openid", name], deps);
        let isOver = false;
        deletion = asAnotherRequest(() => remove(name)).finally(() => {
          isOver = true;
        });
        deletion.catch(() => {});
        if (kind === "postgres")
          await eventually("waits", async () => isOver || (await isStatementBlocked(database.query)));
        return made;
      });
      assert.equal(await deletion, true);
      assert.deepEqual(await scopesOf(id), ["openid"]);
      // From now on it has the service's own meaning, for whoever asks for that.
      assert.ok(await setScopes(id, ["openid", name]));
    });
});
