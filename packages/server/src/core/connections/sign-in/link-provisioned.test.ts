// Users whom a directory has provisioned: linked by `externalId`, by the provider that belongs to them alone.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { provenDomain } from "../../../testing/fixtures/routed-domain.ts";
import { newScimConnection, type ScimClient } from "../../../testing/fixtures/scim-connection.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { showsConsent } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { setRole } from "../../users/members/members.store.ts";
import type { Connection } from "../connection.ts";
import { findIdentity } from "./linked-identities.store.ts";
import type { AskedSettings } from "./settings-rules.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let there: HostileProvider;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    there = await startHostileProvider(clock);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  /** An organisation with one directory and one provider. */
  const pair = async (settings: AskedSettings = {}) => {
    const org = await makeOrganisation(running.service, `a${randomUUID()}`);
    const scim = await newScimConnection(running.service, org.organisation.id);
    const connection = await connectTo(running, org, there, "There", settings);
    return { org, scim, connection };
  };
  const provision = async (scim: ScimClient, externalId: string, domain = "there.example") => {
    const email = `${randomUUID()}@${domain}`;
    const { status, body } = await scim.call("POST", "/Users", { userName: email, externalId });
    assert.equal(status, 201);
    return { id: String(body["id"]), email };
  };
  const signIn = (org: TestOrganisation, connection: Connection, claims: Record<string, unknown>) => {
    there.claims = claims;
    there.userinfo = { sub: claims["sub"] };
    return signInUpstream({ running, org, there, connection });
  };
  const linkedTo = async (org: TestOrganisation, connection: Connection, subject: string) => {
    const key = { orgId: org.organisation.id, connectionId: connection.id, subject };
    return (await findIdentity(running.service.database.query, key))?.userId;
  };

  test("of one directory and one provider, who has the account's address and the directory's id is that user", async () => {
    const { org, scim, connection } = await pair();
    const { id, email } = await provision(scim, "ext-1");
    assert.ok(showsConsent(await signIn(org, connection, { sub: "ext-1", email: email.toUpperCase() })));
    assert.equal(await linkedTo(org, connection, "ext-1"), id);
    assert.ok(showsConsent(await signIn(org, connection, { sub: "ext-1", email: "renamed@there.example" })));
  });

  test("whatever the address is trusted with: no domain is proven, nothing is verified, none is claimed", async () => {
    const { org, scim, connection } = await pair();
    for (const [sub, claims] of [
      ["ext-a", { email_verified: false }],
      ["ext-b", { email: undefined }],
    ] as const) {
      const { id, email } = await provision(scim, sub);
      assert.ok(showsConsent(await signIn(org, connection, { sub, email, ...claims })), sub);
      assert.equal(await linkedTo(org, connection, sub), id);
    }
    // Of several providers, the one that claims the account's own address.
    await connectTo(running, org, there, "Another");
    await newScimConnection(running.service, org.organisation.id);
    const { id, email } = await provision(scim, "ext-c");
    assert.ok(showsConsent(await signIn(org, connection, { sub: "ext-c", email })));
    assert.equal(await linkedTo(org, connection, "ext-c"), id);
  });

  test("the provider that a proven domain leads to links its users, whatever address it claims", async () => {
    const { org, scim, connection } = await pair();
    await connectTo(running, org, there, "Another");
    const domain = `${randomUUID()}.example`;
    await provenDomain(running.service, org.organisation.id, { domain, connectionId: connection.id });
    const { id } = await provision(scim, "ext-2", domain);
    assert.ok(showsConsent(await signIn(org, connection, { sub: "ext-2", email: undefined })));
    assert.equal(await linkedTo(org, connection, "ext-2"), id);
  });

  test("nobody is linked by an id that somebody else may mean, or may have chosen", async () => {
    const attacks: ReadonlyArray<{
      readonly name: string;
      readonly settings?: AskedSettings;
      readonly claims?: (email: string) => Record<string, unknown>;
      readonly prepare?: (
        made: Awaited<ReturnType<typeof pair>>,
        externalId: string,
        id: string,
      ) => Promise<unknown>;
    }> = [
      { name: "another address", claims: () => ({ email: "mallory@there.example" }) },
      {
        name: "a second provider, not verified",
        claims: () => ({ email_verified: false }),
        prepare: ({ org }) => connectTo(running, org, there, "Second"),
      },
      {
        name: "a second provider, no address",
        claims: () => ({ email: undefined }),
        prepare: ({ org }) => connectTo(running, org, there, "Second"),
      },
      { name: "never links", settings: { linking: "never" } },
      { name: "another id", claims: () => ({ sub: "EXT" }) },
      {
        name: "a second directory that means somebody else",
        prepare: async ({ org }, externalId) =>
          provision(await newScimConnection(running.service, org.organisation.id), externalId),
      },
      {
        name: "a second directory, not verified",
        claims: () => ({ email_verified: false }),
        prepare: ({ org }) => newScimConnection(running.service, org.organisation.id),
      },
      {
        name: "a domain that leads elsewhere",
        prepare: async ({ org }) => {
          const other = await connectTo(running, org, there, "Elsewhere");
          const where = { domain: "there.example", connectionId: other.id };
          await provenDomain(running.service, org.organisation.id, where);
        },
      },
      {
        name: "an administrator",
        prepare: ({ org }, _, userId) =>
          setRole(running.service.database.query, { orgId: org.organisation.id, userId }, "Administrator"),
      },
      { name: "a deleted user", prepare: ({ scim }, _, id) => scim.call("DELETE", `/Users/${id}`) },
    ];
    for (const { name, settings, claims, prepare } of attacks) {
      const made = await pair(settings);
      const { org, scim, connection } = made;
      const { id, email } = await provision(scim, "ext");
      await prepare?.(made, "ext", id);
      const said = { sub: "ext", email, ...claims?.(email) };
      assert.ok(!showsConsent(await signIn(org, connection, said)), name);
      assert.equal(await linkedTo(org, connection, said.sub), undefined, name);
    }
  });

  test("a user of another organisation's directory is nobody here", async () => {
    const [here, elsewhere] = [await pair(), await pair()];
    const { email } = await provision(elsewhere.scim, "ext-4");
    assert.ok(!showsConsent(await signIn(here.org, here.connection, { sub: "ext-4", email })));
    assert.equal(await linkedTo(here.org, here.connection, "ext-4"), undefined);
  });

  test("who is disabled hears so, and an account that is linked takes no second subject", async () => {
    const { org, scim, connection } = await pair();
    const { id, email } = await provision(scim, "ext-5");
    await scim.call("PATCH", `/Users/${id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "replace", value: { active: false } }],
    });
    const refused = await signIn(org, connection, { sub: "ext-5", email });
    assert.equal(refused.status, 403);
    assert.equal(await linkedTo(org, connection, "ext-5"), undefined);
    const other = await provision(scim, "ext-6");
    assert.ok(showsConsent(await signIn(org, connection, { sub: "ext-6", email: other.email })));
    await scim.call("PATCH", `/Users/${other.id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "replace", path: "externalId", value: "ext-7" }],
    });
    const second = await signIn(org, connection, { sub: "ext-7", email: other.email });
    assert.equal(second.status, 403);
    assert.equal(await linkedTo(org, connection, "ext-7"), undefined);
  });
});
