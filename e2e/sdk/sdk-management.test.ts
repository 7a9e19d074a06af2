/**
 * The SDK's management client and legacy API client against the real service: every call once, signed in the strict form by
 * accounts that demand it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SignetError } from "@signet/client-sdk";
import { type LegacyApiClient, legacyApiClient } from "@signet/client-sdk/legacy-api";
import { type ManagementClient, managementClient } from "@signet/client-sdk/management";
import { MAIL_ENV, newestLink } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { makeSessionKey } from "../../packages/server/src/testing/fixtures/session-key.ts";
import { makeSystemAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

let running: TestService;
let org: TestOrganisation;
let keys: { systemAccountPublicKey: string; systemAccountSecretKey: string };
let management: ManagementClient;
let legacy: LegacyApiClient;
let appId: string;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:", env: MAIL_ENV });
  org = await makeOrganisation(running.service);
  appId = org.web.application.id;
  const administrator = await makeSystemAccount(running.service, org, { administrator: true, strict: true });
  keys = { systemAccountPublicKey: administrator.publicKey, systemAccountSecretKey: administrator.secret };
  management = managementClient({ federationServer: running.baseUrl, ...keys });
  const account = await makeSystemAccount(running.service, org, { strict: true });
  legacy = legacyApiClient({
    federationServer: `${running.baseUrl}/`,
    systemAccountPublicKey: account.publicKey.toUpperCase(),
    systemAccountSecretKey: account.secret,
  });
});
after(async () => {
  assert.deepEqual(running.errors, []);
  await running.close();
});

const refused = (code: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof SignetError, String(error));
  assert.deepEqual(
    [error.code, error.problem?.code, error.problem?.status],
    ["provider_refused", code, status],
  );
  return true;
};

test("creates, reads, concurrently updates and deletes a client", async () => {
  const { clients } = management;
  const made = await clients.create({
    name: "Shop",
    clientType: "confidential",
    redirectUris: ["https://shop.example/callback"],
  });
  assert.match(made.clientSecret ?? "", /^sgn_cs_/);
  const read = await clients.get(made.clientId);
  assert.deepEqual([read.name, read.description, read.etag], ["Shop", null, made.etag]);

  const changed = await clients.replace(read.clientId, {
    ...read,
    name: "Store",
    audience: "https://api.example",
  });
  assert.deepEqual(
    [changed.name, changed.audience, changed.redirectUris],
    ["Store", "https://api.example", read.redirectUris],
  );
  await assert.rejects(clients.replace(read.clientId, { ...read, name: "Late" }), refused("stale", 412));
  await assert.rejects(clients.delete(read.clientId, { etag: read.etag }), refused("stale", 412));

  const add = (contact: string) =>
    clients.update(read.clientId, (client) => ({ ...client, contacts: [...client.contacts, contact] }));
  await Promise.all([add("a@shop.example"), add("b@shop.example"), add("c@shop.example")]);
  assert.deepEqual((await clients.get(read.clientId)).contacts.toSorted(), [
    "a@shop.example",
    "b@shop.example",
    "c@shop.example",
  ]);

  await clients.delete(read.clientId);
  await assert.rejects(clients.get(read.clientId), refused("not-found", 404));
});

test("rotates and revokes secrets, assigns and unassigns users", async () => {
  const { clients } = management;
  const { clientId, secrets } = await clients.create({
    name: "Rota",
    clientType: "confidential",
    access: "assigned",
  });
  const second = await clients.rotateSecret(clientId, { label: "autumn", expireOthersInSeconds: 600 });
  assert.deepEqual(
    [second.label, second.clientId, /^sgn_cs_/.test(second.clientSecret ?? "")],
    ["autumn", clientId, true],
  );
  const third = await clients.rotateSecret(clientId);
  await clients.revokeOldSecret(clientId, secrets[0]?.id);
  await clients.revokeOldSecret(clientId);
  const active = (await clients.get(clientId)).secrets.filter(({ revokedAt }) => revokedAt === null);
  assert.deepEqual(
    active.map(({ id }) => id),
    [third.id],
  );

  await clients.assignUser(clientId, org.user.id);
  assert.deepEqual(
    (await clients.assignedUsers(clientId).toArray()).map(({ permId }) => permId),
    [org.user.id],
  );
  await clients.unassignUser(clientId, org.user.id);
  assert.deepEqual(await clients.assignedUsers(clientId).toArray(), []);
});

test("paginates a list to its end", async () => {
  const names = ["one", "two", "three"];
  for (const name of names) await management.scopes.create({ name: `jobs:${name}` });
  const found: string[] = [];
  for await (const { name } of management.scopes.list({ pageSize: 1 })) found.push(name);
  assert.deepEqual(
    found,
    names.map((name) => `jobs:${name}`),
  );
  const first = await management.scopes.list({ pageSize: 2 }).page();
  const rest = await management.scopes.list({ pageSize: 2 }).page(first.nextCursor ?? "");
  assert.deepEqual([first.items.length, rest.items.length, rest.nextCursor], [2, 1, null]);
  await assert.rejects(management.scopes.list({ pageSize: 500 }).page(), refused("invalid", 422));
});

test("creates, updates and deletes a scope", async () => {
  const { scopes } = management;
  const claims = [{ name: "team", source: "user" as const, path: "attributes.team" }];
  const made = await scopes.create({ name: "team", claims });
  const changed = await scopes.update(made.id, (scope) => ({ ...scope, sensitive: true }));
  assert.deepEqual([changed.sensitive, changed.claims], [true, claims]);
  const replaced = await scopes.replace(made.id, { displayName: "Your team", etag: changed.etag });
  assert.deepEqual(
    [replaced.displayName, replaced.claims, (await scopes.get(made.id)).etag],
    ["Your team", [], replaced.etag],
  );
  await scopes.delete(made.id, { etag: replaced.etag });
  await assert.rejects(scopes.get(made.id), refused("not-found", 404));
});

test("grants and revokes consents and pre-authorizations", async () => {
  const { consents, preauthorizations } = management;
  const all = await consents.grantForOrganisation({ clientId: appId, scopes: ["email"] });
  const one = await consents.grantForUser({ clientId: appId, scopes: ["profile"], userId: org.user.id });
  assert.deepEqual([all.kind, one.kind, one.userId], ["organisation", "user", org.user.id]);
  assert.deepEqual(
    (await consents.list({ kind: "user" }).toArray()).map(({ id }) => id),
    [one.id],
  );
  await consents.revoke(one.id);
  assert.deepEqual(await consents.list({ clientId: appId, kind: "user" }).toArray(), []);
  assert.equal((await consents.list({ userId: org.user.id, revoked: true }).toArray()).length, 1);
  assert.notEqual((await consents.get(one.id)).revokedAt, null);

  const made = await preauthorizations.create({ clientId: appId, scopes: ["phone"] });
  assert.deepEqual(await preauthorizations.get(made.id), made);
  assert.deepEqual(await preauthorizations.list({ clientId: appId }).toArray(), [made]);
  await preauthorizations.delete(made.id);
  assert.deepEqual(await preauthorizations.list().toArray(), []);
});

test("creates a system account, calls with it, rotates its keys and deletes it", async () => {
  const { systemAccounts } = management;
  const made = await systemAccounts.create({
    name: "Import",
    applicationId: appId,
    requireStrictSignature: true,
  });
  const as = (publicKey: string, secretKey: string | null) =>
    legacyApiClient({
      federationServer: running.baseUrl,
      systemAccountPublicKey: publicKey,
      systemAccountSecretKey: secretKey ?? "",
    });
  assert.equal((await as(made.publicKey, made.secretKey).users.get(org.user.email)).PermId, org.user.id);
  const other = org.batch.application.id;
  await systemAccounts.grantApplication(made.id, other);
  assert.deepEqual((await systemAccounts.get(made.id)).permissions, [other]);
  await systemAccounts.withdrawApplication(made.id, other);
  const next = await systemAccounts.addKey(made.id, { label: "second" });
  await systemAccounts.revokeKey(made.id, made.publicKey);
  await assert.rejects(
    as(made.publicKey, made.secretKey).users.get(org.user.email),
    refused("not-authenticated", 401),
  );
  await as(next.publicKey, next.secretKey).users.get(org.user.email);
  const off = await systemAccounts.update(made.id, (account) => ({ ...account, enabled: false }));
  assert.equal(off.enabled, false);
  const on = await systemAccounts.replace(made.id, { ...off, name: "Order import", enabled: true });
  assert.equal(on.name, "Order import");
  assert.ok((await systemAccounts.list().toArray()).some(({ id }) => id === made.id));
  await systemAccounts.delete(made.id);
  await assert.rejects(systemAccounts.get(made.id), refused("not-found", 404));
});

test("a repeated idempotency key creates one record, and is rejected for another request", async () => {
  let lost = 0;
  const losing: typeof fetch = async (...call) => {
    const answer = await fetch(...call);
    if (lost++ > 0) return answer;
    await answer.body?.cancel();
    throw new TypeError("the connection broke");
  };
  const { clients } = managementClient(
    { federationServer: running.baseUrl, ...keys },
    { fetch: losing, wait: async () => {} },
  );
  const made = await clients.create(
    { name: "Once", clientType: "confidential" },
    { idempotencyKey: "order-7" },
  );
  assert.equal(made.clientSecret, null, "it was in the answer that was lost");
  assert.equal((await clients.list().toArray()).filter(({ name }) => name === "Once").length, 1);
  assert.match((await clients.rotateSecret(made.clientId)).clientSecret ?? "", /^sgn_cs_/);
  const again = clients.create({ name: "Other", clientType: "confidential" }, { idempotencyKey: "order-7" });
  await assert.rejects(again, refused("key-reused", 422));
  lost = 0;
  await clients.delete(made.clientId);
  assert.equal(lost, 2, "deleted by the first, and gone for the second");
});

test("an error names the cause", async () => {
  const wrong = { name: "", clientType: "confidential", redirectUris: ["http://shop.example/"] } as const;
  await assert.rejects(
    management.clients.create({ ...wrong, redirectUris: [...wrong.redirectUris] }),
    (error) => {
      assert.ok(error instanceof SignetError && error.problem);
      assert.ok(error.problem.errors.some(({ path }) => path === "/name"));
      assert.match(error.message, /\/name /);
      return refused("invalid", 422)(error);
    },
  );
  const stranger = { ...keys, systemAccountSecretKey: "sgn_sa_other" };
  const { clients } = managementClient({ federationServer: running.baseUrl, ...stranger });
  await assert.rejects(clients.list().page(), refused("not-authenticated", 401));
});

test("users sign in through an application, and their session keys are validated, converted and ended", async () => {
  const { authentication, keys: sessionKeys, users } = legacy;
  const { email, password, id } = org.user;
  const { Key, User } = await authentication.login({ Email: email, Password: password });
  assert.deepEqual([User.PermId, /^sgn_sk_/.test(Key)], [id, true]);
  await authentication.login({ Email: email, Password: password }, appId);
  const wrong = authentication.login({ Email: email, Password: "x" });
  await assert.rejects(wrong, (error) => error instanceof SignetError && error.problem?.status === 401);

  const valid = await sessionKeys.validate(Key);
  assert.deepEqual([valid.Kind, valid.ApplicationId, valid.User.Email], ["Service", appId, email]);
  const temporary = await sessionKeys.toTemporary(Key);
  assert.equal((await sessionKeys.validate(temporary.Key)).Kind, "UserTemp");
  await assert.rejects(sessionKeys.toPermanent(Key), refused("permanent-keys-not-allowed", 403));
  assert.deepEqual(await sessionKeys.permission(Key, appId), { Permitted: true, Role: "Standard" });
  assert.equal((await authentication.verifyIdentity(Key)).User.PermId, id);

  assert.equal((await users.profile(appId, Key)).Firstname, "Uma");
  assert.deepEqual(await users.replaceSettings(appId, Key, { theme: "dark" }), { theme: "dark" });
  assert.deepEqual((await users.profileWithSettings(appId, Key)).Settings, { theme: "dark" });
  assert.ok((await users.sessions(id, { pageSize: 1 }).toArray()).length >= 2);
  await authentication.logout(Key);
  await assert.rejects(sessionKeys.validate(Key), refused("not-authenticated", 401));
  const other = await authentication.login({ Email: email, Password: password });
  await authentication.logout(other.Key, { everywhere: true });
  assert.deepEqual(await users.sessions(id).toArray(), []);
});

test("a session key alone authenticates where it is the credential", async () => {
  const unsigned = legacyApiClient({ federationServer: running.baseUrl });
  const key = await makeSessionKey(running.service, org);
  assert.equal((await unsigned.keys.validate(key)).User.PermId, org.user.id);
  await assert.rejects(unsigned.users.get(org.user.email), refused("not-authenticated", 401));
});

test("completes a registration by its link, which works once", async () => {
  const { authentication, actions, users } = legacy;
  const [Email, OtherEmail] = ["nina@acme.example", "otto+x/y@acme.example"];
  const user = { Password: "walnut orbit seventeen", Firstname: "Nina", Surname: "New" };
  const { Message } = await authentication.register({ ...user, Email });
  assert.deepEqual(await authentication.registerIn(org.organisation.id, { ...user, Email: OtherEmail }), {
    Message,
  });
  const idIn = async (email: string) =>
    /sgn_ua_[\w-]+/.exec(await newestLink(running.service, email))?.[0] ?? "";
  const done = await actions.completeRegistration(await idIn(Email));
  assert.deepEqual(done, { Type: "VerifyEmail", Completed: true });
  assert.equal((await users.get(Email)).Firstname, "Nina");
  const id = await idIn(OtherEmail);
  // The SDK signs: what the organisation's own backend completes has the password of the registration.
  assert.deepEqual((await actions.requirement(id, "VerifyEmail")).Requires, []);
  const asRegistered = { Email: OtherEmail, Password: user.Password };
  await assert.rejects(authentication.login(asRegistered), refused("invalid-credentials", 401));
  await actions.complete(id, "VerifyEmail");
  await authentication.login(asRegistered);
  await assert.rejects(actions.complete(id, "VerifyEmail"), refused("not-found", 404));

  await authentication.resetPassword(OtherEmail);
  const reset = await idIn(OtherEmail);
  assert.deepEqual((await actions.requirement(reset, "ResetPassword")).Requires, ["NewPassword"]);
  await actions.complete(reset, "ResetPassword", { NewPassword: "another orbit eighteen" });
  await authentication.login({ Email: OtherEmail, Password: "another orbit eighteen" });
  const home = await makeOrganisation(running.service, "Home");
  await authentication.registerRoaming({ Email: home.user.email, HomeOrganisationId: home.organisation.id });
});

test("looks up usernames and applications", async () => {
  assert.equal(await legacy.users.isUsernameAvailable("nobody"), true);
  const { applications } = legacy;
  const names = async (list: AsyncIterable<{ ApplicationId: string }>) => {
    const ids: string[] = [];
    for await (const { ApplicationId } of list) ids.push(ApplicationId);
    return ids;
  };
  assert.ok((await names(applications.list({ pageSize: 2 }))).includes(org.native.id));
  assert.deepEqual(await names(applications.accessible()), [appId]);
  assert.ok((await names(applications.ofOrganisation(appId, org.organisation.id))).includes(appId));
});
