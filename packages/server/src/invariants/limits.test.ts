// Who can lock whom out: whoever docs/security.md names as hurt is refused by a limit that an outsider fills, everybody else is let in.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { defaultRateLimits, type RateLimitName } from "../core/rate-limits/rate-limits.ts";
import { createUser } from "../core/users/users.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { newestLink } from "../testing/fakes/mailbox.ts";
import { type ApiClient, makeApiClient, tokenFor } from "../testing/fixtures/api-client.ts";
import { newCode } from "../testing/fixtures/enrolments.ts";
import { giveRecoveryCodes } from "../testing/fixtures/factors.ts";
import { type LimitsWorld, openLimitsWorld } from "../testing/fixtures/limits-world.ts";
import { newScimConnection } from "../testing/fixtures/scim-connection.ts";
import { newSignInConnection } from "../testing/fixtures/sign-in-connection.ts";
import { boundSessionPlays } from "../testing/probes/bound-session-limits.ts";
import { clientPlays } from "../testing/probes/client-limits.ts";
import { emailCodePlays, type Play } from "../testing/probes/email-code-limits.ts";
import {
  backendLogin,
  callBackend,
  claimAsAgent,
  enrolDevice,
  exportData,
  type Outcome,
  provision,
  register,
  requestCodes,
  requestReset,
  sendTestMail,
  signIn,
  signInWithCode,
  signInWithPasskey,
  startUpstream,
  typeUserCode,
} from "../testing/probes/limited-attempts.ts";
import { unregisteredClientPlays } from "../testing/probes/registration-limits.ts";
import { PASSWORD } from "../testing/test-service.ts";

/** Small, so that they are filled quickly; those of accounts smaller than those of networks, as they are. */
const counts: Record<RateLimitName, number> = {
  "password-account": 3,
  "password-address": 6,
  "password-application": 8,
  "second-factor-account": 3,
  "second-factor-address": 6,
  "second-factor-application": 8,
  "recovery-account": 3,
  "recovery-address": 6,
  "email-code-source": 3,
  "email-code-mailbox": 5,
  "data-export": 2,
  "api-client": 4,
  "mail-test": 2,
  "registration-account": 3,
  "registration-address": 6,
  "username-address": 4,
  "user-code": 3,
  "device-address": 4,
  "par-address": 4,
  "signed-error-address": 4,
  ...{ "registration-token-address": 4, "client-document-address": 4 },
  "ciba-client": 12,
  "ciba-client-user": 3,
  "ciba-user": 8,
  "connection-token-address": 4,
  "connection-start-address": 4,
  "agent-key-address": 4,
  "bound-session-address": 4,
  ...{ "enrollment-code-address": 3, "enrollment-code-organisation": 5 },
  "enrollment-address": 12,
};

