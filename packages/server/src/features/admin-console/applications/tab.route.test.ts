import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { defineScopes } from "../../../testing/fixtures/scopes.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { listNamedConsents } from "../consents/consents.store.ts";
import { tabIds, tabOf, tabPath } from "./record-tabs.ts";
import type { SettingId } from "./setting-fields.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let console: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    const known = await listCustomScopes(running.service.database.query, org.organisation.id);
    const wanted = ["jobs:run", "jobs:stop"].filter((name) => !known.some((scope) => scope.name === name));
    await defineScopes(running.service, org.organisation.id, ...wanted);
    other = await seedRecords(running.service, "Beta");
    console = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const found = async (id: string): Promise<Application> => {
    const application = await findApplication(running.service.database.query, org.organisation.id, id);
    assert.ok(application);
    return application;
  };
  const newest = async () => {
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    return event;
  };
  /** @returns the id of a new application */
  async function make(kind: "web" | "spa", { name, redirectUris }: { name: string; redirectUris: string }) {
    const clientType = kind === "web" ? "confidential" : kind;
    const settings = { redirectUris: [redirectUris] };
    const made = { orgId: org.organisation.id, name, clientType, settings, actor: "test" } as const;
    return (await createApplication(running.service, made)).id;
  }

  /** Each field in the form of its tab. */
  async function sendAll(id: string, typed: Record<string, string | undefined>) {
    const pages = [];
    for (const tab of tabIds) {
      const own = Object.entries(typed).filter(([field]) => tabOfField(field) === tab);
      if (own.length > 0)
        pages.push(await console.send(`/applications/${id}${tabPath(tab)}`, Object.fromEntries(own)));
    }
    return pages;
  }
  const tabOfField = (field: string) =>
    tabOf(field === "otherScopes" ? "allowedScopes" : (field.replace("-unit", "") as SettingId));

  test("saving the unchanged form of each tab changes no setting", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const id = await make("web", { name: "Everything", redirectUris: "https://all.example/callback" });
    const rich = {
      description: "For <all> & everybody",
      homepageUri: "https://all.example/",
      contacts: ["ops@all.example"],
      postLogoutRedirectUris: ["https://all.example/bye"],
      returnUrls: ["https://all.example/"],
      allowedScopes: ["openid", "jobs:run"],
      audience: "https://api.all.example",
      allowedResources: ["https://api.all.example"],
      requiredAcr: "phr",
      consentMode: "organisation",
      accessTokenLifetimeSeconds: 61,
      refreshTokenGraceSeconds: 0,
      issueRefreshTokenWithoutOfflineAccess: false,
      idTokenIncludesScopeClaims: true,
      groupsClaim: "all",
      groupsClaimValue: "externalId",
      tokenEndpointAuthMethod: "private_key_jwt",
      jwks: { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one" }] },
      accessTokenSignedResponseAlg: "PS256",
      accessTokenType: "JWT",
      requireNonceWithoutPkce: true,
      allowPermanentKeys: true,
      requireSignedKeyCalls: true,
      access: "assigned",
    } as const;
    const key = { orgId: org.organisation.id, id, actor: "test" };
    await changeApplication(running.service, key, ({ name, settings }) => ({
      name,
      settings: { ...settings, ...rich },
      disabled: false,
    }));
    const before = await found(id);
    for (const tab of tabIds) {
      const page = await console.send(`/applications/${id}${tabPath(tab)}`);
      assert.ok(page.location?.endsWith(`/applications/${id}${tabPath(tab)}?done=saved`), tab);
    }
    assert.deepEqual(await found(id), before, "nothing was written");
  });

  test("every field changes its setting", async () => {
    const id = await make("web", { name: "Changed", redirectUris: "https://changed.example/callback" });
    const typed = {
      name: "Changed name",
      description: "New",
      access: "assigned",
      consentMode: "preauthorized",
      requiredAcr: "multiFactor",
      requirePkce: undefined,
      requireNonceWithoutPkce: "on",
      accessTokenType: "JWT",
      grantTypes: "authorization_code",
      audience: "https://api.example",
      accessTokenLifetimeSeconds: "2",
      "accessTokenLifetimeSeconds-unit": "minutes",
      issueRefreshTokenWithoutOfflineAccess: undefined,
      idTokenIncludesScopeClaims: "on",
      groupsClaim: "all",
      groupsClaimValue: "id",
      idTokenSignedResponseAlg: "EdDSA",
      tokenEndpointAuthMethod: "client_secret_basic",
      backchannelLogoutUri: "https://changed.example/logout",
    };
    await sendAll(id, typed);
    const { name, settings } = await found(id);
    assert.deepEqual(
      [name, settings.description, settings.access, settings.consentMode, settings.requireConsent],
      ["Changed name", "New", "assigned", "preauthorized", false],
    );
    assert.deepEqual(
      [settings.requiredAcr, settings.requirePkce, settings.grantTypes, settings.audience],
      ["urn:signet:acr:mfa", false, ["authorization_code"], "https://api.example"],
    );
    assert.deepEqual([settings.requireNonceWithoutPkce, settings.accessTokenType], [true, "JWT"]);
    assert.deepEqual(
      [settings.accessTokenLifetimeSeconds, settings.issueRefreshTokenWithoutOfflineAccess],
      [120, false],
    );
    assert.deepEqual(
      [
        settings.idTokenIncludesScopeClaims,
        settings.idTokenSignedResponseAlg,
        settings.tokenEndpointAuthMethod,
      ],
      [true, "EdDSA", "client_secret_basic"],
    );
    assert.equal(settings.backchannelLogoutUri, "https://changed.example/logout");
    assert.deepEqual([settings.groupsClaim, settings.groupsClaimValue], ["all", "id"]);
    const event = await newest();
    assert.deepEqual([event?.action, event?.actor], ["application.changed", `user:${org.administrator.id}`]);
  });

  test("reports each fault at its field", async () => {
    const id = await make("web", { name: "Faulty", redirectUris: "https://faulty.example/callback" });
    const before = await found(id);
    const typed = {
      name: " ",
      redirectUris: "https://faulty.example/a/../b",
      homepageUri: "javascript:alert(1)",
      grantTypes: undefined,
      otherScopes: 'a"b',
      audience: "a b",
      allowedResources: "nothing",
      accessTokenLifetimeSeconds: "59",
      "accessTokenLifetimeSeconds-unit": "seconds",
      refreshTokenLifetimeSeconds: "1e9",
      jwksUri: "http://keys.example/",
      tlsClientAuthSanUri: "urn:x",
      signingPoolId: other.ids["pool"] ?? "01a2013d-4c1e-7ef0-9684-e411d1502322",
      backchannelLogoutUri: "http://faulty.example/",
    };
    const pages = await sendAll(id, typed);
    assert.deepEqual([...new Set(pages.map(({ status }) => status))], [400]);
    for (const page of pages)
      assert.match(page.body, /<a id="tab-\w+"[^>]* aria-current="page">[^<]+<span class="count">\d/);
    const body = pages.map((page) => page.body).join("");
    const { otherScopes: _, ...fields } = { ...typed, allowedScopes: "" };
    for (const field of Object.keys(fields).filter((field) => !/signingPoolId|-unit$/.test(field))) {
      assert.match(body, new RegExp(`id="${field}(-row)?-fault"`));
      assert.ok(body.includes(`href="#${field}"`), field);
    }
    assert.deepEqual(await found(id), before);
    // A pool is looked up when all else is right.
    const pool = await console.send(`/applications/${id}/advanced`, { signingPoolId: typed.signingPoolId });
    assert.equal(pool.status, 400);
    assert.ok(pool.body.includes('id="signingPoolId-fault"'));
  });

  test("the groups claim says which groups and by what; another value, or none, is a fault and changes nothing", async () => {
    const id = await make("web", { name: "Grouped", redirectUris: "https://grouped.example/callback" });
    const before = await found(id);
    const { body } = await console.get(`/applications/${id}/tokens`);
    const [, options = ""] = /<select id="groupsClaim"[^>]*>(.*?)<\/select>/s.exec(body) ?? [];
    // Not the label that "assigned" has in the setting Access.
    assert.match(options, /value="assigned" selected[^>]*>Groups with access or a role here</);
    for (const typed of [
      { groupsClaim: "some" },
      { groupsClaim: "" },
      { groupsClaimValue: "name" },
      { groupsClaimValue: "" },
    ]) {
      const page = await console.send(`/applications/${id}/tokens`, typed);
      assert.equal(page.status, 400, JSON.stringify(typed));
      assert.ok(page.body.includes(`id="${Object.keys(typed)[0]}-fault"`), JSON.stringify(typed));
    }
    assert.deepEqual(await found(id), before);
  });

  test("a scope that nobody has defined is refused by its name", async () => {
    const id = await make("web", { name: "Scoped", redirectUris: "https://scoped.example/callback" });
    const before = await found(id);
    const page = await console.send(`/applications/${id}/access`, { otherScopes: "jobs:run\njobs:nobody" });
    assert.equal(page.status, 400);
    const [, fault = ""] = /id="allowedScopes-fault"[^>]*>(.*?)<\//s.exec(page.body) ?? [];
    assert.match(fault, /jobs:nobody/);
    assert.deepEqual(await found(id), before);
  });

  test("self-signed certificates are registered by key set or by its address, never by a bare key", async () => {
    const id = await make("web", { name: "Certified", redirectUris: "https://certified.example/callback" });
    const { privateKey, x5c } = testCertificate({ subject: "CN=client" });
    const bare = { ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "one" };
    const jwks = { keys: [{ ...bare, x5c: [x5c] }] };
    const send = (typed: Record<string, string>) => console.send(`/applications/${id}/credentials`, typed);
    const method = { tokenEndpointAuthMethod: "self_signed_tls_client_auth" } as const;
    for (const keys of ["", JSON.stringify({ keys: [bare] })]) {
      const page = await send({ ...method, jwks: keys });
      assert.equal(page.status, 400, keys);
      assert.ok(page.body.includes('id="jwks-fault"'), keys);
    }
    assert.equal((await send({ ...method, jwks: JSON.stringify(jwks) })).status, 303);
    assert.deepEqual((await found(id)).settings.jwks, jwks);
    const jwksUri = "https://certified.example/jwks";
    assert.equal((await send({ jwks: "", jwksUri })).status, 303);
    const { settings } = await found(id);
    assert.deepEqual(
      [settings.tokenEndpointAuthMethod, settings.jwks, settings.jwksUri],
      ["self_signed_tls_client_auth", undefined, jwksUri],
    );
  });

  test("rejects a private key and does not show it again", async () => {
    const id = await make("web", { name: "Leaky", redirectUris: "https://leaky.example/callback" });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = privateKey.export({ format: "jwk" });
    const page = await console.send(`/applications/${id}/credentials`, {
      jwks: JSON.stringify({ keys: [jwk] }),
    });
    assert.equal(page.status, 400);
    assert.ok(page.body.includes('id="jwks-fault"'));
    assert.ok(!page.body.includes(String(jwk.d)));
  });

  test("a conflicting change shows the present values, keeps what was typed, and can be overwritten knowingly", async () => {
    const id = await make("spa", { name: "Raced", redirectUris: "https://raced.example/" });
    const mine = formOfPage(await console.get(`/applications/${id}`), { name: "Mine", contacts: "me" });
    await console.send(`/applications/${id}`, { name: "Theirs", homepageUri: "https://theirs.example/" });
    const page = await console.post(`/applications/${id}`, mine);
    assert.equal(page.status, 409);
    assert.match(page.body, new RegExp(`Changed by ${org.administrator.email}`));
    assert.match(textOf(page, "name-now") ?? "", /Theirs/);
    assert.match(textOf(page, "homepageUri-now") ?? "", /theirs\.example/);
    assert.ok(!page.body.includes('id="description-now"'));
    assert.match(page.body, /value="Mine"/);
    assert.equal((await found(id)).name, "Theirs");
    const again = await console.post(`/applications/${id}`, formOfPage(page));
    assert.equal(again.status, 303);
    assert.deepEqual([(await found(id)).name, (await found(id)).settings.contacts], ["Mine", ["me"]]);
  });

  test("the save of one tab leaves the others alone, also those saved meanwhile", async () => {
    const id = await make("web", { name: "Tabs", redirectUris: "https://tabs.example/callback" });
    const mine = formOfPage(await console.get(`/applications/${id}/urls`), {
      redirectUris: "https://tabs.example/other",
      name: "Smuggled",
    });
    await console.send(`/applications/${id}`, { name: "Renamed" });
    await console.send(`/applications/${id}/tokens`, {
      accessTokenLifetimeSeconds: "5",
      "accessTokenLifetimeSeconds-unit": "minutes",
    });
    assert.equal((await console.post(`/applications/${id}/urls`, mine)).status, 303);
    const { name, settings } = await found(id);
    assert.deepEqual(
      [name, settings.accessTokenLifetimeSeconds, settings.redirectUris],
      ["Renamed", 300, ["https://tabs.example/other"]],
    );
  });

  test("a form keeps the settings that it had no field for when it was shown", async () => {
    const id = await make("spa", { name: "Grown", redirectUris: "https://grown.example/" });
    const before = formOfPage(await console.get(`/applications/${id}/advanced`));
    assert.ok(!before.has("allowPermanentKeys"));
    const key = { orgId: org.organisation.id, id, actor: "test" };
    await changeApplication(running.service, key, ({ name, settings }) => ({
      name,
      settings: { ...settings, allowPermanentKeys: true, returnUrls: ["https://grown.example/"] },
      disabled: false,
    }));
    const page = await console.post(`/applications/${id}/advanced`, before);
    assert.equal(page.status, 409);
    assert.equal((await console.post(`/applications/${id}/advanced`, formOfPage(page))).status, 303);
    assert.equal((await found(id)).settings.allowPermanentKeys, true);
  });

  test("is shared with any organisation, with those that are named, or with none", async () => {
    const id = await make("web", { name: "Shared", redirectUris: "https://shared.example/callback" });
    const share = (fields: Record<string, string>) => console.send(`/applications/${id}/access`, fields);
    const shared = async () => (await found(id)).settings.shared?.organisations;
    const page = await console.get(`/applications/${id}/access`);
    assert.match(page.body, /id="shared-none"[^>]* checked/);
    const other = "01998D6E-0000-7D3A-8A4B-6F0E2D9C7B15";
    for (const sharedWith of ["", "not an id"]) {
      const refused = await share({ shared: "named", sharedWith });
      assert.equal(refused.status, 400);
      assert.match(refused.body, /id="shared-fault"/);
      assert.match(refused.body, /id="shared-named"[^>]* checked/);
    }
    await share({ shared: "named", sharedWith: `${other}\n${other.toLowerCase()}` });
    assert.deepEqual(await shared(), [other.toLowerCase()]);
    const saved = await console.get(`/applications/${id}/access`);
    assert.match(saved.body, new RegExp(`id="sharedWith"[^>]*>\\s*${other.toLowerCase()}`));
    await share({ shared: "any" });
    assert.equal(await shared(), "any");
    await share({ shared: "none" });
    assert.equal(await shared(), undefined);
  });

  test("choosing admin consent consents to the ticked scopes in the same save", async () => {
    const id = await make("web", { name: "Consented", redirectUris: "https://consented.example/callback" });
    const page = await console.get(`/applications/${id}/access`);
    const { allowedScopes } = (await found(id)).settings;
    assert.deepEqual(formOfPage(page).getAll("consentScopes"), [...allowedScopes], "all are ticked");
    const none = await console.send(`/applications/${id}/access`, {
      consentMode: "organisation",
      consentScopes: undefined,
    });
    assert.equal(none.status, 400);
    assert.ok(none.body.includes('id="consentScopes-fault"'));
    assert.equal((await found(id)).settings.consentMode ?? "user", "user");
    const saved = await console.send(`/applications/${id}/access`, { consentMode: "organisation" });
    assert.match(saved.location ?? "", /access\?done=saved$/);
    const consents = () =>
      listNamedConsents(running.service.database.query, org.organisation.id, {
        applicationId: id,
        isRevoked: false,
        limit: 2,
      });
    const [consent, second] = await consents();
    assert.deepEqual(consent?.scopes.toSorted(), [...allowedScopes].sort());
    assert.deepEqual([consent?.user, second], [undefined, undefined]);
    const event = await newest();
    assert.deepEqual(
      [event?.action, event?.actor],
      ["consent.granted-for-organisation", `user:${org.administrator.id}`],
    );
    // A later save of the tab consents to nothing more.
    await console.send(`/applications/${id}/access`, { otherScopes: "jobs:run", allowedScopes: "openid" });
    assert.deepEqual((await consents())[0]?.scopes.length, allowedScopes.length);
    assert.match((await console.get(`/applications/${id}/access`)).body, /Consented for all users: /);
  });

  test("the address of the former single form leads to the first tab", async () => {
    const id = await make("spa", { name: "Linked", redirectUris: "https://linked.example/" });
    const page = await console.get(`/applications/${id}/settings`);
    assert.ok(page.location?.endsWith(`/applications/${id}`));
  });
});
