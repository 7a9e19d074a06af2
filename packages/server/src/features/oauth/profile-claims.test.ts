// The standard claims of a user over HTTP: what moves updated_at, the claims parameter, ID tokens, and an organisation
// that had a scope named `address` of its own before it became a standard one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import type { CustomScope } from "../../core/scopes/custom-scope.ts";
import { changeCustomScope, createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { insertCustomScope } from "../../core/scopes/scopes.store.ts";
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { changeProfile } from "../../core/users/profile/profile.ts";
import { changeUsername } from "../../core/users/username.ts";
import { insertMembership } from "../../core/users/users.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { fullAddress, fullProfile, giveFullProfile } from "../../testing/fixtures/full-profile.ts";
import { payloadOf, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const SCOPES = ["openid", "profile", "email", "phone", "address"];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    await giveFullProfile(running.service, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const client = (at: TestOrganisation, settings: Parameters<typeof makeClient>[2] = {}) =>
    makeClient(running.service, at.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: SCOPES,
      ...settings,
    });
  const userinfo = async (at: TestOrganisation, token: string) =>
    (await sendRaw(`${at.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).body;

  test("updated_at is when the claims last changed", async () => {
    const { service } = running;
    const own = await makeOrganisation(service, "Dated");
    const key = { orgId: own.organisation.id, id: own.user.id, actor: "test" };
    const { accessToken } = await codeSource(own).tokens({ scope: "openid profile" }, await client(own));
    const updatedAt = async () => (await userinfo(own, accessToken))["updated_at"];
    const profile = { firstname: "Uma", surname: "User", phone: null, locale: null };
    const moves: Record<string, () => Promise<unknown>> = {
      names: () => changeProfile(service, { ...key, profile: { ...profile, firstname: "Una" } }),
      details: () => changeProfile(service, { ...key, profile: { ...profile, details: { nickname: "U" } } }),
      username: () => changeUsername(service, { ...key, username: "una" }),
    };
    for (const [what, change] of Object.entries(moves)) {
      clock.advance(10_000);
      await change();
      assert.equal(await updatedAt(), Math.floor(clock() / 1_000), what);
    }
    const last = Math.floor(clock() / 1_000);
    clock.advance(10_000);
    const same = { ...profile, details: { nickname: "U" } };
    await changeProfile(service, { ...key, profile: same });
    await changeMemberRecord(service, { ...key, record: { attributes: { team: "x" } } });
    assert.equal(await updatedAt(), last, "nothing of it is in a claim, or has changed");
  });

  test("claims can be requested one by one, into userinfo and the ID token", async () => {
    const claims = JSON.stringify({
      userinfo: { nickname: null, address: { essential: true } },
      id_token: { zoneinfo: null, locale: { values: ["de", "da"] }, birthdate: { value: "1990-01-01" } },
    });
    const tokens = await codeSource(org).tokens({ scope: "openid", claims }, await client(org));
    const { sub, ...told } = await userinfo(org, tokens.accessToken);
    assert.equal(sub, org.user.id);
    assert.deepEqual(told, { nickname: "Umi", address: fullAddress });
    const idToken = payloadOf(tokens.idToken);
    assert.deepEqual([idToken["zoneinfo"], idToken["locale"]], ["Europe/Copenhagen", "da"]);
    for (const name of ["birthdate", "nickname", "address"]) assert.ok(!(name in idToken), name);
  });

  test("an application that wants scope claims in the ID token gets them there, and in no access token", async () => {
    const settings = { idTokenIncludesScopeClaims: true };
    const tokens = await codeSource(org).tokens({ scope: SCOPES.join(" ") }, await client(org, settings));
    const idToken = payloadOf(tokens.idToken);
    assert.deepEqual(idToken["address"], fullAddress);
    assert.deepEqual(
      [idToken["locale"], idToken["phone_number_verified"], idToken["middle_name"]],
      ["da", false, "Vega"],
    );
    for (const name of ["address", "locale", "nickname"])
      assert.ok(!(name in payloadOf(tokens.accessToken)), name);
  });

  test("a guest's claims are those of the account", async () => {
    const host = await makeOrganisation(running.service, "Host");
    const roaming = {
      homeOrgId: org.organisation.id,
      orgId: host.organisation.id,
      role: "Standard",
    } as const;
    await insertMembership(running.service.database.query, {
      ...roaming,
      userId: org.user.id,
      now: clock(),
    });
    const guest = { ...host, user: org.user };
    const { accessToken } = await codeSource(guest).tokens(
      { scope: "openid profile address" },
      await client(host),
    );
    const told = await userinfo(host, accessToken);
    assert.deepEqual([told["nickname"], told["address"]], ["Umi", fullAddress]);
  });

  test("a custom scope named address, from before it was standard, stays what it was", async () => {
    const { service } = running;
    const own = await makeOrganisation(service, "Older");
    await giveFullProfile(service, own);
    const orgId = own.organisation.id;
    const record = { attributes: { home: "Here" } };
    await changeMemberRecord(service, { orgId, id: own.user.id, record, actor: "test" });
    const times = { createdAt: clock(), updatedAt: clock(), version: 1 };
    const scope: CustomScope = {
      ...{ orgId, id: newUuid(), name: "address", displayName: "Where you live", description: "" },
      claims: [{ name: "home", source: "user", path: "attributes.home" }],
      ...{ sensitive: true, resourceId: null },
      ...times,
    };
    assert.ok(await insertCustomScope(service.database.query, scope));
    await service.customScopes.list(orgId);
    const application = await client(own, { idTokenIncludesScopeClaims: true });
    const claims = '{"userinfo":{"address":null}}';
    const issued = async () => {
      const tokens = await codeSource(own).tokens({ scope: "openid address", claims }, application);
      const { sub: _, ...told } = await userinfo(own, tokens.accessToken);
      return { told, idToken: payloadOf(tokens.idToken), accessToken: payloadOf(tokens.accessToken) };
    };
    const { told, idToken, accessToken } = await issued();
    assert.deepEqual(told, { home: "Here" });
    assert.equal(accessToken["home"], "Here");
    assert.ok(!("address" in idToken));
    const change = { orgId, id: scope.id, actor: "test" };
    const more = [...scope.claims, { name: "address", source: "user", path: "attributes.home" } as const];
    const changed = await changeCustomScope(service, { ...change, content: { claims: more } });
    assert.equal(changed?.name, "address", "it can be changed");
    assert.deepEqual((await issued()).told, { home: "Here", address: "Here" });
    const { body } = await sendRaw(`${own.issuer}/.well-known/openid-configuration`, {});
    const scopes = body["scopes_supported"] as string[];
    assert.equal(scopes.filter((name) => name === "address").length, 1);
    const { claims: _, ...fresh } = scope;
    const again = createCustomScope(service, {
      ...fresh,
      orgId: org.organisation.id,
      claims: [],
      actor: "test",
    });
    await assert.rejects(again, {
      faults: [{ path: "name", message: "is a standard scope", code: "name-standard" }],
    });
  });

  test("a custom claim with the name of a later standard one is what the organisation decided, everywhere", async () => {
    const { service } = running;
    const own = await makeOrganisation(service, "Deciding");
    await giveFullProfile(service, own);
    const orgId = own.organisation.id;
    const claims = [
      { name: "role", source: "static", value: "viewer" },
      { name: "nickname", source: "static", value: "as decided" },
    ] as const;
    const scope = { orgId, name: "shop", displayName: "Shop", description: "", claims, sensitive: false };
    await createCustomScope(service, { ...scope, actor: "test" });
    await service.customScopes.list(orgId);
    const decided = ["viewer", "as decided"];
    const allowedScopes = ["openid", "profile", "shop"];
    const requested = JSON.stringify({ userinfo: { role: null }, id_token: { role: null, nickname: null } });
    const settings = { allowedScopes, idTokenIncludesScopeClaims: true };
    const all = await codeSource(own).tokens({ scope: "openid profile shop" }, await client(own, settings));
    for (const told of [
      await userinfo(own, all.accessToken),
      payloadOf(all.idToken),
      payloadOf(all.accessToken),
    ])
      assert.deepEqual([told["role"], told["nickname"]], decided);
    const asked = { scope: "openid profile", claims: requested };
    const byName = await codeSource(own).tokens(asked, await client(own, { allowedScopes }));
    const idToken = payloadOf(byName.idToken);
    assert.deepEqual([idToken["role"], idToken["nickname"]], decided);
    assert.equal((await userinfo(own, byName.accessToken))["role"], "viewer");
    const without = { allowedScopes: ["openid", "profile"], idTokenIncludesScopeClaims: true };
    const standard = await codeSource(own).tokens({ scope: "openid profile" }, await client(own, without));
    assert.equal(payloadOf(standard.idToken)["role"], "Standard");
    assert.equal((await userinfo(own, standard.accessToken))["nickname"], "Umi");
  });

  test("a profile change keeps the details that it does not name", async () => {
    const { details: _, ...person } = fullProfile;
    const change = { orgId: org.organisation.id, id: org.user.id, profile: person, actor: "test" };
    assert.ok(await changeProfile(running.service, change));
    const { accessToken } = await codeSource(org).tokens({ scope: "openid profile" }, await client(org));
    assert.equal((await userinfo(org, accessToken))["nickname"], "Umi");
  });
});