const plays: Record<RateLimitName, Play> = {
  "password-account": async (world) => {
    const [victim, other] = [await world.newPerson(), await world.newUser()];
    const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
    const { email } = victim.user;
    return {
      fill: () => signIn(world, { email, password: "wrong" }, here),
      hurt: { "the user, from the same network": () => signIn(world, victim.user, here) },
      letIn: {
        "the user, from another network": () => signIn(world, victim.user, elsewhere),
        "the user, by passkey": () => signInWithPasskey(world, victim.passkey, here),
        "another user of the network": () => signIn(world, other.user, here),
      },
    };
  },
  "password-address": async (world) => {
    const [victim, here, elsewhere] = [await world.newPerson(), world.newNetwork(), world.newNetwork()];
    return {
      fill: () => signIn(world, { email: world.newEmail(), password: "wrong" }, here),
      hurt: { "every user of the network, by password": () => signIn(world, victim.user, here) },
      letIn: {
        "from another network": () => signIn(world, victim.user, elsewhere),
        "by passkey": () => signInWithPasskey(world, victim.passkey, here),
        "by an application's backend": async () =>
          backendLogin(world, world.backend, (await world.newUser()).user),
      },
    };
  },
  "password-application": async (world) => {
    const { user } = await world.newUser();
    return {
      fill: () => backendLogin(world, world.backend, { email: world.newEmail(), password: "wrong" }),
      hurt: { "users of the application, by its backend": () => backendLogin(world, world.backend, user) },
      letIn: {
        "by another application": () => backendLogin(world, world.otherBackend, user),
        "on the sign-in page": () => signIn(world, user, world.newNetwork()),
      },
    };
  },
  "second-factor-account": async (world) => {
    const [victim, neighbour] = [await world.newPerson(), await world.newPerson()];
    const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
    const [recovery = ""] = await giveRecoveryCodes(world.running.service, victim);
    return {
      fill: () => signInWithCode(world, victim, "000000", here),
      hurt: {
        "the user, by code, from everywhere": () => signInWithCode(world, victim, victim.code(), elsewhere),
        "the user, by recovery code": () => signInWithCode(world, victim, recovery, elsewhere),
      },
      letIn: {
        "the user, by passkey": () => signInWithPasskey(world, victim.passkey, here),
        "everybody else of the network": () => signInWithCode(world, neighbour, neighbour.code(), here),
      },
    };
  },
  "second-factor-address": async (world) => {
    const victim = await world.newPerson();
    const own = [await world.newPerson(), await world.newPerson(), await world.newPerson()] as const;
    const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
    return {
      fill: (time) => signInWithCode(world, own[time % 3] ?? own[0], "000000", here),
      hurt: { "users of the network, by code": () => signInWithCode(world, victim, victim.code(), here) },
      letIn: {
        "from another network": () => signInWithCode(world, victim, victim.code(), elsewhere),
        "by passkey": () => signInWithPasskey(world, victim.passkey, here),
      },
    };
  },
  "second-factor-application": async (world) => {
    const victim = await world.newPerson();
    const own = await Promise.all([1, 2, 3, 4].map(() => world.newPerson()));
    return {
      fill: (time) => {
        const { user } = own[time % 4] ?? victim;
        return backendLogin(world, world.backend, { ...user, code: "000000" });
      },
      hurt: {
        "users of the application, by code": () =>
          backendLogin(world, world.backend, { ...victim.user, code: victim.code() }),
      },
      letIn: {
        "on the sign-in page": () => signInWithCode(world, victim, victim.code(), world.newNetwork()),
        "those who need no code": async () =>
          backendLogin(world, world.backend, (await world.newUser()).user),
      },
    };
  },
  "recovery-account": async (world) => {
    const [{ user }, other] = [await world.newUser(), await world.newUser()];
    const here = world.newNetwork();
    return {
      fill: () => requestReset(world, user.email, here),
      hurt: {
        "the owner, who asks for one more mail": () => requestReset(world, user.email, world.newNetwork()),
      },
      letIn: {
        "the owner, by the newest link": async () => {
          const link = await fetch(await newestLink(world.running.service, user.email));
          return link.status === 200 ? "in" : "wrong";
        },
        "everybody else of the network": () => requestReset(world, other.user.email, here),
      },
    };
  },
  ...emailCodePlays,
  ...unregisteredClientPlays,
  ...boundSessionPlays,
  "recovery-address": async (world) => {
    const [{ user }, here, elsewhere] = [await world.newUser(), world.newNetwork(), world.newNetwork()];
    return {
      fill: () => requestReset(world, world.newEmail(), here),
      hurt: { "everybody of the network": () => requestReset(world, user.email, here) },
      letIn: { "from another network": () => requestReset(world, user.email, elsewhere) },
    };
  },
  "registration-account": async (world) => {
    const email = world.newEmail();
    return {
      fill: () => register(world, world.backend, email),
      hurt: { "the owner of the mailbox": () => register(world, world.otherBackend, email) },
      letIn: { "everybody else": () => register(world, world.backend, world.newEmail()) },
    };
  },
  "registration-address": async (world) => ({
    fill: () => register(world, world.backend, world.newEmail()),
    hurt: { "who registers by the application": () => register(world, world.backend, world.newEmail()) },
    letIn: { "by another application": () => register(world, world.otherBackend, world.newEmail()) },
  }),
  "username-address": async (world) => {
    const ask = (account: typeof world.backend) =>
      callBackend(world, account, "User/Username/Available/somebody");
    return {
      fill: () => ask(world.backend),
      hurt: { "who asks by the application": () => ask(world.backend) },
      letIn: { "by another application": () => ask(world.otherBackend) },
    };
  },
  "user-code": async (world) => {
    const [outsider, victim] = [await world.newUser(), await world.newUser()];
    const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
    const type = async (network: string) =>
      typeUserCode(world, victim, (await requestCodes(world, world.newNetwork())).userCode, network);
    return {
      fill: () => typeUserCode(world, outsider, "BBBB-BBBB", here),
      hurt: { "everybody of the network": () => type(here) },
      letIn: {
        "from another network": () => type(elsewhere),
        "by password, on the same network": () => signIn(world, victim.user, here),
      },
    };
  },
  "device-address": async (world) => {
    const ask = async (network: string) => (await requestCodes(world, network)).outcome;
    const here = world.newNetwork();
    return {
      fill: () => ask(here),
      hurt: { "devices of the network": () => ask(here) },
      letIn: { "from another network": () => ask(world.newNetwork()) },
    };
  },
  ...clientPlays,
  "connection-start-address": async (world) => {
    const here = world.newNetwork();
    const id = await newSignInConnection(world.running.service, world.org.organisation.id);
    return {
      fill: () => startUpstream(world, id, here),
      hurt: { "people of the network": () => startUpstream(world, id, here) },
      letIn: {
        "from another network": () => startUpstream(world, id, world.newNetwork()),
        "by password": () => signIn(world, world.org.user, here),
      },
    };
  },
  "connection-token-address": async (world) => {
    const here = world.newNetwork();
    const connection = await newScimConnection(world.running.service, world.org.organisation.id);
    return {
      fill: () => provision(connection, `sgn_st_${"x".repeat(43)}`, here),
      hurt: {},
      letIn: { "a connection of the network": () => provision(connection, connection.token, here) },
    };
  },
  "agent-key-address": async (world) => {
    const here = world.newNetwork();
    return {
      fill: () => claimAsAgent(world, "sgn_ak_wrong", here),
      hurt: {},
      letIn: { "an agent of the network": () => claimAsAgent(world, world.agent.apiKey, here) },
    };
  },
  "enrollment-code-address": async (world) => {
    const [code, here] = [
      await newCode(world.running.service, world.org.organisation.id),
      world.newNetwork(),
    ];
    return {
      fill: () => enrolDevice(world, "nonsense", here),
      hurt: {},
      letIn: { "a device of the network with a code": () => enrolDevice(world, code, here) },
    };
  },
  "enrollment-code-organisation": async (world) => {
    const [code, here] = [
      await newCode(world.running.service, world.org.organisation.id),
      world.newNetwork(),
    ];
    const networks = Array.from({ length: 100 }, () => world.newNetwork());
    return {
      fill: (time) => enrolDevice(world, "nonsense", networks[time % 100] ?? here),
      hurt: {},
      letIn: { "a device with a code": () => enrolDevice(world, code, here) },
    };
  },
  "enrollment-address": async (world) => {
    const enrol = async (network: string) =>
      enrolDevice(world, await newCode(world.running.service, world.org.organisation.id), network);
    const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
    return {
      fill: () => enrolDevice(world, "nonsense", here),
      hurt: { "devices of the network, for the rest of the minute": () => enrol(here) },
      letIn: { "a device of another network": () => enrol(elsewhere) },
    };
  },
  "data-export": async (world) => {
    const [own, other] = [await world.newUser(), await world.newUser()];
    return {
      fill: () => exportData(world, own),
      hurt: { "the user": () => exportData(world, own) },
      letIn: { "everybody else": () => exportData(world, other) },
    };
  },
  "api-client": async (world) => {
    const { running, org } = world;
    const client = () => makeApiClient(running.service, org, ["signet:users:read"]);
    const [one, other] = [await client(), await client()];
    const read = async (by: ApiClient): Promise<Outcome> => {
      // A token lives as long as the window.
      const accessToken = await tokenFor(org, by);
      const { status, headers } = await by.call("GET", `/users/${org.user.id}`, { accessToken });
      const [, name = ""] = /^"([\w-]+)"/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
      return status === 429 ? `refused by ${name}` : "in";
    };
    return {
      fill: () => read(one),
      hurt: { "the client": () => read(one) },
      letIn: { "another client": () => read(other) },
    };
  },
  "mail-test": async (world) => {
    const email = world.newEmail();
    const id = await createUser(world.running.service, {
      ...{ organisation: world.org.organisation, email, password: PASSWORD, firstname: "A", surname: "B" },
      ...{ role: "Administrator", emailVerified: true, actor: "test" },
    });
    const { administrator } = world.org;
    return {
      fill: () => sendTestMail(world, administrator),
      hurt: { "the administrator": () => sendTestMail(world, administrator) },
      letIn: { "another administrator": () => sendTestMail(world, { id, email, password: PASSWORD }) },
    };
  },
};

