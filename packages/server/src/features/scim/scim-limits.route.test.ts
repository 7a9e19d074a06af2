/** What a directory's token must not do, and what must not stop everybody else. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findScimUser } from "../../core/provisioning/scim-users.store.ts";
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { findUser } from "../../core/users/users.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { callScim, newScimConnection, type ScimClient } from "../../testing/fixtures/scim-connection.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let scim: ScimClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    scim = await newScimConnection(running.service, org.organisation.id);
  });
  after(() => running.close());

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const patch = (id: string, value: object) =>
    scim.call("PATCH", `/Users/${id}`, { Operations: [{ op: "replace", value }] });

  const setRole = (id: string, role: string) =>
    db().updateTable("membership").set({ role }).where("user_id", "=", id).execute();

  describe("an administrator", () => {
    const elsewhere = { emails: [{ value: "mallory@evil.example", type: "work", primary: true }] };

    test("keeps the email address, to which links for passwords go, by any way of writing it", async () => {
      const { id, email } = org.user;
      await setRole(id, "Administrator");
      const address = async () => (await findUser(db(), orgId(), id))?.email;
      assert.equal((await patch(id, elsewhere)).status, 403);
      const put = await scim.call("PUT", `/Users/${id}`, { userName: email, ...elsewhere });
      assert.equal(put.status, 403);
      assert.equal(await address(), email);
      assert.equal(await findScimUser(db(), orgId(), id), undefined);
      assert.equal((await patch(id, { title: "Dr" })).status, 200);
      await setRole(id, "Standard");
      assert.equal((await patch(id, elsewhere)).status, 200);
      assert.equal(await address(), "mallory@evil.example");
    });

    test("keeps it where a deprovisioned one is taken up again", async () => {
      const made = await scim.call("POST", "/Users", { userName: "boss@acme.example" });
      const id = String(made.body["id"]);
      assert.equal((await scim.call("DELETE", `/Users/${id}`)).status, 204);
      await setRole(id, "Administrator");
      const again = await scim.call("POST", "/Users", { userName: "boss@acme.example", ...elsewhere });
      assert.equal(again.status, 403);
      const user = await findUser(db(), orgId(), id);
      assert.equal(user?.email, "boss@acme.example");
      assert.notEqual(user?.disabledAt, null);
    });
  });

  test("what the organisation has given a user itself stays when a directory takes the user over", async () => {
    const { body } = await scim.call("POST", "/Users", { userName: "own@acme.example" });
    const id = String(body["id"]);
    await db().deleteFrom("scim_user").where("user_id", "=", id).execute();
    const record = { attributes: { department: "Sales", level: 3 } };
    await changeMemberRecord(running.service, { orgId: orgId(), actor: "test", id, record });
    const attributes = async () => (await findUser(db(), orgId(), id))?.attributes;
    assert.equal((await patch(id, { active: false })).status, 200);
    assert.deepEqual(await attributes(), { department: "Sales", level: 3 });
    const urn = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
    await patch(id, { [urn]: { department: "IT" } });
    assert.deepEqual(await attributes(), { level: 3, department: "IT" });
    const removal = { Operations: [{ op: "remove", path: `${urn}:department` }] };
    assert.equal((await scim.call("PATCH", `/Users/${id}`, removal)).status, 200);
    assert.deepEqual(await attributes(), { level: 3 });
  });

  test("of many that take a user up again at the same time, one does", async () => {
    const { body } = await scim.call("POST", "/Users", { userName: "twice@acme.example" });
    await scim.call("DELETE", `/Users/${String(body["id"])}`);
    const both = await Promise.all(
      ["a", "b", "c", "d", "e", "f"].map((externalId) =>
        scim.call("POST", "/Users", { userName: "twice@acme.example", externalId }),
      ),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
  });

  test("what no database stores or compares is 400", async () => {
    for (const character of ["\\u0000", "\\ud800"])
      for (const name of ["userName", "externalId", "id"]) {
        const filter = `${name} eq "a${character}"`;
        const listed = await scim.call("GET", `/Users?filter=${encodeURIComponent(filter)}`);
        const searched = await scim.call("POST", "/Users/.search", { filter });
        for (const { status, body } of [listed, searched])
          assert.deepEqual([status, body["scimType"]], [400, "invalidFilter"], filter);
      }
    // Not what a database packs into an index.
    const long = Array.from({ length: 200 }, () => crypto.randomUUID()).join("");
    const person = { userName: long, emails: [{ value: "long@acme.example" }] };
    for (const sent of [person, { ...person, userName: "short", externalId: long }]) {
      const { status, body } = await scim.call("POST", "/Users", sent);
      assert.deepEqual([status, body["scimType"]], [400, "invalidValue"]);
    }
  });

  test("a wrong token leaves no row for an organisation that there is not", async () => {
    const unknown = crypto.randomUUID();
    const wrong = { token: `sgn_st_${"a".repeat(43)}` };
    for (const id of [unknown, orgId()])
      assert.equal((await callScim("GET", `${scim.root.replace(orgId(), id)}/Users`, wrong)).status, 401);
    const rows = await db().selectFrom("rate_limit").select("org_id").execute();
    const counted = rows.map((row) => row.org_id);
    assert.deepEqual([counted.includes(unknown), counted.includes(orgId())], [false, true]);
  });

  test("a call that can't be kept is answered as it went all the same", async () => {
    assert.deepEqual(running.errors, []);
    await db().schema.dropTable("connection_call").execute();
    const made = await scim.call("POST", "/Users", { userName: "unkept@acme.example" });
    assert.equal(made.status, 201);
    assert.equal((await scim.call("POST", "/Users", { userName: "unkept@acme.example" })).status, 409);
    assert.equal(running.errors.length, 2);
  });
});
