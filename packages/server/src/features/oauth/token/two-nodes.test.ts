/** Two servers on one PostgreSQL. Their clock stands still, so that no cache ends by itself: only news can change it. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { createClientSecret, revokeSecret } from "../../../core/applications/client-secrets.ts";
import { setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { openDatabase } from "../../../db/open.ts";
import { postgresServer } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  askUser,
  decideOn,
  makeCibaClient,
  openNewest,
  pollRequest,
} from "../../../testing/fixtures/ciba.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { createDatabase, dropDatabase } from "../../../testing/postgres.ts";
import { assertOAuthError, headerOf, payloadOf, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestServices,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("two nodes on one PostgreSQL", () => {
  let databaseUrl: string;
  let nodes: [TestService, TestService];
  let clock: FakeClock;
  let org: TestOrganisation;
  let source: CodeSource;
  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    clock = fakeClock();
    nodes = await startTwo(databaseUrl, clock);
    org = at(0, await makeOrganisation(nodes[0].service));
    source = codeSource(org);
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await dropDatabase(await postgresServer(), databaseUrl);
    for (const node of nodes) assert.deepEqual(node.errors, []);
  });

  /** The organisation as it is reached at a node. */
  const at = (node: number, one: TestOrganisation = org): TestOrganisation => {
    const { baseUrl } = nodes[node % 2] ?? nodes[0];
    return { ...one, issuer: `${baseUrl}/oauth/${one.organisation.id}` };
  };
  const askAt = (node: number, client: TestClient, one = org) =>
    postForm(`${at(node, one).issuer}/token`, { grant_type: "client_credentials", ...credentials(client) });
  const isRefusedAt = (node: number, client: TestClient, one = org) =>
    eventually(`refused at node ${node}`, async () => (await askAt(node, client, one)).status !== 200);
  const jobClient = async () => {
    const client = await makeClient(nodes[0].service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
    });
    for (const node of [0, 1]) assert.equal((await askAt(node, client)).status, 200);
    return client;
  };

  test("migrates once when two nodes start together, and both issue for one issuer", async () => {
    const migrated = nodes.map(({ service }) => service.migrated.length);
    assert.deepEqual(migrated.filter((count) => count > 0).length, 1);
    const { accessToken } = await source.tokens();
    for (const node of [0, 1]) {
      const headers = { authorization: `Bearer ${accessToken}` };
      assert.equal((await sendRaw(`${at(node).issuer}/userinfo`, { headers })).status, 200);
    }
  });

  test("forgets at every node what a deleted user, and a guest who left, had by groups", async () => {
    const [{ service }, { service: other }] = nodes;
    const visited = (await makeOrganisation(service, "Visited")).organisation;
    const guest = await makeDirectory(service, visited.id);
    const home = await makeDirectory(service, org.organisation.id);
    const [leaver, deleted] = [await home.user(), await home.user()];
    await insertMembership(service.database.query, {
      ...{ orgId: visited.id, homeOrgId: home.orgId, userId: leaver },
      ...{ role: "Standard", now: clock() },
    });
    await guest.group("Guests", [userRef(leaver)]);
    await home.group("Staff", [userRef(deleted)]);
    const groupsOf = async (orgId: string, id: string) =>
      (await other.entitlements.ofUser(orgId, id)).groups.size;
    assert.deepEqual([await groupsOf(visited.id, leaver), await groupsOf(home.orgId, deleted)], [1, 1]);
    await leaveOrganisation(service, { ...guest.act, id: leaver });
    await deleteUser(service, { ...home.act, id: deleted });
    await eventually("the guest is forgotten", async () => (await groupsOf(visited.id, leaver)) === 0);
    await eventually("the user is forgotten", async () => (await groupsOf(home.orgId, deleted)) === 0);
  });

  test("lets one of a hundred redemptions on two nodes win, and the others revoke its tokens", async () => {
    const grant = await source.code();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => redeemWith(at(index), grant)),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    for (const answer of answers) if (answer !== good[0]) assertOAuthError(answer, 400, "invalid_grant");
    const token = String(good[0]?.body["access_token"]);
    for (const node of [0, 1]) {
      const { body } = await postForm(`${at(node).issuer}/introspect`, { token, ...credentials(org.web) });
      assert.equal(body["active"], false);
    }
  });

  test("gives a CIBA request that was asked at one node and approved at the other to one of many polls", async () => {
    const client = await makeCibaClient(nodes[0].service, org);
    const asked = await askUser(at(0), client);
    assertOAuthError(await pollRequest(at(1), asked), 400, "authorization_pending");
    assertOAuthError(await pollRequest(at(0), asked), 400, "slow_down", "the other node has just been asked");
    const browser = testBrowser();
    await decideOn(browser, await openNewest(browser, at(1)));
    clock.advance(10_000);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => pollRequest(at(index), asked)),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    assert.equal(payloadOf(good[0]?.body["id_token"])["sub"], org.user.id);
  });

  test("issues one successor to a hundred refreshes on two nodes", async () => {
    const { refreshToken } = await source.tokens();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => refresh(at(index), refreshToken)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const successors = new Set(answers.map(({ body }) => String(body["refresh_token"])));
    assert.equal(successors.size, 1);
    const third = await refresh(at(1), [...successors][0] ?? "");
    assert.equal(third.status, 200);
    assertOAuthError(await refresh(at(0), refreshToken), 400, "invalid_grant", "a replay at the other node");
    const fourth = await refresh(at(1), String(third.body["refresh_token"]));
    assertOAuthError(fourth, 400, "invalid_grant", "the replay ended the family for both");
  });

  test("sees a disabled application, secret or organisation of one node on the other", async () => {
    const client = await jobClient();
    const { orgId, id } = client.application;
    await setApplicationStatus(nodes[0].service, { orgId, id, disabled: true, actor: "test" });
    await isRefusedAt(1, client);

    const other = await jobClient();
    const input = { orgId, applicationId: other.application.id, actor: "test" };
    const made = await createClientSecret(nodes[1].service, { ...input, label: "b", expiresAt: null });
    const newer = { ...other, secret: made.plaintext };
    await eventually("known at node 0", async () => (await askAt(0, newer)).status === 200);
    assert.equal((await askAt(1, newer)).status, 200);
    await revokeSecret(nodes[0].service, { ...input, id: made.secret.id });
    await isRefusedAt(1, newer);
    assert.equal((await askAt(1, other)).status, 200);

    const shut = await makeOrganisation(nodes[0].service, "Shut");
    const discovery = `${at(1, shut).issuer}/.well-known/openid-configuration`;
    assert.equal((await askAt(1, shut.batch, shut)).status, 200);
    assert.equal((await sendRaw(discovery, {})).status, 200);
    await setOrganisationStatus(nodes[0].service, {
      orgId: shut.organisation.id,
      disabled: true,
      actor: "test",
    });
    await isRefusedAt(1, shut.batch, shut);
    await eventually("no discovery", async () => (await sendRaw(discovery, {})).status === 404);
  });

  test("publishes a key that one node rotated on the other, and signs with it", async () => {
    const kids = async (node: number) => {
      const { body } = await sendRaw(`${at(node).issuer}/.well-known/jwks.json`, {});
      return (body["keys"] as { kid: string }[]).map(({ kid }) => kid);
    };
    const before = await kids(1);
    const { orgId } = org.batch.application;
    const made = await nodes[0].service.keys.rotate(orgId, "ES256", { actor: "test", compromised: true });
    await eventually("published", async () => (await kids(1)).includes(made.kid));
    const [gone] = before.filter((kid) => kid !== made.kid);
    assert.ok(gone);
    assert.equal((await kids(1)).length, before.length, "and the compromised one is gone");
    const { body } = await askAt(1, org.batch);
    assert.equal(headerOf(body["access_token"])["kid"], made.kid);
  });

  test("creates one first key of each algorithm when two nodes race", async () => {
    for (let round = 0; round < 3; round++) {
      const fresh = await makeOrganisation(nodes[0].service, `Round${round}`);
      const paths = ["0", "1", "0", "1"].map(
        (node) => `${at(Number(node), fresh).issuer}/.well-known/jwks.json`,
      );
      const sets = await Promise.all(paths.map((path) => sendRaw(path, {})));
      assert.equal(new Set(sets.map(({ text }) => text)).size, 1, "all saw the same set");
      const keys = sets.flatMap(({ body }) => body["keys"] as { alg: string }[]);
      const algorithms = keys.slice(0, keys.length / sets.length).map(({ alg }) => alg);
      assert.deepEqual(algorithms.sort(), ["ES256", "RS256"]);
    }
  });

  test("reconnects a lost change feed and clears its caches", async () => {
    const client = await jobClient();
    const { orgId, id } = client.application;
    const { query } = nodes[0].service.database;
    const listeners = sql<{ pid: number }>`select pid, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %changes%'`;
    assert.equal((await listeners.execute(query)).rows.length, 2);
    await setApplicationStatus(nodes[0].service, { orgId, id, disabled: true, actor: "test" });
    await isRefusedAt(1, client);
    const living = sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and query like 'listen %changes%'`;
    await eventually("both listen", async () => (await living.execute(query)).rows.length === 2);
    await setApplicationStatus(nodes[0].service, { orgId, id, disabled: false, actor: "test" });
    await eventually("hears again", async () => (await askAt(1, client)).status === 200);
  });
});

/** At the same moment, on an empty database. The issuer is an address that nobody has: requests name the node. */
async function startTwo(databaseUrl: string, clock: FakeClock): Promise<[TestService, TestService]> {
  const [one, other] = await startTestServices({ databaseUrl, clock, baseUrl: "http://127.0.0.1:1" }, 2);
  assert.ok(one && other);
  return [one, other];
}

test("starts five nodes on an empty database and migrates once", async (t) => {
  const server = await postgresServer();
  const databaseUrl = await createDatabase(server);
  const nodes: TestService[] = [];
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await dropDatabase(server, databaseUrl);
  });
  nodes.push(...(await startTestServices({ databaseUrl }, 5)));
  assert.equal(nodes.filter(({ service }) => service.migrated.length > 0).length, 1);
  const database = openDatabase(databaseUrl, 1);
  const { rows } = await sql<{ name: string }>`select name from schema_migration`.execute(database.query);
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  await database.close();
});
