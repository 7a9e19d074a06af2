// Which calls of the legacy API are made again, and that a key alone is enough where it is the credential.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonResponse, type StubService, stubService } from "../testing/stub-service.ts";
import { type LegacyApiClient, legacyApiClient } from "./legacy-api-client.ts";

const APP = "0198c7a3-0000-7222-8333-444455556666";
const clientFor = ({ fetch }: StubService) =>
  legacyApiClient({ federationServer: "https://id.example" }, { fetch, wait: async () => {} });

const calls: { name: string; attempts: number; call: (legacy: LegacyApiClient) => Promise<unknown> }[] = [
  { name: "users.get only reads", attempts: 3, call: ({ users }) => users.get("a@b.example") },
  { name: "a profile", attempts: 3, call: ({ users }) => users.profile(APP, "k") },
  { name: "settings are replaced", attempts: 3, call: ({ users }) => users.replaceSettings(APP, "k", {}) },
  { name: "a key is validated", attempts: 3, call: ({ keys }) => keys.validate("k") },
  { name: "a list", attempts: 3, call: ({ applications }) => applications.list().toArray() },
  {
    name: "what a link needs",
    attempts: 3,
    call: ({ actions }) => actions.requirement("1", "ResetPassword"),
  },
  {
    name: "a sign-in counts",
    attempts: 1,
    call: ({ authentication }) => authentication.login({ Email: "", Password: "" }),
  },
  {
    name: "a registration sends a mail",
    attempts: 1,
    call: ({ authentication }) => authentication.resetPassword("a@b.example"),
  },
  { name: "a conversion makes a key", attempts: 1, call: ({ keys }) => keys.toTemporary("k") },
  {
    name: "a link works once",
    attempts: 1,
    call: ({ actions }) => actions.complete("1", "AcceptInvitation"),
  },
  {
    name: "a link with input too",
    attempts: 1,
    call: ({ actions }) => actions.complete("1", "ResetPassword", { NewPassword: "" }),
  },
  {
    name: "a registration is completed once",
    attempts: 1,
    call: ({ actions }) => actions.completeRegistration("k"),
  },
];
for (const { name, attempts, call } of calls)
  test(`${name}: ${attempts === 1 ? "not retried" : "retried"}`, async () => {
    const service = stubService(() => new TypeError("fetch failed"));
    await assert.rejects(call(clientFor(service)), { code: "provider_unreachable" });
    assert.equal(service.asked.length, attempts);
    assert.equal(service.asked[0]?.headers.get("authorization"), null);
  });

test("signing out names what ends", async () => {
  const service = stubService(() => new Response(null, { status: 204 }));
  const { authentication } = clientFor(service);
  await authentication.logout("sgn_sk_1");
  await authentication.logout("sgn_sk_1", { everywhere: true });
  assert.deepEqual(
    service.asked.map(({ target, body }) => [target, body]),
    [
      ["/legacy/api/Authentication/User/Logout", '{"Key":"sgn_sk_1"}'],
      ["/legacy/api/Authentication/User/Logout/everywhere", '{"Key":"sgn_sk_1"}'],
    ],
  );
});

test("tells the end user's address where it is given", async () => {
  const service = stubService(() => jsonResponse({}));
  const { authentication } = clientFor(service);
  const [login, from] = [{ Email: "", Password: "" }, { endUserAddress: "203.0.113.7" }];
  const user = { ...login, Firstname: "", Surname: "" };
  await authentication.login(login, undefined, from);
  await authentication.login(login, APP, from);
  await authentication.register(user, from);
  await authentication.registerIn(APP, user, from);
  await authentication.registerRoaming({ Email: "", HomeOrganisationId: APP }, from);
  await authentication.resetPassword("a@b.example", from);
  await authentication.login(login);
  assert.deepEqual(
    service.asked.map(({ headers }) => headers.get("x-end-user-address")),
    [...Array.from({ length: 6 }, () => "203.0.113.7"), null],
  );
});

test("a profile always has settings, possibly empty", async () => {
  const { users } = clientFor(stubService(() => jsonResponse({ PermId: "1" })));
  assert.deepEqual(await users.profileWithSettings(APP, "k"), { PermId: "1", Settings: {} } as unknown);
});
