/** The connections' pages: what is shown once, what stays, what deleting releases, and what a form cannot do. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { recordCall } from "../../../core/connections/connection-calls.store.ts";
import { findConnection, listConnections, listTokens } from "../../../core/connections/connections.store.ts";
import { openSecret } from "../../../core/connections/sign-in/client-secret.ts";
import { changeSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { recordConnectionSignIn } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { findGroup } from "../../../core/groups/groups.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { callScim, newScimConnection } from "../../../testing/fixtures/scim-connection.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  plain,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let here: ConsoleBrowser;
  let orgId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    orgId = org.organisation.id;
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const find = (id: string) => findConnection(db(), { orgId, id });
  const idOf = (location: string | undefined) =>
    /connections\/([0-9a-f-]{36})/.exec(location ?? "")?.[1] ?? "";
  const provider = async (name: string) => {
    const fields = {
      name,
      issuer: "https://idp.example",
      clientId: "signet",
      clientSecret: "s3cret-of-the-provider",
    };
    const made = await here.send("/connections/new?type=oidc", fields);
    assert.equal(made.status, 303, made.body);
    return idOf(made.location);
  };

  test("a directory is created, and its token is shown once and provisions", async () => {
    const missing = await here.send("/connections/new?type=scim", { name: " " });
    assert.equal(missing.status, 400);
    assert.match(missing.body, /id="name-fault"/);
    const made = await here.send("/connections/new?type=scim", {
      name: "Entra ID",
      deletionPolicy: "delete",
    });
    const id = idOf(made.location);
    const { kind, deletionPolicy, enabled } = (await find(id)) ?? {};
    assert.deepEqual([kind, deletionPolicy, enabled], ["scim", "delete", true]);

    const shown = await here.send(`/connections/${id}/tokens/new`, { label: "production", lifetime: "90" });
    const token = /sgn_st_[\w-]+/.exec(shown.body)?.[0] ?? "";
    const url = `${running.baseUrl}/scim/v2/${orgId}/${id}`;
    assert.ok(shown.body.includes(url));
    assert.equal((await callScim("GET", `${url}/Users`, { token })).status, 200);
    const [kept] = await listTokens(db(), { orgId, id });
    assert.equal(kept?.label, "production");
    assert.equal(Math.round(((kept?.expiresAt ?? 0) - running.service.clock()) / 86_400_000), 90);
    const listed = await here.get(`/connections/${id}/tokens`);
    assert.match(listed.body, /production/);
    assert.ok(!listed.body.includes(token), "shown once");

    const ended = await here.send(`/connections/${id}/tokens/${kept?.id}/end`);
    assert.equal(ended.status, 303);
    assert.equal((await callScim("GET", `${url}/Users`, { token })).status, 401);
  });

  test("with ten tokens there is no button for another, and its form makes none", async () => {
    const { connection } = await newScimConnection(running.service, orgId);
    const form = formOfPage(await here.get(`/connections/${connection.id}/tokens/new`));
    for (let count = 1; count < 10; count++)
      assert.equal((await here.send(`/connections/${connection.id}/tokens/new`)).status, 200);
    assert.doesNotMatch((await here.get(`/connections/${connection.id}/tokens`)).body, /id="token-add"/);
    assert.equal((await here.post(`/connections/${connection.id}/tokens/new`, form)).status, 303);
    assert.equal((await listTokens(db(), connection)).length, 10);
  });

  test("the calls of a directory are listed, newest first, and those that failed alone", async () => {
    const { connection, call } = await newScimConnection(running.service, orgId);
    const general = async () => (await here.get(`/connections/${connection.id}`)).body;
    assert.match(await general(), /id="last-call">The directory has not called yet/);
    await call("GET", "/Users");
    assert.match(await general(), /id="last-call">[\s\S]*?\/calls"[\s\S]*?200/);
    await call("POST", "/Users", { displayName: "without a userName" });
    await call("GET", "/Users/00000000-0000-4000-8000-000000000000");
    const all = await here.get(`/connections/${connection.id}/calls`);
    assert.match(all.body, /POST \/Users[\s\S]*GET \/Users/);
    const failed = await here.get(`/connections/${connection.id}/calls?outcome=failed`);
    assert.match(failed.body, /POST \/Users[\s\S]*invalidValue<\/code>[^<]*<span[^>]*>A value is missing/);
    assert.match(failed.body, /No such user or group in this connection/);
    assert.doesNotMatch(failed.body, /GET \/Users</);
    const key = { orgId, connectionId: connection.id };
    for (let at = 1; at <= 30; at++)
      await recordCall(db(), {
        ...key,
        at,
        method: "GET",
        path: `/Call-${at}.`,
        status: 200,
        scimType: null,
      });
    const first = await here.get(`/connections/${connection.id}/calls`);
    const next = plain(/id="page-older" href="[^"]*\?([^"]*)"/.exec(first.body)?.[1] ?? "");
    const second = await here.get(`/connections/${connection.id}/calls?${next}`);
    assert.match(first.body, /Call-6\./);
    assert.doesNotMatch(first.body, /Call-5\./);
    assert.match(second.body, /Call-5\.[\s\S]*Call-1\./);
  });

  test("deleting a directory says what it releases, asks for its name, and leaves users and groups", async () => {
    const { connection, call } = await newScimConnection(running.service, orgId);
    await call("POST", "/Users", { userName: "released@acme.example" });
    const group = await call("POST", "/Groups", { displayName: "Released" });
    const path = `/connections/${connection.id}/delete`;
    const { body } = await here.get(path);
    assert.match(body, /1 user becomes[\s\S]*1 group becomes/);
    assert.equal((await here.send(path, { name: "Other" })).status, 400);
    assert.equal((await here.send(path, { name: connection.name })).status, 303);
    assert.equal(await find(connection.id), undefined);
    const kept = await findGroup(db(), { orgId, id: String(group.body["id"]) });
    assert.equal(kept?.source, "local");
  });

  test("a provider begins disabled, with its redirect URI, and its secret is on no page", async () => {
    const id = await provider("Provider one");
    const connection = await find(id);
    assert.deepEqual([connection?.kind, connection?.enabled], ["oidc", false]);
    assert.equal(
      openSecret(running.service.encryption, connection ?? { orgId, id, secret: null }),
      "s3cret-of-the-provider",
    );
    for (const rest of ["", "/settings", "/sign-ins", "/activity"]) {
      const { status, body } = await here.get(`/connections/${id}${rest}`);
      assert.equal(status, 200);
      assert.doesNotMatch(body, /s3cret/, rest);
    }
    assert.ok(
      (await here.get(`/connections/${id}`)).body.includes(`/oauth/${orgId}/connections/${id}/callback`),
    );
    assert.equal((await here.send(`/connections/${id}/enable`)).status, 303);
    assert.equal((await find(id))?.enabled, true);
    assert.equal((await here.send(`/connections/${id}/disable`)).status, 303);
    assert.equal((await find(id))?.enabled, false);
  });

  test("faults of a new provider stand at their fields, and the typed secret is not carried back", async () => {
    const before = (await listConnections(db(), orgId)).length;
    const fields = { name: "Faulty", issuer: "ftp://x", clientId: "", clientSecret: "typed-secret" };
    const page = await here.send("/connections/new?type=oidc", fields);
    assert.equal(page.status, 400);
    for (const id of ["issuer", "clientId"]) assert.match(page.body, new RegExp(`id="${id}-fault"`));
    assert.doesNotMatch(page.body, /typed-secret/);
    const known = await here.send("/connections/new?type=google", { clientId: "c" });
    assert.match(known.body, /id="clientSecret-fault"/);
    assert.doesNotMatch(known.body, /id="issuer"/, "its issuer is known");
    assert.equal((await listConnections(db(), orgId)).length, before);
  });

  test("settings are saved as they were typed; what no field has stays, and so does an untouched secret", async () => {
    const id = await provider("Provider two");
    const mapping = { username: ["upn", "/preferred/name"], locale: "=en" };
    await changeSignInConnection(running.service, {
      ...{ orgId, actor: "test", id },
      ask: ({ kind, name, enabled, settings }) => ({
        ...{ kind, name, enabled, clientSecret: undefined },
        settings: { ...settings, mapping },
      }),
    });
    const rest = `/connections/${id}/settings`;
    const saved = await here.send(rest, {
      ...{ name: "Provider 2", scopes: "openid email", shown: undefined, createAccounts: undefined },
      ...{ linking: "never", emailTrust: "verifiedClaim", tokenEndpointAuthMethod: "client_secret_post" },
      assurance: "amr mfa = urn:signet:acr:mfa",
    });
    assert.equal(saved.status, 303, saved.body);
    const connection = await find(id);
    assert.equal(connection?.name, "Provider 2");
    assert.ok(connection?.secret);
    const { settings } = connection;
    assert.deepEqual(settings?.mapping, mapping);
    assert.deepEqual(settings?.assurance, [{ claim: "amr", value: "mfa", acr: "urn:signet:acr:mfa" }]);
    assert.deepEqual(settings?.oidc?.scopes, ["openid", "email"]);
    assert.deepEqual(
      [settings?.shown, settings?.createAccounts, settings?.linking, settings?.emailTrust, settings?.preset],
      [false, false, "never", "verifiedClaim", null],
    );
    const changed = await here.send(rest, { mapping: "username = upn\nusername = mail\nphone = =none" });
    assert.equal(changed.status, 303, changed.body);
    assert.deepEqual((await find(id))?.settings?.mapping, { username: ["upn", "mail"], phone: "=none" });

    const faults = {
      mapping: "username",
      assurance: "amr",
      linking: "always",
      issuer: "https://idp.example/?",
    };
    for (const [field, value] of Object.entries(faults)) {
      const page = await here.send(rest, { [field]: value });
      assert.equal(page.status, 400, field);
      assert.match(page.body, new RegExp(`id="${field}-fault"`));
    }
  });

  test("a secret that was typed beside a fault is asked for again, not left out", async () => {
    const id = await provider("Provider three");
    const rest = `/connections/${id}/settings`;
    const page = await here.send(rest, { name: "", clientSecret: "another-secret" });
    assert.equal(page.status, 400);
    assert.doesNotMatch(page.body, /another-secret/);
    const again = await here.post(rest, formOfPage(page, { name: "Provider three" }));
    assert.equal(again.status, 400);
    assert.match(again.body, /id="clientSecret-fault"/);
    const saved = await here.post(rest, formOfPage(again, { clientSecret: "another-secret" }));
    assert.equal(saved.status, 303);
    const connection = await find(id);
    assert.equal(
      openSecret(running.service.encryption, connection ?? { orgId, id, secret: null }),
      "another-secret",
    );
  });

  test("the sign-ins of a provider are told with their reason, and the failed ones alone", async () => {
    const id = await provider("Provider four");
    const entry = { orgId, connectionId: id, at: running.service.clock(), subject: "s", detail: null };
    await recordConnectionSignIn(db(), {
      ...{ ...entry, outcome: "succeeded", reason: null, email: "good@acme.example", reference: "ref-1" },
    });
    await recordConnectionSignIn(db(), {
      ...{ ...entry, outcome: "failed", reason: "nonce-mismatch", email: null, reference: "ref-2" },
    });
    const all = await here.get(`/connections/${id}/sign-ins`);
    assert.match(all.body, /nonce-mismatch[\s\S]*ref-2[\s\S]*good@acme\.example/);
    const failed = await here.get(`/connections/${id}/sign-ins?outcome=failed`);
    assert.match(failed.body, /ref-2/);
    assert.doesNotMatch(failed.body, /good@acme/);
  });

  test("a tab of the other sort, and another organisation's connection, is not found", async () => {
    const id = await provider("Provider five");
    for (const rest of ["/tokens", "/calls", "/tokens/new"])
      assert.equal((await here.get(`/connections/${id}${rest}`)).status, 404, rest);
    const scim = org.ids["connections"] ?? "";
    assert.equal((await here.get(`/connections/${scim}/sign-ins`)).status, 404);
    const theirs = other.ids["connections"] ?? "";
    for (const rest of ["", "/tokens", "/calls", "/settings", "/delete", "/tokens/new", "/activity"])
      assert.equal((await here.get(`/connections/${theirs}${rest}`)).status, 404, rest);
    const list = await here.get("/connections");
    assert.ok(list.body.includes(scim));
    assert.ok(!list.body.includes(theirs));
  });
});