const names = Object.keys(defaultRateLimits) as RateLimitName[];

test("docs/security.md says of every limit what it counts, whom it can hurt, and who is let in", async () => {
  const text = await readFile(new URL("../../../../docs/security.md", import.meta.url), "utf8");
  const [, section = ""] = text.split("\n## Who can lock whom out\n");
  const [list = ""] = section.split("\n## ");
  const rows = list.split("\n").filter((line) => line.startsWith("| `"));
  const documented = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  assert.deepEqual(documented.map(([, name = ""]) => name.replaceAll("`", "")).sort(), [...names].sort());
  for (const [, name, ...cells] of documented)
    assert.equal(cells.filter((cell) => cell.length > 2).length, 4, `${name}: counts, when, hurt, let in`);
  for (const name of names) {
    const row = rows.find((line) => line.startsWith(`| \`${name}\``)) ?? "";
    assert.equal(/\| nobody/.test(row), harmless.has(name), name);
  }
});

/** Those that only wrong secrets meet. */
const harmless = new Set<RateLimitName>([
  "registration-token-address",
  "connection-token-address",
  "agent-key-address",
  "bound-session-address",
  "enrollment-code-address",
  "enrollment-code-organisation",
]);

forEachDatabase(({ fresh }) => {
  let world: LimitsWorld;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const limits = names.map((name) => `${name}=${counts[name]}/${defaultRateLimits[name].windowSeconds}`);
    world = await openLimitsWorld({ databaseUrl: await fresh(), clock }, limits.join());
  });
  after(async () => {
    await world.running.close();
    // Of messages that wait for an agent: none is there.
    const others = world.running.errors.filter((error) => !String(error).includes("no signing agent"));
    assert.deepEqual(others, []);
  });

  for (const name of names)
    test(`${name}: who fills it refuses only those whom the list names`, async () => {
      clock.advance(2 * 3_600_000);
      const { fill, hurt, letIn } = await plays[name](world);
      const filled: Outcome[] = [];
      for (let time = 0; time < counts[name] + 6; time++) filled.push(await fill(time));
      assert.ok(filled.includes(`refused by ${name}`), `never filled: ${filled}`);
      assert.equal(Object.keys(hurt).length === 0, harmless.has(name));
      for (const [who, attempt] of Object.entries(letIn)) assert.equal(await attempt(), "in", who);
      for (const [who, attempt] of Object.entries(hurt))
        assert.equal(await attempt(), `refused by ${name}`, who);
      clock.advance(defaultRateLimits[name].windowSeconds * 1000);
      for (const [who, attempt] of Object.entries(hurt)) {
        // Both codes of one person are hurt, and a code of the app is used once.
        assert.equal(await attempt(), "in", `${who}, afterwards`);
        clock.advance(60_000);
      }
    });
});
