/** How many statements the requests that come by the thousand cost: one more is a tenth of such a request. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type CodeSource, codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { callApi, makeSystemAccount } from "../../testing/fixtures/system-account.ts";
import { sendRaw } from "../../testing/probes/answers.ts";
import { countStatements } from "../../testing/probes/counted-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

/** By timers, for many requests at once. */
const WRITTEN_LATER = /^(?!select).*"(?:activity|client_secret|refused_request|system_account_key)"/;

forEachDatabase(({ fresh, name }) => {
  const statements = countStatements();
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), around: statements.dialect });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** The statements of the second of two requests: the first fills the caches. */
  const ofSecond = async (request: () => Promise<{ readonly status: number }>): Promise<string[]> => {
    for (let time = 0; ; time++) {
      statements.take();
      assert.equal((await request()).status, 200);
      if (time === 1) return statements.take().filter((sql) => !WRITTEN_LATER.test(sql));
    }
  };
  /** By verb and first table. */
  const short = (sql: string): string =>
    `${/^\w+/.exec(sql)?.[0]} ${/\b(?:from|into|update) "(\w+)"/.exec(sql)?.[1] ?? ""}`.trim();
  /** What was made for the test is a change, and on PostgreSQL the caches hear of it a moment later. */
  const settlesAt = (expected: readonly string[], request: () => Promise<{ readonly status: number }>) =>
    eventually(
      `it takes ${expected.length} statements`,
      async () => String((await ofSecond(request)).map(short)) === String(expected),
    );
  const introspect = (token: string, client = org.web) =>
    postForm(`${org.issuer}/introspect`, { token, ...credentials(client) });
  const jobToken = () =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(org.batch) });

  test("discovery and keys: none", async () => {
    // The first look makes the keys, and on PostgreSQL the change is heard of a moment later.
    for (const path of [".well-known/openid-configuration", ".well-known/jwks.json"])
      await eventually(
        "it is served from memory",
        async () => (await ofSecond(() => sendRaw(`${org.issuer}/${path}`, {}))).length === 0,
      );
  });

  test("client credentials: none", async () => {
    assert.deepEqual(await ofSecond(jobToken), []);
  });

  test("introspection: one, whoever's token it is", async () => {
    const job = String((await jobToken()).body["access_token"]);
    assert.deepEqual((await ofSecond(() => introspect(job, org.batch))).map(short), [
      "select revoked_access_token",
    ]);
    const { accessToken } = await source.tokens({ scope: "openid email" });
    assert.deepEqual((await ofSecond(() => introspect(accessToken))).map(short), ["select token_family"]);
  });

  test("userinfo", async () => {
    const { accessToken } = await source.tokens({ scope: "openid email" });
    const headers = { authorization: `Bearer ${accessToken}` };
    const found = await ofSecond(() => sendRaw(`${org.issuer}/userinfo`, { headers }));
    assert.deepEqual(found.map(short), ["select token_family", "select membership", "select token_family"]);
  });

  test("a user by API v1: whether the token is revoked, the user, and the rest of the record at once", async () => {
    const reader = await makeApiClient(running.service, org, ["signet:users:read"]);
    await settlesAt(["select revoked_access_token", "select membership", "select user_action"], () =>
      reader.call("GET", `/users/${org.user.id}`),
    );
  });

  test("a client by a signed call: the client and its secrets", async () => {
    const admin = await makeSystemAccount(running.service, org, { administrator: true });
    const path = `/legacy/api/oauth/clients/${org.web.application.id}`;
    await settlesAt(["select application", "select client_secret"], () =>
      callApi(`${running.baseUrl}${path}`, admin),
    );
  });

  test("refresh: two reads and the rotation", async () => {
    let { refreshToken } = await source.tokens({ scope: "openid offline_access" });
    const found = await ofSecond(async () => {
      const form = {
        grant_type: "refresh_token",
        refresh_token: String(refreshToken),
        ...credentials(org.web),
      };
      const answer = await postForm(`${org.issuer}/token`, form);
      refreshToken = String(answer.body["refresh_token"]);
      return answer;
    });
    assert.deepEqual(found.map(short), ["select token_family", "select membership", "update token_family"]);
  });

  test("code exchange: two reads, and one transaction", async () => {
    const codes = [await source.code({ scope: "openid" }), await source.code({ scope: "openid" })];
    const found = await ofSecond(async () => redeemWith(org, codes.shift() ?? { code: "", verifier: "" }));
    const transaction = [
      "update authorization_code",
      "update browser_session",
      "select consent",
      "insert session_application",
      "insert token_family",
    ];
    // SQLite's driver begins and commits past its connection.
    assert.deepEqual(found.map(short), [
      ...["select authorization_code", "select membership"],
      ...(name === "sqlite" ? transaction : ["begin", ...transaction, "commit"]),
    ]);
  });
});
