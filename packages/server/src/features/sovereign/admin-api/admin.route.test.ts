/** Pools and agents by API: who may, what is refused and how, and what a change of keys does. */
import assert from "node:assert/strict";
import { randomUUID, X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { extension, testCertificate } from "@signet/protocol/testing/test-certificate";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findAgentKey } from "../../../core/signing-pools/agent-key.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { type SigningPool, signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  makeAgent,
  makePool,
  newAgentKey,
  presentedKey,
  signedWith,
  type TestAgentKey,
} from "../../../testing/fixtures/agent.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import { logIn, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("sovereign administration", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let other: TestOrganisation;
    let admin: TestAccount;
    let clock: FakeClock;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
      org = await makeOrganisation(running.service);
      other = await makeOrganisation(running.service, "Other");
      admin = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const call = (path: string, asked: ApiRequest = {}) =>
      callApi(`${org.issuer}/sovereign/admin${path}`, admin, asked);
    const present = (pool: SigningPool, key: TestAgentKey) => presentedKey(running.service, pool, key);
    const register = (pool: SigningPool, keys: readonly unknown[], name = "agent") =>
      call("/agents", { body: { poolId: pool.id, name, keys } });
    const end = (agentId: string, query = "") =>
      call(`/agents/${agentId}${query}`, { method: "DELETE", strictAt: clock() });
    const statesOf = ({ body }: ApiAnswer) => (body["keys"] as { state: string }[]).map(({ state }) => state);
    const refused = (answer: ApiAnswer, status: number, error: string, description?: RegExp) => {
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body["error"], error, answer.text);
      if (description) assert.match(String(answer.body["error_description"]), description);
    };
    const events = async () =>
      (await listAuditEvents(running.service.database.query, org.organisation.id, 3)).map(
        ({ action }) => action,
      );

    test("a new pool returns its issuer and JWKS URI, by issuer mode", async () => {
      const body = { name: "HQ", algs: ["ES256"], maxTokenLifetimeSeconds: 600 };
      const made = await call("/pools", { body });
      assert.equal(made.status, 201, made.text);
      const { poolId } = made.body;
      const address = `${org.issuer}/sovereign/pools/${poolId}`;
      assert.deepEqual(made.body, { poolId, issuer: address, jwksUri: `${address}/jwks.json` });
      const mode = await call("/pools", { body: { ...body, issuerMode: "organisation" } });
      assert.equal(mode.body["issuer"], org.issuer);
      assert.equal(mode.body["jwksUri"], `${org.issuer}/sovereign/pools/${mode.body["poolId"]}/jwks.json`);
      assert.equal((await events())[0], "signing-pool.created");
      refused(await call("/pools", { body: { ...body, algs: ["HS256"] } }), 422, "unsupported_alg");
    });

    test("returns the API key once; first keys are active immediately, later ones after the delay", async () => {
      const pool = await makePool(running.service, org, {
        keyPublishDelaySeconds: 600,
        algs: agentAlgs,
      });
      const keys = agentAlgs.map(newAgentKey);
      const answer = await register(
        pool,
        keys.map((key) => present(pool, key)),
      );
      assert.equal(answer.status, 201, answer.text);
      assert.match(String(answer.body["apiKey"]), /^sgn_ak_[\w-]{43}$/);
      assert.deepEqual(
        answer.body["keys"],
        keys.map(({ kid }) => ({ kid, state: "active" })),
      );
      const second = await register(pool, [present(pool, newAgentKey("ES256"))]);
      assert.deepEqual(statesOf(second), ["published"]);
      assert.equal((await events())[0], "signing-agent.registered");
      const headers = { "idempotency-key": randomUUID() };
      const body = { poolId: pool.id, name: "again", keys: [present(pool, newAgentKey("ES256"))] };
      const first = await call("/agents", { body, headers });
      const repeated = await call("/agents", { body, headers });
      assert.equal(repeated.body["agentId"], first.body["agentId"]);
      assert.equal(repeated.body["apiKey"], null);
    });

    test("derives the algorithm of a key without alg from its type", async () => {
      const pool = await makePool(running.service, org, { algs: ["ES256", "ES384", "PS256", "EdDSA"] });
      for (const alg of pool.algs) {
        const key = newAgentKey(alg);
        const { alg: _alg, ...jwk } = key.publicJwk;
        const { pop } = present(pool, key);
        assert.equal((await register(pool, [{ jwk, pop }])).status, 201, alg);
        const kept = await findAgentKey(running.service.database.query, org.organisation.id, key.kid);
        assert.equal(kept?.alg, alg);
      }
    });

    test("rejects private keys first, and never stores them", async () => {
      const pool = await makePool(running.service, org);
      const key = newAgentKey("ES256");
      const jwk = key.privateKey.export({ format: "jwk" });
      refused(await register(pool, [{ jwk, pop: "x" }]), 400, "private_key_material");
      for (const member of ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]) {
        const { pop } = present(pool, key);
        const sent = [present(pool, newAgentKey("ES256")), { jwk: { ...key.publicJwk, [member]: "x" }, pop }];
        refused(await register(pool, sent), 400, "private_key_material");
      }
      assert.equal(
        await findAgentKey(running.service.database.query, org.organisation.id, key.kid),
        undefined,
      );
    });

    test("rejects a root with its private key, and stores only the certificate", async () => {
      const { privateKey } = newAgentKey("ES256");
      const { pem } = testCertificate({ subject: "Root", isCa: true, privateKey });
      const roots = async (text: string) => {
        const pool = { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 3600, trustedRoots: [text] };
        return call("/pools", { body: pool });
      };
      for (const type of ["pkcs8", "sec1"] as const) {
        const secret = String(privateKey.export({ format: "pem", type }));
        refused(await roots(`${pem}\n${secret}`), 400, "private_key_material");
        refused(await roots(`${secret}\n${pem}`), 400, "private_key_material");
      }
      const { status, body } = await roots(`Certificate:\n    Data: so and so\n${pem}\nMIGH: left over\n`);
      assert.equal(status, 201);
      const { query } = running.service.database;
      const kept = await findPool(query, org.organisation.id, String(body["poolId"]));
      assert.deepEqual(kept?.trustedRoots, [new X509Certificate(pem).toString()]);
    });

    test("rejects invalid and non-canonical public keys", async () => {
      const pool = await makePool(running.service, org, { algs: ["ES256", "PS256"] });
      const key = newAgentKey("ES256");
      const { jwk, pop } = present(pool, key);
      const sent = (more: object) => register(pool, [{ jwk: { ...jwk, ...more }, pop }]);
      refused(await sent({ x5u: "https://evil.example" }), 400, "invalid_request", /unknown member/);
      refused(await sent({ use: "enc" }), 400, "invalid_request", /use/);
      refused(await sent({ key_ops: ["sign"] }), 400, "invalid_request", /key_ops/);
      refused(await sent({ kid: "mine" }), 400, "invalid_request", /thumbprint/);
      refused(await sent({ x: `${jwk["x"]}=` }), 400, "invalid_request");
      refused(await sent({ x: jwk["y"] }), 400, "invalid_request");
      refused(await sent({ x: 1 }), 400, "invalid_request");
      refused(await sent({ n: "AQAB" }), 400, "invalid_request");
      refused(await sent({ kty: "oct" }), 422, "unsupported_alg");
      refused(await sent({ alg: "HS256" }), 422, "unsupported_alg");
      refused(await sent({ alg: "ES384" }), 422, "unsupported_alg");
      const foreign = newAgentKey("EdDSA");
      refused(await register(pool, [present(pool, foreign)]), 422, "unsupported_alg", /the pool accepts/);
    });

    test("a weak RSA key is refused", async () => {
      const pool = await makePool(running.service, org, { algs: ["PS256"] });
      const { publicJwk } = newAgentKey("PS256");
      const short = { ...publicJwk, n: Buffer.alloc(128, 0xc3).toString("base64url") };
      refused(await register(pool, [{ jwk: short, pop: "x" }]), 422, "unsupported_alg");
      const trivial = { ...publicJwk, e: "AQ" };
      const answer = await register(pool, [{ jwk: trivial, pop: "x" }]);
      assert.ok([400, 422].includes(answer.status), answer.text);
    });

    test("checks key, pool, signature and age of the proof of possession", async () => {
      const pool = await makePool(running.service, org, { algs: ["ES256", "PS256", "RS256"] });
      const key = newAgentKey("ES256");
      const now = Math.floor(clock() / 1000);
      const good = { aud: signingPoolUrl(running.service.config.baseUrl, pool), jkt: key.kid, iat: now };
      const header = { alg: "ES256", typ: "sovereign-pop+jwt" };
      const proof = (payload: object, head: object = header, by = key) =>
        signedWith(by, `${encoded(head)}.${encoded(payload)}`);
      const attempt = (pop: string, jwk = key.publicJwk) => register(pool, [{ jwk, pop }]);
      const wrong: readonly string[] = [
        "x",
        "a.b.c",
        proof({ ...good, aud: org.issuer }),
        proof({ ...good, jkt: newAgentKey("ES256").kid }),
        proof({ ...good, iat: now - 301 }),
        proof({ ...good, iat: now + 61 }),
        proof({ ...good, iat: String(now) }),
        proof({ aud: good.aud, jkt: good.jkt }),
        proof(good, { ...header, typ: "at+jwt" }),
        proof(good, { ...header, kid: key.kid }),
        proof(good, { ...header, alg: "none" }),
        proof(good, header, newAgentKey("ES256")),
        `${proof(good)}A`,
        `${proof(good).slice(0, -1)}=`,
      ];
      for (const pop of wrong) refused(await attempt(pop), 422, "pop_invalid", /keys\[0\]\.pop/);
      // A key of RSA can sign with both: only its own algorithm counts.
      const rsa = newAgentKey("PS256");
      const other = proof({ ...good, jkt: rsa.kid }, { ...header, alg: "RS256" }, { ...rsa, alg: "RS256" });
      refused(await attempt(other, rsa.publicJwk), 422, "pop_invalid", /PS256/);
      assert.equal((await attempt(proof({ ...good, iat: now - 300 }))).status, 201);
    });

    test("a key can be registered once, in any state and organisation", async () => {
      const pool = await makePool(running.service, org);
      const elsewhere = await makePool(running.service, other);
      const key = newAgentKey("ES256");
      const made = await register(pool, [present(pool, key)]);
      refused(await register(pool, [present(pool, key)]), 409, "duplicate_key");
      const theirs = await makeSystemAccount(running.service, other, { administrator: true });
      const body = { poolId: elsewhere.id, name: "x", keys: [present(elsewhere, key)] };
      refused(
        await callApi(`${other.issuer}/sovereign/admin/agents`, theirs, { body }),
        409,
        "duplicate_key",
      );
      const twice = newAgentKey("ES256");
      refused(await register(pool, [present(pool, twice), present(pool, twice)]), 409, "duplicate_key");
      await end(String(made.body["agentId"]), "?compromised=true");
      refused(await register(pool, [present(pool, key)]), 409, "duplicate_key");
      // Nothing of a registration that was refused is there.
      assert.equal((await register(pool, [present(pool, twice)])).status, 201);
    });

    test("x5c must chain to the pool's roots and name the pool, and can be required", async () => {
      const root = testCertificate({ subject: "Root", isCa: true });
      const pool = await makePool(running.service, org, { trustedRoots: [root.pem], requireX5c: true });
      const address = signingPoolUrl(running.service.config.baseUrl, pool);
      const key = newAgentKey("ES256");
      const { jwk, pop } = present(pool, key);
      const leaf = (uri: string) =>
        testCertificate({ subject: "Agent", issuer: root, privateKey: key.privateKey, uris: [uri] });
      const { x5c } = leaf(address);
      refused(await register(pool, [{ jwk, pop }]), 422, "chain_invalid", /requires certificates/);
      const wrong = [leaf(org.issuer).x5c];
      refused(await register(pool, [{ jwk, pop, x5c: wrong }]), 422, "chain_invalid", /URI of the pool/);
      refused(await register(pool, [{ jwk: { ...jwk, x5c: wrong }, pop }]), 422, "chain_invalid");
      const odd = testCertificate({
        subject: "Agent",
        issuer: root,
        privateKey: key.privateKey,
        uris: [address],
        more: [extension("2a03", Buffer.from("0500", "hex"), true)],
      });
      refused(await register(pool, [{ jwk, pop, x5c: [odd.x5c] }]), 422, "chain_invalid");
      refused(await register(pool, [{ jwk: { ...jwk, x5c: [] }, pop, x5c: [x5c] }]), 400, "invalid_request");
      assert.equal((await register(pool, [{ jwk, pop, x5c: [x5c, root.x5c] }])).status, 201);
      const without = await makePool(running.service, org);
      const next = present(without, newAgentKey("ES256"));
      refused(await register(without, [{ ...next, x5c: [x5c] }]), 422, "chain_invalid", /no trusted roots/);
    });

    test("a new key retires the old one when it becomes active", async () => {
      const pool = await makePool(running.service, org, {
        keyPublishDelaySeconds: 600,
        algs: ["ES256", "EdDSA"],
      });
      const agent = await makeAgent(running.service, org, pool, { algs: ["ES256", "EdDSA"] });
      const key = newAgentKey("ES256");
      const answer = await call(`/agents/${agent.agentId}/keys`, { body: { keys: [present(pool, key)] } });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(answer.body["keys"], [{ kid: key.kid, state: "published" }]);
      assert.equal((await events())[0], "signing-agent.keys-added");
      const { query } = running.service.database;
      const read = async (kid: string) => await findAgentKey(query, org.organisation.id, kid);
      const [old, kept] = [await read(agent.keys[0]?.kid ?? ""), await read(agent.keys[1]?.kid ?? "")];
      assert.equal(old?.retiringAt, clock() + 600_000);
      assert.equal((await read(key.kid))?.activeFrom, clock() + 600_000);
      assert.equal(kept?.retiringAt, null, "of another algorithm");
      refused(
        await call(`/agents/${randomUUID()}/keys`, { body: { keys: [present(pool, newAgentKey("ES256"))] } }),
        404,
        "not_found",
      );
    });

    test("deactivation revokes the API key immediately and is idempotent", async () => {
      const pool = await makePool(running.service, org);
      const agent = await makeAgent(running.service, org, pool);
      assert.equal((await agent.call("queue")).status, 200);
      assert.equal((await end(agent.agentId)).status, 204);
      assert.equal((await agent.call("queue")).status, 401);
      assert.equal((await events())[0], "signing-agent.deactivated");
      const before = await events();
      assert.equal((await end(agent.agentId)).status, 204);
      assert.deepEqual(await events(), before, "nothing happened");
      assert.equal((await end(agent.agentId, "?compromised=true")).status, 204);
      assert.equal((await events())[0], "signing-agent.compromised");
      const body = { keys: [present(pool, newAgentKey("ES256"))] };
      refused(await call(`/agents/${agent.agentId}/keys`, { body }), 409, "agent_deactivated");
      refused(await end(randomUUID()), 404, "not_found");
      refused(await end("x"), 404, "not_found");
    });

    test("deactivation requires a strict signature", async () => {
      const pool = await makePool(running.service, org);
      const agent = await makeAgent(running.service, org, pool);
      const plain = await call(`/agents/${agent.agentId}`, { method: "DELETE" });
      refused(plain, 401, "invalid_client");
      assert.equal((await agent.call("queue")).status, 200);
    });

    test("accepts an administrator's browser with a CSRF token only", async () => {
      await createUser(running.service, {
        organisation: org.organisation,
        email: "admin@acme.example",
        password: PASSWORD,
        firstname: "Ada",
        surname: "Admin",
        phone: "+4512345678",
        role: "Administrator",
        emailVerified: true,
        actor: "test",
      });
      const body = JSON.stringify({ name: "By browser", algs: ["ES256"], maxTokenLifetimeSeconds: 600 });
      const signIn = async (email: string) => {
        const browser = testBrowser();
        const page = await logIn(browser, org, await visit(browser, org), { email });
        const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        return { cookie, csrf: page.hidden["csrf"] ?? "" };
      };
      const post = async (headers: Record<string, string>) => {
        const response = await fetch(`${org.issuer}/sovereign/admin/pools`, {
          method: "POST",
          body,
          headers: { "content-type": "application/json", ...headers },
        });
        return { status: response.status, ...((await response.json()) as { error?: string }) };
      };
      const mine = await signIn("admin@acme.example");
      assert.notEqual(mine.csrf, "");
      const own = { cookie: mine.cookie, "x-csrf-token": mine.csrf };
      assert.equal((await post(own)).status, 201);
      clock.advance(10 * 60_000);
      const old = await post(own);
      assert.deepEqual([old.status, old.error], [403, "interaction_required"]);
      clock.advance(-10 * 60_000);
      assert.deepEqual([(await post({ cookie: mine.cookie })).error], ["csrf"]);
      const elsewhere = { "sec-fetch-site": "cross-site" };
      assert.equal(
        (await post({ cookie: mine.cookie, "x-csrf-token": mine.csrf, ...elsewhere })).error,
        "csrf",
      );
      const theirs = await signIn(org.user.email);
      assert.equal((await post({ cookie: mine.cookie, "x-csrf-token": theirs.csrf })).error, "csrf");
      const { status, error } = await post({ cookie: theirs.cookie, "x-csrf-token": theirs.csrf });
      assert.deepEqual([status, error], [403, "access_denied"]);
      assert.equal((await post({ "x-csrf-token": mine.csrf })).status, 401);
    });
  });
});
