import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { openSecret } from "../../../core/connections/sign-in/client-secret.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const SECRET = "a-secret-of-the-provider-9f3c";
const oidc = { issuer: "https://idp.example/realms/acme", clientId: "signet", clientSecret: SECRET };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:connections:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const post = (body: Readonly<Record<string, unknown>>) => api.call("POST", "/connections", { body });
  const stored = async (id: unknown) => {
    const { database } = running.service;
    const found = await findConnection(database.query, { orgId: org.organisation.id, id: String(id) });
    assert.ok(found);
    return found;
  };

  test("a connection to an OpenID provider has its defaults, and tells what to register there", async () => {
    const { status, body } = await post({ kind: "oidc", name: "Keycloak", oidc });
    assert.equal(status, 201);
    const { id, createdAt, updatedAt, ...record } = body;
    assert.deepEqual(record, {
      kind: "oidc",
      name: "Keycloak",
      enabled: false,
      preset: null,
      shown: true,
      oidc: {
        issuer: oidc.issuer,
        clientId: "signet",
        tokenEndpointAuthMethod: "client_secret_basic",
        scopes: ["openid", "email", "profile"],
        clientSecretHint: "…9f3c",
      },
      mapping: {
        email: "email",
        emailVerified: "email_verified",
        firstname: "given_name",
        surname: "family_name",
        phone: "phone_number",
        locale: "locale",
      },
      createAccounts: true,
      linking: "ask",
      emailTrust: "provenDomains",
      assurance: [],
      upstreamLogout: true,
      ...Object.fromEntries(
        [
          ["callbackUri", "callback"],
          ["backchannelLogoutUri", "backchannel-logout"],
          ["postLogoutRedirectUri", "logged-out"],
        ].map(([name, path]) => [
          name,
          `${running.baseUrl}/oauth/${org.organisation.id}/connections/${String(id)}/${path}`,
        ]),
      ),
    });
    assert.deepEqual((await api.call("GET", `/connections/${String(id)}`)).body, body);
    const { body: page } = await api.call(
      "GET",
      `/connections?filter=${encodeURIComponent('kind eq "oidc"')}`,
    );
    assert.deepEqual((page["items"] as unknown[]).at(0), body);
    assert.deepEqual([typeof createdAt, typeof updatedAt], ["string", "string"]);
  });

  test("a preset knows the issuer, the scopes, the method and what claims say", async () => {
    const client = { clientId: "signet", clientSecret: SECRET };
    const made = async (preset: string, kind = "oidc", more: object = {}) => {
      const { status, body } = await post({ kind, preset, name: preset, oidc: { ...client, ...more } });
      assert.equal(status, 201, `${preset}: ${JSON.stringify(body)}`);
      return body as { oidc: Record<string, unknown>; mapping: Record<string, unknown> };
    };
    assert.equal((await made("google")).oidc["issuer"], "https://accounts.google.com");
    const apple = (await made("apple")).oidc;
    assert.deepEqual([apple["scopes"], apple["tokenEndpointAuthMethod"]], [["openid"], "client_secret_post"]);
    const entra = await made("entra", "oidc", { issuer: "https://login.example/tenant/v2.0" });
    assert.equal(entra.mapping["emailVerified"], "xms_edov");
    const github = await made("github", "oauth");
    assert.deepEqual(
      [github.oidc["issuer"], github.oidc["scopes"]],
      ["https://github.com", ["read:user", "user:email"]],
    );
  });

  test("each fault is told at its member, and nothing is made", async () => {
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ oidc: { ...oidc, issuer: "http://idp.example" } }, "/oidc/issuer"],
      [{ oidc: { ...oidc, clientSecret: undefined } }, "/oidc/clientSecret"],
      [{ oidc: { ...oidc, tokenEndpointAuthMethod: "none" } }, "/oidc/clientSecret"],
      [{ preset: "google", oidc }, "/oidc/issuer"],
      [{ preset: "github", oidc }, "/preset"],
      [{ oidc, mapping: { Administrator: "=true" } }, "/mapping/Administrator"],
      [{ oidc, mapping: { email: "/a~2b" } }, "/mapping/email"],
      [{ oidc, assurance: [{ claim: "amr", value: "x", acr: "urn:signet:acr:pwd" }] }, "/assurance/0/acr"],
      [{ oidc, deletionPolicy: "delete" }, "/deletionPolicy"],
    ];
    const before = (await api.call("GET", "/connections?limit=200")).body["items"];
    for (const [more, path] of wrong) {
      const { status, body } = await post({ kind: "oidc", name: "Wrong", ...more });
      assert.equal(status, 422, path);
      assert.deepEqual((body["errors"] as Array<{ path: string }>)[0]?.path, path);
    }
    assert.deepEqual((await api.call("GET", "/connections?limit=200")).body["items"], before);
  });

  test("the hint is the last four characters, but for a secret of which they would be most", async () => {
    for (const [clientSecret, hint] of [
      ["sec-ret-1234", "…1234"],
      ["8-chars!", "…ars!"],
      ["7-chars", "…"],
    ] as const) {
      const { body } = await post({ kind: "oidc", name: `Hint ${hint}`, oidc: { ...oidc, clientSecret } });
      assert.equal((body["oidc"] as Record<string, unknown>)["clientSecretHint"], hint);
    }
  });

  test("the secret is sealed, never read back, and stays when other members change", async () => {
    const { body } = await post({ kind: "oidc", name: "Sealed", oidc });
    const path = `/connections/${String(body["id"])}`;
    const first = await stored(body["id"]);
    assert.ok(!JSON.stringify([body, first]).includes(SECRET));
    const { encryption } = running.service;
    assert.equal(openSecret(encryption, first), SECRET);
    const renamed = await api.call("PATCH", path, { body: { name: "Renamed", mapping: { surname: "sn" } } });
    assert.equal(renamed.status, 200, JSON.stringify(renamed.body));
    assert.equal((renamed.body["mapping"] as Record<string, unknown>)["surname"], "sn");
    assert.equal((await stored(body["id"])).secret, first.secret);
    const changed = await api.call("PATCH", path, {
      body: { oidc: { clientSecret: "another-secret-1234" } },
    });
    assert.deepEqual(changed.body["oidc"], {
      ...(body["oidc"] as object),
      clientSecretHint: "…1234",
    });
    assert.equal(openSecret(encryption, await stored(body["id"])), "another-secret-1234");
    const unset = await api.call("PATCH", path, { body: { oidc: { clientSecret: null, issuer: null } } });
    assert.equal(unset.status, 422);
    // No secret is left behind where none is used.
    await api.call("PATCH", path, { body: { oidc: { tokenEndpointAuthMethod: "none" } } });
    assert.equal((await stored(body["id"])).secret, null);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
    const of = events.filter(({ target }) => target === body["id"]).map(({ details }) => details);
    assert.deepEqual(of.slice(0, 3).reverse(), [
      { changed: ["name", "mapping"] },
      { changed: ["secret"] },
      { changed: ["secret", "oidc"] },
    ]);
  });

  test("the secret is not sent to another issuer by who doesn't know it", async () => {
    const { body } = await post({ kind: "oidc", name: "Led away", oidc });
    const path = `/connections/${String(body["id"])}`;
    const other = { issuer: "https://elsewhere.example" };
    for (const patch of [{ oidc: other }, { preset: "google", oidc: { issuer: null } }]) {
      const { status, body: refused } = await api.call("PATCH", path, { body: patch });
      const [fault] = refused["errors"] as Array<{ path: string }>;
      assert.deepEqual([status, fault?.path], [422, "/oidc/clientSecret"]);
    }
    assert.equal((await stored(body["id"])).settings?.oidc?.issuer, oidc.issuer);
    const withSecret = { oidc: { ...other, clientSecret: "the-secret-of-elsewhere" } };
    assert.equal((await api.call("PATCH", path, { body: withSecret })).status, 200);
    const none = { oidc: { issuer: oidc.issuer, tokenEndpointAuthMethod: "none" } };
    assert.equal((await api.call("PATCH", path, { body: none })).status, 200);
  });

  test("who may not make administrators makes no provider speak for accounts that are there", async () => {
    const linking = "verifiedEmail";
    const exceeds = ({ status, body }: Awaited<ReturnType<typeof post>>) =>
      assert.deepEqual([status, body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    exceeds(await post({ kind: "oidc", name: "Linking", oidc, linking }));
    const { body } = await post({ kind: "oidc", name: "Asking", oidc });
    const path = `/connections/${String(body["id"])}`;
    exceeds(await api.call("PATCH", path, { body: { linking } }));
    const holder = await makeApiClient(running.service, org, [
      "signet:connections:write",
      "signet:organisation:write",
    ]);
    assert.equal((await holder.call("PATCH", path, { body: { linking } })).status, 200);
    exceeds(await api.call("PATCH", path, { body: { mapping: { emailVerified: "=true" } } }));
    assert.equal((await api.call("PATCH", path, { body: { name: "Still asking" } })).status, 200);
  });

  test("who may not change groups decides nothing that a mapped group's claims come from", async () => {
    const { id } = await createGroup(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      content: { displayName: "Staff", description: null, externalId: null },
    });
    const holder = await makeApiClient(running.service, org, [
      ...(["signet:connections:write", "signet:groups:write"] as const),
    ]);
    const groups = { from: "groups", map: { staff: id } };
    const mapped = { kind: "oidc", name: "Mapped", oidc, mapping: { groups } };
    assert.equal((await post(mapped)).status, 403);
    const { body } = await holder.call("POST", "/connections", { body: mapped });
    const path = `/connections/${String(body["id"])}`;
    const elsewhere = { issuer: "https://elsewhere.example", clientSecret: "the-secret-of-elsewhere" };
    for (const change of [
      { oidc: elsewhere },
      { mapping: null },
      { mapping: { groups: null } },
      { enabled: false },
    ]) {
      const refused = await api.call("PATCH", path, { body: change });
      assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    }
    assert.equal((await stored(body["id"])).settings?.groups?.map["staff"], id);
    assert.equal((await api.call("PATCH", path, { body: { name: "Still mapped" } })).status, 200);
    assert.equal((await holder.call("PATCH", path, { body: { mapping: null } })).status, 200);
  });

  test("who may not change users makes no provider speak for those of a directory", async () => {
    const other = await makeOrganisation(running.service);
    const alone = await makeApiClient(running.service, other, ["signet:connections:write"]);
    const create = (name: string, more: object = {}) =>
      alone.call("POST", "/connections", { body: { kind: "oidc", name, oidc, ...more } });
    const { body } = await create("Before the directory");
    const path = `/connections/${String(body["id"])}`;
    assert.equal((await alone.call("PATCH", path, { body: { enabled: false } })).status, 200);
    await alone.call("POST", "/connections", { body: { kind: "scim", name: "Directory" } });
    for (const refused of [
      await create("Beside the directory"),
      await alone.call("PATCH", path, { body: { enabled: true } }),
    ])
      assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    assert.equal((await create("Links nobody", { linking: "never" })).status, 201);
    const linking = (mode: string) => ({ body: { linking: mode } });
    assert.equal((await alone.call("PATCH", path, linking("never"))).status, 200);
    assert.equal((await alone.call("PATCH", path, linking("ask"))).status, 403);
    const both = ["signet:connections:write", "signet:users:write"] as const;
    const holder = await makeApiClient(running.service, other, [...both]);
    assert.equal((await holder.call("PATCH", path, { body: { enabled: true } })).status, 200);
  });

  test("a domain is routed to no provider that the caller could not let speak for its people", async () => {
    const other = await makeOrganisation(running.service);
    const writes = ["signet:connections:write", "signet:organisation:write", "signet:users:write"] as const;
    const holder = await makeApiClient(running.service, other, [...writes]);
    const alone = await makeApiClient(running.service, other, ["signet:connections:write"]);
    const create = async (name: string, more: object = {}) =>
      (await holder.call("POST", "/connections", { body: { kind: "oidc", name, oidc, ...more } })).body["id"];
    const [asks, links] = [await create("Asks"), await create("Links", { linking: "verifiedEmail" })];
    const domains = "/domains";
    const add = (domain: string, connectionId: unknown = null, by = alone) =>
      by.call("POST", domains, { body: { domain, connectionId } });
    const { body } = await add("routed.example");
    const path = `${domains}/${String(body["id"])}`;
    const route = (connectionId: unknown, by = alone) => by.call("PATCH", path, { body: { connectionId } });
    assert.equal((await route(asks)).status, 200);
    for (const refused of [await add("new.example", links), await route(links)])
      assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    assert.equal((await route(links, holder)).status, 200);
    assert.equal((await route(null)).status, 200);
    await alone.call("POST", "/connections", { body: { kind: "scim", name: "Directory" } });
    assert.equal((await route(asks)).status, 403);
    assert.equal((await route(asks, holder)).status, 200);
  });

  test("two at once don't get one name, whatever its case", async () => {
    const answers = await Promise.all(
      ["Twice", "TWICE", "twice"].map((name) => post({ kind: "oidc", name, oidc })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    const { body } = await post({ kind: "oidc", name: "Once", oidc });
    const taken = await api.call("PATCH", `/connections/${String(body["id"])}`, { body: { name: "twicE" } });
    assert.equal(taken.status, 409);
  });

  test("a directory's tokens and calls are none of it, and it has none of a directory's members", async () => {
    const { body } = await post({ kind: "oidc", name: "No directory", oidc });
    const path = `/connections/${String(body["id"])}`;
    const users = await makeApiClient(running.service, org, [
      "signet:connections:write",
      "signet:users:write",
    ]);
    for (const end of ["/tokens", "/calls"]) assert.equal((await users.call("GET", path + end)).status, 404);
    assert.equal((await users.call("POST", `${path}/tokens`, { body: {} })).status, 404);
    const policy = await api.call("PATCH", path, { body: { deletionPolicy: "delete" } });
    assert.equal(policy.status, 422);
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
  });
});
