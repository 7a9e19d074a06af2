import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { changeCustomScope, createCustomScope, deleteCustomScope } from "./custom-scopes.ts";
import { listCustomScopes } from "./scopes.store.ts";
import { InvalidScope } from "./validation.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let second: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, passwords: quickPasswords });
    second = await startTestService({ databaseUrl, passwords: quickPasswords, baseUrl: running.baseUrl });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
  });
  after(async () => {
    await second.close();
    await running.close();
  });

  const create = (name: string, at = org) =>
    createCustomScope(running.service, {
      orgId: at.organisation.id,
      name,
      displayName: `The ${name}`,
      description: "",
      claims: [{ name: `${name}_claim`, source: "static", value: name }],
      sensitive: true,
      actor: "test",
    });
  const names = async (service = running.service, at = org) =>
    (await service.customScopes.list(at.organisation.id)).map(({ name }) => name);
  const discovery = async (at: TestOrganisation) => {
    const answer = await fetch(`${at.issuer}/.well-known/openid-configuration`);
    const { scopes_supported, claims_supported } = (await answer.json()) as Record<string, string[]>;
    return { scopes: scopes_supported ?? [], claims: claims_supported ?? [] };
  };

  test("a scope is the organisation's alone: in lists, in discovery, for changes", async () => {
    const before = [await discovery(org), await discovery(other)];
    assert.deepEqual(await names(), []);
    const scope = await create("payroll");
    assert.deepEqual(await names(), ["payroll"]);
    assert.deepEqual(await names(running.service, other), []);
    const { query } = running.service.database;
    assert.deepEqual(
      await listCustomScopes(query, other.organisation.id),
      [],
      "also where nothing is cached",
    );
    const now = await discovery(org);
    assert.deepEqual(now.scopes, [...(before[0]?.scopes ?? []), "payroll"]);
    assert.deepEqual(now.claims, [...(before[0]?.claims ?? []), "payroll_claim"]);
    assert.deepEqual(await discovery(other), before[1]);
    const foreign = { orgId: other.organisation.id, id: scope.id, actor: "test" };
    assert.equal(
      await changeCustomScope(running.service, { ...foreign, content: { claims: [] } }),
      undefined,
    );
    assert.equal(await deleteCustomScope(running.service, foreign), false);
    await create("payroll", other);
  });

  test("a name is there once, and no fault is kept", async () => {
    await create("once");
    await assert.rejects(create("once"), { code: "name-taken" });
    await assert.rejects(create("openid"), InvalidScope);
    const { service } = running;
    const id =
      (await service.customScopes.list(org.organisation.id)).find(({ name }) => name === "once")?.id ?? "";
    const claims = [{ name: "sub", source: "static", value: "root" }] as const;
    const change = { orgId: org.organisation.id, id, content: { claims }, actor: "test" };
    await assert.rejects(changeCustomScope(service, change), InvalidScope);
    await assert.rejects(changeCustomScope(service, { ...change, content: {}, version: 7 }), {
      code: "changed-meanwhile",
    });
    await deleteCustomScope(service, change);
  });

  test("every node hears of a change, and of the end", async () => {
    const scope = await create("shared");
    const at = { orgId: org.organisation.id, id: scope.id, actor: "test" };
    const seen = async () =>
      (await second.service.customScopes.list(at.orgId)).find(({ name }) => name === "shared");
    await eventually("it is new", async () => (await seen())?.displayName === "The shared");
    await changeCustomScope(running.service, { ...at, content: { displayName: "Renamed" } });
    assert.ok(
      (await running.service.customScopes.list(at.orgId)).some((one) => one.displayName === "Renamed"),
    );
    await eventually("it is changed", async () => (await seen())?.displayName === "Renamed");
    await deleteCustomScope(running.service, at);
    await eventually("it is gone", async () => (await seen()) === undefined);
    assert.ok(!(await discovery(org)).scopes.includes("shared"));
  });
});
