import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setOrganisationDisabled } from "../../../core/organisations/organisations.store.ts";
import { setUserDisabled } from "../../../core/users/account.store.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import type { Db } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

type Listed = { readonly id: string; readonly email: string };
type Query = Readonly<Record<string, string>>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  const ids = new Map<string, string>();
  before(async () => {
    clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    const { service } = running;
    org = await makeOrganisation(service);
    api = await makeApiClient(service, org, ["signet:users:write", "signet:organisation:write"]);
    for (const [name, more] of Object.entries({
      ada: { firstname: "Ada", surname: "Ølgård", nickname: "Countess", password: "plum tractor ninety" },
      Bob: { firstname: "Bob", phone: "+44 1", username: "bob_100", role: "Administrator" },
      cyd: { surname: "de la Cruz", locale: "es", sendInvitation: true },
      dan: { emailVerified: true },
    })) {
      clock.advance(1_000);
      const made = await api.call("POST", "/users", { body: { email: `${name}@list.example`, ...more } });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      ids.set(name, String(made.body["id"]));
    }
    const orgId = org.organisation.id;
    await setUserStatus(service, { orgId, id: ids.get("dan") ?? "", disabled: true, actor: "test" });
    const far = await makeOrganisation(service, "Far");
    const guest = { orgId, userId: far.user.id, homeOrgId: far.organisation.id, role: "Standard" as const };
    clock.advance(1_000);
    await insertMembership(service.database.query, { ...guest, now: clock() });
    ids.set("guest", far.user.id);
    ids.set("first", org.user.id);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const list = async (query: Query = {}) => {
    const { status, body } = await api.call("GET", `/users?${new URLSearchParams(query)}`);
    assert.equal(status, 200, JSON.stringify(body));
    const { items, nextCursor, total } = body as unknown as {
      items: readonly Listed[];
      nextCursor: string | null;
      total?: number;
    };
    const nameOf = ({ id }: Listed) => [...ids].find(([, one]) => one === id)?.[0] ?? id;
    return { names: items.map(nameOf), items, nextCursor, total };
  };

  test("users are listed in the order of creation, each as by itself", async () => {
    const { names, items, total } = await list({ total: "true" });
    assert.deepEqual([names, total], [["first", "ada", "Bob", "cyd", "dan", "guest"], 6]);
    for (const item of items) assert.deepEqual((await api.call("GET", `/users/${item.id}`)).body, item);
  });

  test("a filter looks at every scalar member, in the database", async () => {
    const { items } = await list({ search: "ada" });
    const createdAt = String((items[0] as unknown as { createdAt: string }).createdAt);
    for (const [filter, names] of [
      ['email eq "ADA@LIST.EXAMPLE"', ["ada"]],
      ['email ew "@list.example" and not (email sw "a")', ["Bob", "cyd", "dan"]],
      ['username co "B_1"', ["Bob"]],
      ['username co "b%0"', []],
      ['username co "o_100"', []],
      ['surname eq "Ølgård"', ["ada"]],
      ['surname co "LA C"', ["cyd"]],
      ['nickname eq "countess"', ["ada"]],
      ["nickname pr", ["ada"]],
      ['phone pr and email ew "list.example"', ["Bob"]],
      ['email ew "list.example" and phone eq null', ["ada", "cyd", "dan"]],
      ['email ew "list.example" and locale ne "es"', ["ada", "Bob", "dan"]],
      ['role eq "Administrator" and email ew "list.example"', ["Bob"]],
      ['state eq "invited"', ["cyd"]],
      ['state eq "disabled" or state eq "invited"', ["cyd", "dan"]],
      ["guest eq true", ["guest"]],
      ['email sw "bo%"', []],
      ['email sw "a" or email sw "D"', ["ada", "dan"]],
      ['not (email sw "a") and email ew "list.example"', ["Bob", "cyd", "dan"]],
      ['email sw "d" and emailVerified eq true', ["dan"]],
      ['hasPassword eq false and email ew "list.example"', ["Bob", "cyd", "dan"]],
      ["lastSignInAt pr", []],
      ['source eq "local" and connectionId eq null and email sw "c"', ["cyd"]],
      [`createdAt eq "${createdAt}"`, ["ada"]],
      [`createdAt le "${createdAt}" and email ew "list.example"`, ["ada"]],
      [`updatedAt ge "${createdAt}" and email sw "ada"`, ["ada"]],
      [`id eq "${ids.get("cyd")?.toUpperCase()}"`, ["cyd"]],
      ['email gt "bob@list.example" and email lt "d"', ["cyd"]],
    ] as const)
      assert.deepEqual((await list({ filter })).names, names, filter);
  });

  test("a filter and an order look at a guest's account, which is another organisation's", async () => {
    const { items } = await list({ filter: "guest eq true" });
    const email = items[0]?.email ?? "";
    for (const filter of [
      ...[`email eq "${email}"`, `emailVerified eq true and email co "${email.slice(1)}"`],
      `guest eq true and email sw "${email.slice(0, -1).toUpperCase()}"`,
    ])
      assert.deepEqual((await list({ filter })).names, ["guest"], filter);
    const all = await list({ sort: "-email", filter: 'state eq "active"' });
    assert.deepEqual(
      all.items.map(({ email: one }) => one.toLowerCase()),
      all.items
        .map(({ email: one }) => one.toLowerCase())
        .toSorted()
        .toReversed(),
    );
    assert.ok(all.names.includes("guest"));
    const { database } = running.service;
    const [home, id] = [await homeOf(database.query, ids.get("guest") ?? ""), ids.get("guest") ?? ""];
    await setUserDisabled(database.query, { orgId: home, id }, 5, 5);
    assert.ok((await list({ filter: 'state eq "disabled"' })).names.includes("guest"));
    await setUserDisabled(database.query, { orgId: home, id }, null, 6);
    await setOrganisationDisabled(database.query, home, 5);
    assert.ok((await list({ filter: 'state eq "disabled"' })).names.includes("guest"));
    await setOrganisationDisabled(database.query, home, null);
  });

  test("a search finds words of email addresses and names", async () => {
    assert.deepEqual((await list({ search: "ØLGÅRD ada" })).names, ["ada"]);
    assert.deepEqual((await list({ search: "list.example bob_100" })).names, ["Bob"]);
    assert.deepEqual((await list({ search: "nobody" })).names, []);
  });

  test("every order walks through all users once", async () => {
    const { items } = await list();
    const scalars = Object.entries(items[0] ?? {}).filter(
      ([, value]) => typeof value !== "object" || value === null,
    );
    const members = scalars.map(([name]) => name).filter((name) => name !== "address");
    assert.ok(members.length > 20);
    const sorted = new Map<string, string[]>();
    for (const member of members)
      for (const sort of [member, `-${member}`]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const query: Query = { sort, limit: "2", ...(cursor === null ? {} : { cursor }) };
          const page: Awaited<ReturnType<typeof list>> = await list(query);
          seen.push(...page.names);
          cursor = page.nextCursor;
        } while (cursor !== null);
        assert.deepEqual(seen.toSorted(), [...ids.keys()].toSorted(), sort);
        sorted.set(sort, seen);
      }
    assert.deepEqual(sorted.get("createdAt"), sorted.get("-createdAt")?.toReversed());
    assert.deepEqual(sorted.get("email")?.slice(0, 2), ["ada", "Bob"]);
  });
});

async function homeOf(db: Db, userId: string): Promise<string> {
  const accounts = db.selectFrom("user_account").select("org_id").where("id", "=", userId);
  return (await accounts.executeTakeFirstOrThrow()).org_id;
}
