/** Users of another product by API v1: all of them or none, with the hashes that they sign in with. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { directSource } from "../../../core/rate-limits/guess-source.ts";
import { checkPassword } from "../../../core/users/check-password.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { BCRYPT, MOVED_PASSWORD } from "../../../testing/moving-files.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: "argon2id" });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const send = (users: readonly object[], headers: Record<string, string> = {}) =>
    api.call("POST", "/users/import", { body: { users }, headers });
  const find = async (email: string) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
  const signIn = async (email: string, password: string) => {
    const deps = { ...running.service, rateLimits: running.service.config.rateLimits };
    const source = directSource("127.0.0.1");
    const right = await checkPassword(deps, { orgId: org.organisation.id, email, password, source });
    return typeof right === "string" ? right : right.user.email;
  };

  test("they sign in with the passwords that they have, and who was blocked stays so", async () => {
    const person = { firstname: "Grace", surname: "Hopper", emailVerified: true, passwordHash: BCRYPT };
    const off = { email: "off@acme.example", passwordHash: BCRYPT, disabled: true };
    const { status, body } = await send([{ email: " Grace@acme.example ", ...person }, off]);
    assert.deepEqual([status, body], [200, { created: 2, skipped: 0 }], JSON.stringify(body));
    const grace = await find("grace@acme.example");
    assert.deepEqual(
      [grace?.email, grace?.firstname, grace?.emailVerified, grace?.role],
      ["Grace@acme.example", "Grace", true, "Standard"],
    );
    assert.equal(await signIn("grace@acme.example", "wrong horse"), "invalid-credentials");
    assert.equal(await signIn("grace@acme.example", MOVED_PASSWORD), "Grace@acme.example");
    assert.equal(await signIn("off@acme.example", MOVED_PASSWORD), "disabled");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 10);
    const told = events.filter(({ action, target }) => action === "user.created" && target === grace?.id);
    assert.deepEqual(
      told.map(({ action, actor, address }) => [action, actor, address]),
      [["user.created", `client:${api.application.id}`, "127.0.0.1"]],
    );
  });

  test("an address that is there is skipped, with its password as it is; a repeated call tells the same", async () => {
    const mine = { email: org.user.email, passwordHash: BCRYPT };
    const key = { "idempotency-key": "import-1" };
    const users = [mine, { email: "new@acme.example" }];
    for (const _ of [1, 2]) assert.deepEqual((await send(users, key)).body, { created: 1, skipped: 1 });
    assert.deepEqual((await send(users)).body, { created: 0, skipped: 2 });
    assert.equal(await signIn(org.user.email, MOVED_PASSWORD), "invalid-credentials");
  });

  test("a fault of one names it and creates none", async () => {
    const good = { email: "good@acme.example" };
    for (const [bad, path] of [
      [{ email: "x" }, "/users/1"],
      [{ email: "Good@acme.example" }, "/users/1"],
      [{ email: "b@acme.example", firstname: "x".repeat(101) }, "/users/1"],
      [{ email: "b@acme.example", passwordHash: "$2b$31$x" }, "/users/1/passwordHash"],
      [{ email: "b@acme.example", passwordHash: BCRYPT.replace("$10$", "$15$") }, "/users/1/passwordHash"],
      [{ email: "b@acme.example", role: "Administrator" }, "/users/1/role"],
    ] as const) {
      const { status, body } = await send([good, bad]);
      const [fault] = body["errors"] as { path: string }[];
      assert.deepEqual([status, fault?.path], [422, path], JSON.stringify(body));
    }
    const many = Array.from({ length: 1_001 }, (_, at) => ({ email: `many-${at}@acme.example` }));
    assert.equal((await send(many)).status, 422);
    assert.equal(await find("good@acme.example"), undefined);
    assert.equal(await find("many-0@acme.example"), undefined);
    assert.equal((await send([{ email: `${"x".repeat(1_100_000)}@acme.example` }])).status, 413);
  });
});
