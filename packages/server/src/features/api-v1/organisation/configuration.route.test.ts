/** The configuration by API v1: compared and applied as a whole, by who may. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { commandLineClientId } from "../../../core/applications/command-line-client.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { exampleCertificate } from "../../../core/client-authorities/example-certificate.ts";
import type { ApiScope } from "../../../core/scopes/api-scopes.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../../testing/test-service.ts";

const format = "signet-organisation/1";
const writes = ["signet:organisation:write", "signet:applications:write"] as const;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    const options = { clock: fakeClock(), passwords: quickPasswords };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  async function organisation(...scopes: readonly ApiScope[]) {
    const org = await makeOrganisation(running.service);
    const api = await makeApiClient(running.service, org, [...writes, ...scopes]);
    const send = (act: "diff" | "apply", file: object, more: object = {}) =>
      api.call("POST", `/configuration/${act}`, { body: { file: { format, ...file }, ...more } });
    return { org, api, send };
  }
  const acts = (body: Readonly<Record<string, unknown>>) =>
    (body["changes"] as { act: string; kind: string; name: string }[]).map(
      ({ act, kind, name }) => `${act} ${kind} ${name}`,
    );

  test("what was read differs in nothing, and its entity tag names it", async () => {
    const { api } = await organisation();
    const read = await api.call("GET", "/configuration");
    assert.deepEqual([read.status, read.body["format"]], [200, format]);
    const again = { headers: { "if-none-match": read.headers.get("etag") ?? "" } };
    assert.equal((await api.call("GET", "/configuration", again)).status, 304);
    const { status, body } = await api.call("POST", "/configuration/diff", {
      body: { file: read.body, prune: true },
    });
    assert.deepEqual([status, body], [200, { changes: [] }]);
  });

  test("what has more applications than a file can have is a conflict, and no fault of the service", async () => {
    const { api, org } = await organisation();
    const { query } = running.service.database;
    const row = await query
      .selectFrom("application")
      .selectAll()
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", api.application.id)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 200 }, () => row);
    for (const _ of Array.from({ length: 10 }))
      await query
        .insertInto("application")
        .values(copies.map((copy) => ({ ...copy, id: crypto.randomUUID() })))
        .execute();
    const { status, body } = await api.call("GET", "/configuration");
    assert.deepEqual([status, body["type"]], [409, "urn:signet:error:conflict"]);
    assert.match(String(body["detail"]), /at most 2000 applications, the organisation has 200\d\./);
  });

  test("a difference is told and changes nothing; applied, it is there once, with who applied it", async () => {
    const { api, send } = await organisation();
    const file = { policies: { passwordMinLength: 15 }, scopes: [{ name: "payroll" }] };
    const wanted = ["changed organisation branding and policies", "created scope payroll"];
    assert.deepEqual(acts((await send("diff", file)).body), wanted);
    assert.deepEqual(acts((await send("diff", file)).body), wanted);
    const applied = await send("apply", file);
    assert.deepEqual([applied.status, acts(applied.body)], [200, wanted]);
    assert.deepEqual((await send("apply", file)).body, { changes: [] });
    const pruned = await send("apply", { scopes: [] }, { prune: true });
    assert.deepEqual(acts(pruned.body), ["removed scope payroll"]);
    const { body } = await api.call("GET", "/configuration");
    assert.equal((body["policies"] as Record<string, unknown>)["passwordMinLength"], 15);
  });

  test("a file with a fault anywhere applies nothing, and the fault has its path in the body", async () => {
    const { api, send } = await organisation();
    const before = (await api.call("GET", "/configuration")).body;
    const bad = { name: "Shop", clientType: "confidential", allowedScopes: ["nowhere"] };
    for (const [file, path] of [
      [{ scopes: [{ name: "one" }], applications: [bad] }, "/file/applications/0/allowedScopes/0"],
      [{ policies: { passwordMinLength: 1 } }, "/file/policies/passwordMinLength"],
      [{ users: [] }, "/file/users"],
    ] as const)
      for (const act of ["diff", "apply"] as const) {
        const { status, body } = await send(act, file);
        const [fault] = body["errors"] as { path: string }[];
        assert.deepEqual([status, fault?.path], [422, path]);
      }
    assert.deepEqual((await api.call("GET", "/configuration")).body, before);
  });

  test("what applying would refuse because of what is there, the difference refuses too, and leaves nothing", async () => {
    const { api, send, org } = await organisation("signet:groups:write");
    const owned = { identifier: "https://orders.example/api", name: "Orders", scopes: ["orders"] };
    const there = { scopes: [{ name: "orders" }], resources: [owned] };
    assert.equal((await send("apply", there)).status, 200);
    const kept = async () => {
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
      return [(await api.call("GET", "/configuration")).body, events.length];
    };
    const before = await kept();
    const applicationId = crypto.randomUUID();
    const other = { identifier: "https://stock.example/api", name: "Stock" };
    const signUp = { mode: "open", groups: [crypto.randomUUID()] };
    for (const [file, path] of [
      [{ resources: [{ ...other, scopes: ["orders"] }] }, "/file/resources/0/scopes/0"],
      [{ resources: [{ ...other, applicationId }] }, "/file/resources/0/applicationId"],
      [{ resources: [{ ...other, identifier: org.issuer }] }, "/file/resources/0/identifier"],
      [
        { clientIdMetadataPolicy: { mode: "any", allowedScopes: ["nothing"] } },
        "/file/clientIdMetadataPolicy/allowedScopes/0",
      ],
      [{ policies: { signUp } }, "/file/policies/signUp/groups/0"],
      [{ policies: { signInMethods: ["passkey", "emailCode"] } }, "/file/policies/signInMethods"],
    ] as const) {
      // What precedes the fault is undone too.
      const whole = { scopes: [{ name: "more" }], ...file };
      const [told, refused] = [await send("diff", whole), await send("apply", whole)];
      const faults = ({ body }: typeof told) => (body["errors"] ?? []) as { path: string }[];
      assert.deepEqual([told.status, faults(told)[0]?.path], [422, path], JSON.stringify(told.body));
      assert.deepEqual([told.status, faults(told)], [refused.status, faults(refused)]);
      assert.deepEqual(await kept(), before, path);
    }
    const good = { scopes: [{ name: "orders" }, { name: "more" }], resources: [{ ...owned, name: "New" }] };
    const keyed = { headers: { "idempotency-key": crypto.randomUUID() } };
    for (const options of [{}, keyed, keyed]) {
      const body = { file: { format, ...good } };
      const told = await api.call("POST", "/configuration/diff", { body, ...options });
      assert.deepEqual(acts(told.body), [
        "created scope more",
        "changed resource https://orders.example/api",
      ]);
    }
    assert.deepEqual(await kept(), before);
  });

  test("a file lets nobody be locked out where no email can be sent", async () => {
    const { send } = await organisation();
    const refused = await send("apply", { policies: { signInMethods: ["passkey", "emailCode"] } });
    const [fault] = (refused.body["errors"] ?? []) as { path: string }[];
    assert.deepEqual([refused.status, fault?.path], [422, "/file/policies/signInMethods"]);
    const kept = { policies: { signInMethods: ["password", "emailCode"] } };
    assert.equal((await send("apply", kept)).status, 200);
  });

  test("sign-up and terms come with the policies; groups of new users by who may change groups", async () => {
    const { api, send } = await organisation();
    const terms = { version: "1", url: "https://acme.example/terms" };
    const signUp = (more: object = {}) => ({
      policies: { signUp: { mode: "open", terms, groups: [], ...more } },
    });
    assert.equal((await send("apply", signUp())).status, 200);
    assert.deepEqual((await api.call("GET", "/sign-up")).body, { mode: "open", terms, groups: [] });
    const bad = await send("apply", signUp({ terms: { version: "1", url: "http://acme.example" } }));
    const [fault] = (bad.body["errors"] ?? []) as { path: string }[];
    assert.deepEqual([bad.status, fault?.path], [422, "/file/policies/signUp/terms/url"]);
    const groups = [crypto.randomUUID()];
    const refused = await send("apply", signUp({ groups }));
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const holder = await organisation("signet:groups:write");
    const unknown = await holder.send("apply", signUp({ groups }));
    const [first] = (unknown.body["errors"] ?? []) as { path: string }[];
    assert.deepEqual([unknown.status, first?.path], [422, "/file/policies/signUp/groups/0"]);
  });

  test("nobody gives an application what the caller has not, ends its own, or half applies", async () => {
    const { api, send } = await organisation();
    const before = (await api.call("GET", "/configuration")).body;
    const machine = { name: "Job", clientType: "confidential", grantTypes: ["client_credentials"] };
    const greedy = {
      scopes: [{ name: "one" }],
      applications: [{ ...machine, allowedScopes: ["signet:users:write"] }],
    };
    const refused = await send("apply", greedy);
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const own = await send("apply", { applications: [] }, { prune: true });
    assert.deepEqual([own.status, own.body["type"]], [409, "urn:signet:error:own-application"]);
    assert.deepEqual((await api.call("GET", "/configuration")).body, before);
    const holder = await organisation("signet:users:write");
    assert.equal((await holder.send("apply", greedy)).status, 200);
  });

  test("nobody trusts an issuer or an authority that speaks for clients with more than the caller has", async () => {
    const { api, send, org } = await organisation();
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:users:write"] },
      ...{ tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSanDns: "job.example" },
    });
    const workload = {
      ...{ kind: "workload", issuer: "https://token.example" },
      ...{ subjectPattern: "repo:acme/site:ref:refs/heads/main" },
    };
    const authority = { name: "Partner CA", certificate: exampleCertificate };
    const before = (await api.call("GET", "/configuration")).body;
    for (const file of [
      { trusts: [{ ...workload, clientId: application.id }] },
      { trusts: [{ ...workload, clientId: commandLineClientId(org.organisation.id) }] },
      { clientCertificateAuthorities: [authority] },
    ]) {
      const { status, body } = await send("apply", file);
      assert.deepEqual(
        [status, body["type"]],
        [403, "urn:signet:error:exceeds-caller"],
        JSON.stringify(body),
      );
    }
    assert.deepEqual((await api.call("GET", "/configuration")).body, before);
    const other = await organisation();
    const own = { name: "Job", clientType: "confidential", grantTypes: ["client_credentials"] };
    const fine = await other.send("apply", {
      ...{ applications: [own], trusts: [{ ...workload, clientId: "Job" }] },
      clientCertificateAuthorities: [authority],
    });
    assert.equal(fine.status, 200, JSON.stringify(fine.body));
    const unknown = await other.send("apply", { trusts: [{ ...workload, clientId: "Nobody" }] });
    const [fault] = (unknown.body["errors"] ?? []) as { path: string }[];
    assert.deepEqual([unknown.status, fault?.path], [422, "/file/trusts/0/clientId"]);
  });

  test("a file may have 8 MiB, other bodies 64 KiB; a stranger's is not read", async () => {
    const { api, send } = await organisation();
    const emails = (length: number) => ({ x: "x".repeat(length) });
    assert.equal((await send("diff", emails(4_000_000))).status, 422);
    assert.equal((await send("diff", emails(9_000_000))).status, 413);
    const large = { body: { name: "x".repeat(100_000) } };
    assert.equal((await api.call("POST", "/scopes", large)).status, 413);
    const stranger = await api.call("POST", "/configuration/apply", {
      accessToken: "x",
      body: { file: emails(9_000_000) },
    });
    assert.equal(stranger.status, 401);
  });

  test("to read is enough to compare, not to apply; both areas are needed", async () => {
    const { org } = await organisation();
    const of = (...scopes: readonly ApiScope[]) => makeApiClient(running.service, org, scopes);
    const body = { file: { format } };
    const reader = await of("signet:organisation:read", "signet:applications:read");
    assert.equal((await reader.call("POST", "/configuration/diff", { body })).status, 200);
    assert.equal((await reader.call("POST", "/configuration/apply", { body })).status, 403);
    const half = await of("signet:organisation:write", "signet:applications:read");
    assert.equal((await half.call("POST", "/configuration/apply", { body })).status, 403);
  });
});
