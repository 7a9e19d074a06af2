/** A client manages its own registration (RFC 7592): its token rotates, a lost answer is answered again, nobody else gets in. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { type Answer, postForm } from "../../../testing/fixtures/client.ts";
import { registration } from "../../../testing/fixtures/registration.ts";
import { assertOAuthError } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const program = {
  client_name: "Program",
  grant_types: ["client_credentials"],
  token_endpoint_auth_method: "client_secret_post",
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), clock: fakeClock() });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  interface Registered {
    readonly id: string;
    readonly uri: string;
    readonly token: string;
    readonly secret: string;
    readonly body: Answer["body"];
  }
  const registered = async (metadata: object = program): Promise<Registered> => {
    const allowed = { allowedScopes: ["email"], grantTypes: ["client_credentials", "authorization_code"] };
    const made = await api.call("POST", "/initial-access-tokens", { body: allowed });
    const url = `${org.issuer}/register`;
    const { status, body } = await registration("POST", url, String(made.body["token"]), metadata);
    assert.equal(status, 201, JSON.stringify(body));
    return {
      id: String(body["client_id"]),
      uri: String(body["registration_client_uri"]),
      token: String(body["registration_access_token"]),
      secret: String(body["client_secret"]),
      body,
    };
  };
  const read = ({ uri }: Registered, token: string) => registration("GET", uri, token);
  const replace = ({ uri, id }: Registered, token: string, more: object = {}) =>
    registration("PUT", uri, token, { ...program, client_id: id, ...more });
  const tokenOf = ({ body }: Answer): string => String(body["registration_access_token"]);
  const works = async ({ id, secret }: Registered) => {
    const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    return (await postForm(`${org.issuer}/token`, form)).status;
  };

  test("a client reads what it has registered, without its secret", async () => {
    const client = await registered();
    const { status, body, headers } = await read(client, client.token);
    assert.equal(status, 200);
    const { client_secret: _, client_secret_expires_at: __, ...rest } = client.body;
    assert.deepEqual(body, rest);
    assert.equal(headers.get("cache-control"), "no-store");
  });

  test("it replaces all of it: what is left out is the default, and its secret stays", async () => {
    const client = await registered({ ...program, contacts: ["a@b.example"] });
    const { status, body } = await replace(client, client.token, {
      ...{ client_name: "Renamed", client_secret: client.secret },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [body["client_name"], body["contacts"], body["client_secret"]],
      ["Renamed", [], undefined],
    );
    assert.equal(await works(client), 200);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 1_000);
    const change = events.find(
      ({ action, target }) => action === "application.changed" && target === client.id,
    );
    assert.equal(change?.actor, `client:${client.id}`);
  });

  test("a replacement rotates the token; the old one ends when the new one is used", async () => {
    const client = await registered();
    const next = tokenOf(await replace(client, client.token));
    assert.notEqual(next, client.token);
    assert.equal(tokenOf(await read(client, client.token)), next, "a lost answer is answered again");
    assert.equal((await read(client, next)).status, 200);
    assertOAuthError(await read(client, client.token), 401, "invalid_token");
    assertOAuthError(await replace(client, client.token), 401, "invalid_token");
    const third = tokenOf(await replace(client, next));
    assertOAuthError(await read(client, client.token), 401, "invalid_token");
    assert.equal(tokenOf(await read(client, third)), third);
  });

  test("of many replacements at once, each answer has the token that works", async () => {
    const client = await registered();
    const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`);
    const answers = await Promise.all(
      names.map((client_name) => replace(client, client.token, { client_name })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      names.map(() => 200),
    );
    assert.equal(new Set(answers.map(tokenOf)).size, 1);
    const [first] = answers;
    assert.equal((await read(client, first ? tokenOf(first) : "")).status, 200);
  });

  test("nobody else's token is good, and there is one answer for it all", async () => {
    const [client, stranger] = [await registered(), await registered()];
    const foreignUri = client.uri.replace(org.issuer, other.issuer);
    const wrong: ReadonlyArray<readonly [uri: string, token: string | undefined]> = [
      ...([
        [client.uri, stranger.token],
        [client.uri, "sgn_ra_x"],
        [client.uri, undefined],
      ] as const),
      ...([
        [client.uri, api.accessToken],
        [foreignUri, client.token],
      ] as const),
      ...([[`${org.issuer}/register/${crypto.randomUUID()}`, client.token]] as const),
      ...([[`${org.issuer}/register/${org.web.application.id}`, client.token]] as const),
      ...([[`${org.issuer}/register/x`, client.token]] as const),
    ];
    for (const [uri, token] of wrong)
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await registration(method, uri, token, method === "PUT" ? program : undefined);
        assertOAuthError(answer, 401, "invalid_token", `${method} ${uri}`);
      }
    assert.equal((await read(client, client.token)).status, 200);
  });

  test("bad metadata is refused with the RFC's code, and the token stays", async () => {
    const client = await registered();
    const wrong: readonly object[] = [
      ...[{ client_id: crypto.randomUUID() }, { client_id: undefined }, { client_secret: "sgn_cs_mine" }],
      ...[{ client_secret: 1 }, { registration_access_token: client.token }, { client_id_issued_at: 1 }],
      ...[{ registration_client_uri: client.uri }, { client_secret_expires_at: 0 }],
      ...[{ grant_types: ["refresh_token"] }, { token_endpoint_auth_method: "none" }],
      ...[{ token_endpoint_auth_method: "private_key_jwt" }, { jwks_uri: "http://a.example/" }],
    ];
    for (const members of wrong)
      assertOAuthError(
        await replace(client, client.token, members),
        400,
        "invalid_client_metadata",
        JSON.stringify(members),
      );
    const redirect = { grant_types: ["authorization_code"], redirect_uris: ["http://a.example/"] };
    assertOAuthError(await replace(client, client.token, redirect), 400, "invalid_redirect_uri");
    const unapproved = { software_statement: "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA" };
    assertOAuthError(await replace(client, client.token, unapproved), 400, "unapproved_software_statement");
    assert.equal((await replace(client, client.token, { client_secret: client.secret })).status, 200);
  });

  test("a method without secrets ends them, and one with a secret begins with a new one", async () => {
    const client = await registered();
    const keys = { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://app.example/jwks" };
    const second = await replace(client, client.token, keys);
    assert.equal(second.status, 200, JSON.stringify(second.body));
    assert.equal(await works(client), 401);
    const third = await replace(client, tokenOf(second));
    const secret = String(third.body["client_secret"]);
    assert.match(secret, /^sgn_cs_/);
    assert.equal(await works(client), 401);
    assert.equal(await works({ ...client, secret }), 200);
  });

  test("what an administrator has set stays; a disabled client cannot manage itself", async () => {
    const client = await registered();
    const path = `/applications/${client.id}`;
    const restricted = await api.call("PATCH", path, { body: { access: "assigned" } });
    assert.equal(restricted.status, 200, JSON.stringify(restricted.body));
    assert.equal((await replace(client, client.token, { client_name: "New" })).status, 200);
    const kept = await findApplication(running.service.database.query, org.organisation.id, client.id);
    assert.deepEqual([kept?.name, kept?.settings.access], ["New", "assigned"]);
    assert.equal((await api.call("PATCH", path, { body: { enabled: false } })).status, 200);
    assertOAuthError(await read(client, client.token), 401, "invalid_token");
  });

  test("the API's scopes are not for it, whoever gives them", async () => {
    const client = await registered();
    const every = await makeApiClient(running.service, org, [
      "signet:applications:write",
      "signet:users:read",
    ]);
    const body = { allowedScopes: ["email", "signet:users:read"] };
    const given = await every.call("PATCH", `/applications/${client.id}`, { body });
    assert.equal(given.status, 200, JSON.stringify(given.body));
    const form = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret };
    const asked = await postForm(`${org.issuer}/token`, { ...form, scope: "signet:users:read" });
    assertOAuthError(asked, 400, "invalid_scope");
  });

  test("it deletes itself, with what it was issued", async () => {
    const client = await registered();
    assert.equal(await works(client), 200);
    const deleted = await registration("DELETE", client.uri, client.token);
    assert.deepEqual([deleted.status, deleted.body], [204, {}]);
    assert.equal(await works(client), 401);
    assertOAuthError(await read(client, client.token), 401, "invalid_token");
    assert.equal((await api.call("GET", `/applications/${client.id}`)).status, 404);
  });

  test("pages of any origin may register and read, without credentials", async () => {
    const client = await registered();
    const headers = { origin: "https://inspector.example", authorization: `Bearer ${client.token}` };
    const answer = await fetch(client.uri, { headers });
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    const preflight = await fetch(`${org.issuer}/register`, { method: "OPTIONS", headers });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-methods"), "POST");
  });
});
