import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listCalls } from "../../core/connections/connection-calls.store.ts";
import { listTokens } from "../../core/connections/connections.store.ts";
import { changeConnection, revokeToken } from "../../core/connections/connections.ts";
import { deleteConnection } from "../../core/connections/delete-connection.ts";
import { changeProfile, profileOf } from "../../core/users/profile/profile.ts";
import { findUser } from "../../core/users/users.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { MAIL_ENV, mailsTo } from "../../testing/fakes/mailbox.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { callScim, newScimConnection, type ScimClient } from "../../testing/fixtures/scim-connection.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
type Json = Record<string, unknown>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let scim: ScimClient;
  let count = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    scim = await newScimConnection(running.service, org.organisation.id);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const person = (more: object = {}) => {
    const userName = `u${count++}@acme.example`;
    return { userName, name: { givenName: "Uma", familyName: "Ray" }, active: true, ...more };
  };
  const create = async (more: object = {}, client = scim) => {
    const { status, body } = await client.call("POST", "/Users", person(more));
    assert.equal(status, 201, JSON.stringify(body));
    return body as Json & { id: string; userName: string };
  };
  const patch = (id: string, ...operations: object[]) =>
    scim.call("PATCH", `/Users/${id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: operations,
    });
  const list = async (query: string, client = scim) => {
    const { status, body } = await client.call("GET", `/Users?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Json & { totalResults: number; Resources: Array<Json & { id: string }> };
  };
  const filtered = (filter: string) => list(`filter=${encodeURIComponent(filter)}`);

  describe("the token", () => {
    test("is wanted on every path, and everything else is one and the same 401", async () => {
      const foreign = await newScimConnection(running.service, other.organisation.id);
      const [, , , , , , ownId] = scim.root.split("/");
      const roots = {
        "another connection's token": [scim.root, foreign.token],
        "another organisation's": [scim.root.replace(orgId(), other.organisation.id), scim.token],
        "unknown organisation": [scim.root.replace(orgId(), crypto.randomUUID()), scim.token],
        "unknown connection": [scim.root.replace(ownId ?? "", crypto.randomUUID()), scim.token],
        "no id": [`${running.baseUrl}/scim/v2/x/y`, scim.token],
        "no token": [scim.root, ""],
      } as const;
      const answers = new Set<string>();
      for (const [what, [root, token]] of Object.entries(roots))
        for (const path of ["/Users", "/ServiceProviderConfig", "/Schemas", "/Me", "/nothing", "/Bulk"]) {
          const { status, headers, body } = await callScim("GET", `${root}${path}`, { token });
          assert.equal(status, 401, `${what} ${path}`);
          assert.match(headers.get("www-authenticate") ?? "", /^Bearer/);
          assert.match(headers.get("content-type") ?? "", /^application\/scim\+json/);
          answers.add(JSON.stringify(body));
        }
      assert.equal(answers.size, 1);
    });

    test("ends with its revocation, its connection, or while that is switched off", async () => {
      const one = await newScimConnection(running.service, orgId());
      const key = { orgId: orgId(), id: one.connection.id, actor: "test" };
      const status = async () => (await one.call("GET", "/Users?count=0")).status;
      assert.equal(await status(), 200);
      await changeConnection(running.service, { ...key, change: { enabled: false } });
      assert.equal(await status(), 401);
      await changeConnection(running.service, { ...key, change: { enabled: true } });
      assert.equal(await status(), 200);
      const [token] = await listTokens(db(), key);
      await revokeToken(running.service, { ...key, tokenId: token?.id ?? "" });
      assert.equal(await status(), 401);
      await deleteConnection(running.service, key);
      assert.equal(await status(), 401);
    });
  });

  describe("users", () => {
    test("are created, read, replaced, changed and deleted", async () => {
      const made = await scim.call("POST", "/Users", {
        ...person({ externalId: "e-1", title: "Dr", password: "ignored" }),
        emails: [{ value: "Work@Acme.example", type: "work", primary: true }],
        [ENTERPRISE]: { department: "Sales", manager: { value: "m" } },
      });
      assert.equal(made.status, 201);
      const id = String(made.body["id"]);
      assert.equal(made.headers.get("location"), `${scim.root}/Users/${id}`);
      assert.match(made.headers.get("etag") ?? "", /^W\/"/);
      assert.equal("password" in made.body, false);
      assert.deepEqual(made.body[ENTERPRISE], { department: "Sales", manager: { value: "m" } });
      const user = await findUser(db(), orgId(), id);
      assert.equal(user?.email, "Work@Acme.example");
      assert.equal(user.emailVerified, true);
      assert.equal(user.firstname, "Uma");
      assert.deepEqual(user.attributes, { department: "Sales", manager: "m" });

      const read = await scim.call("GET", `/Users/${id}`);
      assert.deepEqual(read.body, made.body);
      const unchanged = await scim.call("GET", `/Users/${id}`, undefined, {
        "if-none-match": made.headers.get("etag") ?? "",
      });
      assert.equal(unchanged.status, 304);

      const replaced = await scim.call("PUT", `/Users/${id}`, { ...person(), name: { familyName: "Rao" } });
      assert.equal(replaced.status, 200);
      assert.equal("title" in replaced.body || ENTERPRISE in replaced.body, false);
      const after = await findUser(db(), orgId(), id);
      assert.deepEqual([after?.surname, after?.attributes], ["Rao", {}]);

      assert.equal((await patch(id, { op: "Add", path: "title", value: "Prof" })).body["title"], "Prof");
      assert.equal((await scim.call("DELETE", `/Users/${id}`)).status, 204);
      for (const method of ["GET", "DELETE"])
        assert.equal((await scim.call(method, `/Users/${id}`)).status, 404, method);
    });

    test("a change of what was read before is refused when somebody was faster", async () => {
      const { id } = await create();
      const stale = { "if-match": 'W/"stale"' };
      for (const [method, body] of [
        ["PUT", person()],
        ["PATCH", { Operations: [{ op: "add", path: "title", value: "x" }] }],
        ["DELETE", undefined],
      ] as const)
        assert.equal((await scim.call(method, `/Users/${id}`, body, stale)).status, 412, method);
      const tag = (await scim.call("GET", `/Users/${id}`)).headers.get("etag") ?? "";
      assert.equal((await scim.call("DELETE", `/Users/${id}`, undefined, { "if-match": tag })).status, 204);
    });

    test("a clash of userName, email address or externalId is 409 uniqueness, and nothing is made", async () => {
      const { userName } = await create({ externalId: "taken", emails: [{ value: "first@acme.example" }] });
      for (const body of [
        person({ userName: userName.toUpperCase(), emails: [{ value: "n1@acme.example" }] }),
        person({ emails: [{ value: "FIRST@acme.example" }] }),
        person({ externalId: "taken", emails: [{ value: "n2@acme.example" }] }),
        person({ userName: org.user.email }),
      ]) {
        const { status, body: answer } = await scim.call("POST", "/Users", body);
        assert.deepEqual([status, answer["scimType"], answer["status"]], [409, "uniqueness", "409"]);
      }
      assert.equal((await filtered('emails.value eq "n2@acme.example"')).totalResults, 0);
    });

    test("each is found by any of its addresses, and by none that it no longer has", async () => {
      const [work, home] = [`w${count++}@acme.example`, `Home%_${count++}@acme.example`];
      const both = [
        { value: work, type: "work", primary: true },
        { value: home, type: "home" },
      ] as const;
      const { id, userName } = await create({ emails: both });
      const found = async (filter: string) => (await filtered(filter)).Resources.map((one) => one.id);
      assert.deepEqual(await found(`emails eq "${home.toUpperCase()}"`), [id]);
      assert.deepEqual(await found(`emails[type eq "home"].value eq "${home}"`), [id]);
      assert.deepEqual(await found(`emails[type eq "work" and value eq "${home}"]`), []);
      assert.deepEqual(await found(`emails.value eq "${work}"`), [id]);
      const alone = { ...person({ emails: [both[0]] }), userName };
      assert.equal((await scim.call("PUT", `/Users/${id}`, alone)).status, 200);
      assert.deepEqual(await found(`emails eq "${home}"`), []);
      assert.deepEqual(await found(`emails eq "${work}"`), [id]);
    });

    test("of two at once with one name, one is made", async () => {
      const body = person();
      const answers = await Promise.all([1, 2, 3].map(() => scim.call("POST", "/Users", body)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    });

    test("of the organisation's own are seen by their email address, and taken over by a write", async () => {
      const local = await withUser(running.service, org, `local-${count++}@acme.example`);
      const found = await filtered(`userName eq "${local.user.email}"`);
      assert.deepEqual(
        found.Resources.map(({ id }) => id),
        [local.user.id],
      );
      const second = await newScimConnection(running.service, orgId());
      assert.equal((await second.call("GET", `/Users/${local.user.id}`)).status, 200);
      assert.equal((await patch(local.user.id, { op: "replace", path: "title", value: "x" })).status, 200);
      assert.equal((await second.call("GET", `/Users/${local.user.id}`)).status, 404);
      await deleteConnection(running.service, { orgId: orgId(), id: second.connection.id, actor: "test" });
    });

    test("whose email address changes are told at the one before", async () => {
      const { id, userName } = await create();
      const value = `moved${count++}@acme.example`;
      const moved = await patch(id, { op: "replace", path: 'emails[type eq "work"].value', value });
      assert.equal(moved.status, 200);
      assert.equal((await findUser(db(), orgId(), id))?.email, value);
      const told = await mailsTo(running.service, userName);
      assert.deepEqual(
        told.map(({ mail }) => mail.template),
        ["EmailChanged"],
      );
    });

    test("lose of their profile what the directory no longer has, and keep what it never had", async () => {
      const { id, userName } = await create({ nickName: "Um", timezone: "Europe/Copenhagen" });
      const key = { orgId: orgId(), id, actor: "test" };
      const user = await findUser(db(), orgId(), id);
      assert.ok(user);
      const details = { ...user.details, website: "https://uma.example/" };
      await changeProfile(running.service, { ...key, profile: { ...profileOf(user), details } });
      await scim.call("PUT", `/Users/${id}`, { userName, timezone: "Europe/Berlin" });
      assert.deepEqual((await findUser(db(), orgId(), id))?.details, {
        ...{ zoneinfo: "Europe/Berlin", website: "https://uma.example/" },
      });
    });

    test("of another organisation, and guests, are not there", async () => {
      for (const id of [other.user.id, crypto.randomUUID(), "x"])
        for (const [method, body] of [
          ["GET", undefined],
          ["PUT", person()],
          ["DELETE", undefined],
        ] as const)
          assert.equal((await scim.call(method, `/Users/${id}`, body)).status, 404, `${method} ${id}`);
    });
  });

  describe("deprovisioning", () => {
    test("ends sessions, refresh tokens and access at once, and enabling revives none", async () => {
      const own = await withUser(running.service, org, `leaver-${count++}@acme.example`);
      const source = codeSource(own);
      const tokens = await source.tokens({});
      const userinfo = () =>
        fetch(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${tokens.accessToken}` } });
      assert.equal((await userinfo()).status, 200);
      const code = await source.code();
      const off = await patch(own.user.id, { op: "Replace", path: "active", value: "False" });
      assert.deepEqual([off.status, off.body["active"]], [200, false]);
      const ended = async () => {
        assert.equal((await userinfo()).status, 401);
        assert.equal((await refresh(own, tokens.refreshToken)).body["error"], "invalid_grant");
        const introspected = await postForm(`${org.issuer}/introspect`, {
          ...credentials(own.web),
          token: tokens.accessToken,
        });
        assert.equal(introspected.body["active"], false);
      };
      await ended();
      assert.equal(
        (await patch(own.user.id, { op: "replace", value: { active: true } })).body["active"],
        true,
      );
      await ended();
      assert.equal((await redeemWith(own, code)).body["error"], "invalid_grant");
    });

    test("spares the last administrator with 403", async () => {
      const one = await makeOrganisation(running.service, "Alone");
      const client = await newScimConnection(running.service, one.organisation.id, "delete");
      await db()
        .updateTable("membership")
        .set({ role: "Administrator" })
        .where("user_id", "=", one.user.id)
        .execute();
      const path = `/Users/${one.user.id}`;
      const off = { Operations: [{ op: "replace", value: { active: false } }] };
      assert.equal((await client.call("PATCH", path, off)).status, 403);
      assert.equal((await client.call("DELETE", path)).status, 403);
      assert.equal((await client.call("GET", path)).body["active"], true);
    });

    test("by DELETE disables, and a POST of the userName takes the same id up again", async () => {
      const { id, userName } = await create({ externalId: "back" });
      assert.equal((await scim.call("DELETE", `/Users/${id}`)).status, 204);
      assert.notEqual((await findUser(db(), orgId(), id))?.disabledAt, null);
      assert.equal((await filtered(`userName eq "${userName}"`)).totalResults, 0);
      const again = await scim.call("POST", "/Users", { ...person({ externalId: "back" }), userName });
      assert.deepEqual([again.status, again.body["id"], again.body["active"]], [201, id, true]);
    });

    test("by DELETE removes the account where the policy says so", async () => {
      const strict = await newScimConnection(running.service, orgId(), "delete");
      const { id } = await create({}, strict);
      assert.equal((await strict.call("DELETE", `/Users/${id}`)).status, 204);
      assert.equal(await findUser(db(), orgId(), id), undefined);
    });

    test("a PUT without active leaves it as it is", async () => {
      const { id, userName } = await create({ active: false });
      const put = await scim.call("PUT", `/Users/${id}`, { userName, title: "x" });
      assert.equal(put.body["active"], false);
    });
  });

  test("what the service can do is published, with what a directory has to send", async () => {
    const config = await scim.call("GET", "/ServiceProviderConfig");
    assert.deepEqual(config.body["bulk"], {
      supported: true,
      maxOperations: 1000,
      maxPayloadSize: 4_194_304,
    });
    const types = await scim.call("GET", "/ResourceTypes");
    assert.ok((types.body["Resources"] as Json[]).some(({ id }) => id === "User"));
    assert.equal((await scim.call("GET", "/ResourceTypes/User")).body["endpoint"], "/Users");
    const schema = await scim.call("GET", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User");
    const required = (schema.body["attributes"] as Json[]).filter((one) => one["required"] === true);
    assert.deepEqual(required.map((one) => one["name"]).sort(), ["active", "emails", "userName"]);
    assert.equal((await scim.call("GET", "/Schemas/nothing")).status, 404);
    assert.equal((await scim.call("GET", "/Me")).status, 501);
    assert.equal((await scim.call("GET", "/nothing")).status, 404);
    const wrong = await scim.call("PUT", "/Schemas", {});
    assert.deepEqual([wrong.status, wrong.headers.get("allow"), wrong.body["status"]], [405, "GET", "405"]);
    assert.equal((await scim.call("DELETE", "/Bulk")).headers.get("allow"), "POST");
  });

  test("what is no JSON, or no resource, is 400 in the form of SCIM", async () => {
    for (const body of ["{", "[]", "null", '{"userName": 1}', '{"userName": "no-address"}']) {
      const { status, body: answer } = await scim.call("POST", "/Users", body);
      assert.deepEqual([status, answer["status"]], [400, "400"], body);
      assert.deepEqual(answer["schemas"], ["urn:ietf:params:scim:api:messages:2.0:Error"]);
    }
    const { id } = await create();
    const { body } = await patch(id, { op: "remove", path: "userName" });
    assert.equal(body["scimType"], "mutability");
  });

  test("the last calls are kept, without what they carried", async () => {
    const one = await newScimConnection(running.service, orgId());
    await one.call("GET", '/Users?filter=userName+eq+"secret"');
    await one.call("POST", "/Users", { userName: "no-address" });
    const calls = await listCalls(db(), { orgId: orgId(), id: one.connection.id }, { limit: 10 });
    assert.deepEqual(
      calls.map(({ method, path, status, scimType }) => [method, path, status, scimType]),
      [
        ["POST", "/Users", 400, "invalidValue"],
        ["GET", "/Users", 200, null],
      ],
    );
  });
});
