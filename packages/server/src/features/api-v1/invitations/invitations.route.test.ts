import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openAction } from "../../../core/actions/actions.ts";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { linkProvenAccount } from "../../../core/connections/sign-in/link-identity.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { setPassword } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  let count = 0;
  const address = () => `guest${++count}@acme.example`;
  const invite = async (more: object = {}, as = api) => {
    const email = address();
    const answer = await as.call("POST", "/invitations", { body: { email, ...more } });
    return { ...answer, email, path: `/invitations/${String(answer.body["id"])}` };
  };
  const stateOf = async (path: string) => (await api.call("GET", path)).body["state"];
  const idOf = (link: unknown) => String(link).split("/").at(-1) ?? "";
  const accept = async (link: unknown) => {
    const id = idOf(link);
    const opened = await openAction(running.service, { type: "AcceptInvitation", id });
    if (opened === undefined || opened === "expired") return opened;
    const passwordHash = await running.service.passwords.hash("plum tractor ninety", org.organisation.id);
    return completeAction(running.service, { action: opened.action, id, passwordHash, origin: {} });
  };

  test("an invitation is mailed, is pending for seven days, and is accepted by its link", async () => {
    const made = await invite({ firstname: "Grace", surname: "Okafor", locale: "de", nickname: "Gracie" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { userId, state, firstname, role, expiresAt } = made.body;
    assert.deepEqual([state, firstname, role], ["pending", "Grace", "Standard"]);
    assert.equal(expiresAt, new Date(clock() + 7 * DAY_MS).toISOString());
    assert.ok(!("link" in made.body), "it is in the mail alone");
    const { body: nameless } = await invite({});
    assert.deepEqual([nameless["firstname"], nameless["surname"]], [null, null]);
    assert.deepEqual((await api.call("GET", made.path)).body, made.body);
    const user = (await api.call("GET", `/users/${String(userId)}`)).body;
    assert.deepEqual([user["state"], user["nickname"], user["emailVerified"]], ["invited", "Gracie", false]);
    const [{ mail } = {}] = await mailsTo(running.service, made.email);
    assert.ok(mail?.template === "AcceptInvitation");
    clock.advance(7 * DAY_MS - 1);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
    assert.equal(await stateOf(made.path), "pending");
    assert.equal(await accept(mail.data.link), true);
    assert.equal(await stateOf(made.path), "accepted");
    for (const [method, path] of [
      ["POST", `${made.path}/resend`],
      ["DELETE", made.path],
    ] as const)
      assert.equal((await api.call(method, path)).status, 409, method);
  });

  test("without an email the answer alone has the link, once, and it works", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { email: address(), sendEmail: false, expiresInSeconds: 3_600 };
    const first = await api.call("POST", "/invitations", { body, headers });
    assert.equal(first.status, 201, JSON.stringify(first.body));
    assert.match(String(first.body["link"]), /\/invite\/sgn_ua_[\w-]{43}$/);
    assert.deepEqual(await mailsTo(running.service, body.email), []);
    const again = await api.call("POST", "/invitations", { body, headers });
    assert.deepEqual([again.status, again.body["id"], again.body["link"]], [201, first.body["id"], null]);
    const path = `/invitations/${String(first.body["id"])}`;
    assert.ok(!("link" in (await api.call("GET", path)).body));
    assert.equal(await accept(first.body["link"]), true);
    assert.equal(await stateOf(path), "accepted");
  });

  test("one that ran out is sent again, and the link of before is dead", async () => {
    const made = await invite({ sendEmail: false, expiresInSeconds: 60 });
    clock.advance(60_000);
    assert.equal(await stateOf(made.path), "expired");
    assert.equal(await accept(made.body["link"]), "expired");
    const sent = await api.call("POST", `${made.path}/resend`);
    assert.deepEqual([sent.status, sent.body["state"], sent.body["id"]], [200, "pending", made.body["id"]]);
    assert.equal(await accept(made.body["link"]), undefined);
    const [{ mail } = {}] = await mailsTo(running.service, made.email);
    assert.ok(mail?.template === "AcceptInvitation");
    assert.equal(await accept(mail.data.link), true);
  });

  test("whoever is invited already is mailed five times an hour, whichever way it is asked for", async () => {
    const [made, other] = [await invite(), await invite()];
    const user = `/users/${String(made.body["userId"])}`;
    const resend = () => api.call("POST", `${made.path}/resend`);
    const again = () => api.call("POST", `${user}/invite`);
    for (const act of [resend, again, resend, again]) assert.equal((await act()).status, 200);
    assert.equal((await api.call("DELETE", made.path)).status, 204);
    const body = { email: made.email };
    const anew = await api.call("POST", "/invitations", { body });
    assert.equal(anew.status, 201, JSON.stringify(anew.body));
    const path = `/invitations/${String(anew.body["id"])}`;
    for (const limited of [await again(), await api.call("POST", `${path}/resend`)]) {
      assert.equal(limited.status, 429);
      assert.equal(limited.headers.get("retry-after"), "3600");
    }
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("POST", "/invitations", { body })).status, 429);
    const batch = await api.call("POST", "/invitations/batch", { body: { items: [body] } });
    assert.deepEqual(batch.body["results"], [{ email: made.email, status: "exists", id: null }]);
    assert.equal((await api.call("POST", `${other.path}/resend`)).status, 200, "each for itself");
    clock.advance(3_600_000);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
    assert.equal((await again()).status, 200);
  });

  test("a withdrawn one is listed, its link is dead, and the person can be invited anew", async () => {
    const made = await invite({ sendEmail: false, firstname: "Ada" });
    const etag = (await api.call("GET", made.path)).headers.get("etag") ?? "";
    assert.equal((await api.call("DELETE", made.path, { headers: { "if-match": '"x"' } })).status, 412);
    assert.equal((await api.call("DELETE", made.path, { headers: { "if-match": etag } })).status, 204);
    assert.equal(await stateOf(made.path), "withdrawn");
    assert.equal(await accept(made.body["link"]), undefined);
    const { updatedAt } = (await api.call("GET", made.path)).body;
    assert.equal((await api.call("DELETE", made.path)).status, 204, "again, and nothing is changed by it");
    assert.deepEqual((await api.call("GET", made.path)).body["updatedAt"], updatedAt);
    assert.equal((await api.call("POST", `${made.path}/resend`)).status, 409);
    const body = { email: made.email.toUpperCase(), sendEmail: false };
    const anew = await api.call("POST", "/invitations", { body });
    assert.equal(anew.status, 201, JSON.stringify(anew.body));
    assert.deepEqual([anew.body["userId"], anew.body["firstname"]], [made.body["userId"], "Ada"]);
    assert.notEqual(anew.body["id"], made.body["id"]);
    assert.equal((await api.call("POST", "/invitations", { body })).status, 409, "it is open");
    const filter = encodeURIComponent(`userId eq "${String(made.body["userId"])}" and state eq "withdrawn"`);
    const { body: list } = await api.call("GET", `/invitations?total=true&filter=${filter}`);
    assert.deepEqual([list["total"], (list["items"] as object[]).length], [1, 1]);
    assert.equal(await accept(anew.body["link"]), true);
    const { status } = await api.call("POST", "/invitations", { body });
    assert.equal(status, 409, "who has a password is no longer invited");
  });

  test("whoever is given a password or disabled is no longer invited", async () => {
    const { organisation } = org;
    for (const end of [
      (id: string) =>
        setPassword(running.service, {
          ...{ organisation, id, password: "plum tractor ninety", about: [], actor: "test" },
        }),
      (id: string) => api.call("POST", `/users/${id}/disable`),
    ]) {
      const made = await invite({ sendEmail: false });
      await end(String(made.body["userId"]));
      assert.equal(await stateOf(made.path), "withdrawn");
      assert.equal(await accept(made.body["link"]), undefined);
    }
  });

  test("whoever signs in at a provider is no longer invited, and the link of before is dead", async () => {
    const { id: orgId } = org.organisation;
    const connectionId = await newSignInConnection(running.service, orgId);
    const { query } = running.service.database;
    const connection = await findConnection(query, { orgId, id: connectionId });
    assert.ok(connection && isSignInConnection(connection));
    const signIn = async (subject: string, userId: unknown) => {
      const user = await findUser(query, orgId, String(userId));
      assert.ok(user);
      const claims = { email: user.email, emailVerified: true, firstname: "", surname: "", attributes: {} };
      const none = { username: undefined, phone: undefined, locale: undefined };
      const identity = { subject, acr: "urn:signet:acr:pwd", user: { ...claims, ...none } };
      await linkProvenAccount(running.service, connection, identity, { user, address: "127.0.0.1" });
    };
    const withdrawn = await invite({ sendEmail: false });
    assert.equal((await api.call("DELETE", withdrawn.path)).status, 204);
    await signIn("withdrawn", withdrawn.body["userId"]);
    const body = { email: withdrawn.email, sendEmail: false };
    assert.equal((await api.call("POST", "/invitations", { body })).status, 409);
    const open = await invite({ sendEmail: false });
    await signIn("open", open.body["userId"]);
    assert.equal(await stateOf(open.path), "accepted");
    assert.equal(await accept(open.body["link"]), undefined);
  });

  test("administrators are invited by who may make them", async () => {
    const refused = await invite({ role: "Administrator" });
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const manager = await makeApiClient(running.service, org, [
      "signet:users:write",
      "signet:organisation:write",
    ]);
    const made = await invite({ role: "Administrator", sendEmail: false }, manager);
    assert.deepEqual([made.status, made.body["role"]], [201, "Administrator"]);
    for (const [method, path] of [
      ["POST", `${made.path}/resend`],
      ["DELETE", made.path],
    ] as const)
      assert.equal((await api.call(method, path)).status, 403, method);
    assert.equal((await manager.call("DELETE", made.path)).status, 204);
    const body = { email: made.email, sendEmail: false };
    assert.equal(
      (await api.call("POST", "/invitations", { body })).status,
      403,
      "the role of before is still there",
    );
    const items = [{ email: address() }, { email: address(), role: "Administrator" }];
    assert.equal((await api.call("POST", "/invitations/batch", { body: { items } })).status, 403);
    const filter = encodeURIComponent(`email eq "${items[0]?.email}"`);
    const { body: none } = await api.call("GET", `/invitations?filter=${filter}`);
    assert.deepEqual(none["items"], [], "nothing of it was made");
    const mixed = [{ email: made.email }, { email: address() }];
    const { body: told } = await api.call("POST", "/invitations/batch", { body: { items: mixed } });
    assert.deepEqual(
      (told["results"] as Array<{ status: string }>).map(({ status }) => status),
      ["exists", "created"],
      "an administrator of before is no fault of the others",
    );
  });

  test("a batch tells of each what became of it, and leaves nothing of a wrong one", async () => {
    const [good, half] = [address(), address()];
    await invite({ username: "taken.name" });
    const items = [
      { email: good, firstname: "Good" },
      { email: good.toUpperCase() },
      { email: org.user.email },
      { email: half, username: "taken.name" },
      ...[{ email: "x" }, { email: 7 }, {}, { email: address(), state: "accepted" }],
      { email: address(), sendEmail: false },
    ];
    const { status, body } = await api.call("POST", "/invitations/batch", { body: { items } });
    assert.equal(status, 200, JSON.stringify(body));
    const results = body["results"] as Array<{ email: string | null; status: string; id: string | null }>;
    assert.deepEqual(
      results.map((one) => one.status),
      ["created", "exists", "exists", ...Array.from({ length: 6 }, () => "invalid")],
    );
    assert.deepEqual(results.map(({ email }) => email).slice(0, 7), [
      good,
      good.toUpperCase(),
      org.user.email,
      half,
      "x",
      null,
      null,
    ]);
    assert.equal(await stateOf(`/invitations/${results[0]?.id}`), "pending");
    const found = await api.call("GET", `/users?filter=${encodeURIComponent(`email eq "${half}"`)}`);
    assert.deepEqual(found.body["items"], [], "no account is left of it");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 5);
    const invited = (await api.call("GET", `/invitations/${results[0]?.id}`)).body["userId"];
    assert.deepEqual(
      events.filter(({ action }) => action === "user.invited").map(({ target }) => target)[0],
      invited,
      "the newest that was invited is the only one of the batch",
    );
  });

  test("two batches of the same people in opposite orders do not deadlock, and answer in their own", async () => {
    const people = Array.from({ length: 30 }, () => ({ email: address() }));
    const orders = [people, people.toReversed()];
    const answers = await Promise.all(
      orders.map((items) => api.call("POST", "/invitations/batch", { body: { items } })),
    );
    const made = answers.map(({ status, body }, at) => {
      assert.equal(status, 200, JSON.stringify(body));
      const results = body["results"] as Array<{ email: string; status: string }>;
      assert.deepEqual(
        results.map(({ email }) => email),
        orders[at]?.map(({ email }) => email),
      );
      return results.filter((one) => one.status === "created").length;
    });
    assert.equal((made[0] ?? 0) + (made[1] ?? 0), people.length);
  });

  test("others write while a batch is on its way", async () => {
    const items = Array.from({ length: 200 }, () => ({ email: address() }));
    let isDone = false;
    const batch = api.call("POST", "/invitations/batch", { body: { items } }).finally(() => {
      isDone = true;
    });
    let between = 0;
    while (!isDone) {
      await invite();
      if (!isDone) between += 1;
    }
    assert.equal((await batch).status, 200);
    assert.ok(between > 2, `${between}`);
  });

  test("a batch is a table too; no other route takes one, and more than a thousand are refused", async () => {
    const [one, two] = [address(), address()];
    const csv = (body: string, path = "/invitations/batch") =>
      api.call("POST", path, { body, headers: { "content-type": "text/csv" } });
    const made = await csv(`\ufeffEmail;firstname;Surname\r\n${one};"Uma; the first";Berg\r\n${two};;\r\n`);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.deepEqual(
      (made.body["results"] as Array<{ status: string }>).map(({ status }) => status),
      ["created", "created"],
    );
    const filter = encodeURIComponent(`email eq "${one}"`);
    const { body } = await api.call("GET", `/invitations?filter=${filter}`);
    assert.equal((body["items"] as Array<{ firstname: string }>)[0]?.firstname, "Uma; the first");
    for (const wrong of ["name\nx", "firstname\nx", "email,email\nx", "email\na,b", 'email\n"a'])
      assert.equal((await csv(wrong)).status, 400, wrong);
    assert.equal((await csv("email")).status, 422, "nobody");
    assert.equal((await csv("email\nx@acme.example", "/invitations")).status, 415);
    const many = Array.from({ length: 1_001 }, (_, at) => `m${at}@acme.example`);
    assert.equal((await csv(["email", ...many].join("\n"))).status, 422);
    assert.equal((await csv(`email\n${"x".repeat(1_100_000)}`)).status, 413);
  });
});
