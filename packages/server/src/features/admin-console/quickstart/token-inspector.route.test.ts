import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { scopeClaims } from "../../../core/scopes/scopes.ts";
import { SESSION_KEY_IDLE_MS } from "../../../core/session-keys/session-key.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { messages } from "../../../html/messages/messages.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makeAgent, makePool, signedWith } from "../../../testing/fixtures/agent.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  poll,
  type WaitingCodes,
} from "../../../testing/fixtures/device.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { makeSessionKey } from "../../../testing/fixtures/session-key.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  plain,
} from "../../../testing/probes/console-browser.ts";
import { dumpWholeDatabase } from "../../../testing/probes/dump-database.ts";
import { forgedTokens } from "../../../testing/probes/forged-tokens.ts";
import {
  makeClient,
  REDIRECT_URI,
  startTestService,
  type TestService,
} from "../../../testing/test-service.ts";

const HOUR_MS = 3_600_000;

test("explains every claim of the standard scopes", () => {
  const { claims, console } = messages(["en"]);
  const meanings = { ...claims, ...console.quickstart.inspector.claims };
  for (const claim of Object.values(scopeClaims).flat()) assert.ok(Object.hasOwn(meanings, claim), claim);
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let clock: FakeClock;
  let console: ConsoleBrowser;
  let source: CodeSource;
  let csrf: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
  });
  const begin = async () => {
    console = await consoleBrowser(running, org);
    csrf = formOfPage(await console.get("/quickstart/token-inspector")).get("csrf") ?? "";
  };
  beforeEach(async () => {
    source = codeSource(org);
    await begin();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const look = (token: string): Promise<TestPage> =>
    console.post("/quickstart/token-inspector", { csrf, token });
  /** Kind, verdict, and the findings by their ids. */
  async function found(token: string) {
    const { status, body } = await look(token);
    assert.equal(status, 200);
    const [, kind = ""] = /id="verdict-title">([^<]*)</.exec(body) ?? [];
    const [, verdict = ""] = /<span class="state (\w+)">/.exec(body) ?? [];
    return {
      kind: plain(kind),
      verdict,
      findings: [...body.matchAll(/id="finding-(\w+)"/g)].map(([, id]) => id),
      body,
    };
  }
  const jobToken = async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    return String((await postForm(`${org.issuer}/token`, form)).body["access_token"]);
  };

  test("inspects an access token: subject, claims and validity", async () => {
    const { accessToken } = await source.tokens();
    // As it is copied from a header, or from a terminal that broke the line.
    for (const pasted of [
      accessToken,
      `Authorization: Bearer ${accessToken}`,
      accessToken.replace(".", ".\r\n "),
    ]) {
      const { kind, verdict, findings, body } = await found(pasted);
      assert.deepEqual([kind, verdict], ["Access token", "good"]);
      assert.deepEqual(findings, ["signature", "issuer", "inTime", "active"]);
      assert.ok(body.includes(`/applications/${org.web.application.id}`));
      assert.ok(body.includes(org.user.email));
      assert.match(body, /<dt><code>acr<\/code><\/dt>\n<dd>Authentication context: how strongly/);
      assert.ok(!body.includes(accessToken), "what was pasted is not shown again");
    }
  });

  test("inspects a client credentials token and an ID token", async () => {
    const service = await found(await jobToken());
    assert.deepEqual([service.verdict, service.findings.at(-1)], ["good", "active"]);
    assert.ok(!service.body.includes("/users/0"));
    const { idToken } = await source.tokens();
    const { kind, verdict, findings } = await found(idToken);
    assert.deepEqual([kind, verdict, findings.at(-1)], ["ID token", "good", "statement"]);
  });

  test("tells why a token is not accepted: revoked, signed out, expired, disabled", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const job = await jobToken();
    await postForm(`${org.issuer}/revoke`, { token: job, ...credentials(org.batch) });
    assert.deepEqual((await found(job)).findings.at(-1), "revoked");
    await postForm(`${org.issuer}/revoke`, { token: refreshToken, ...credentials(org.web) });
    assert.deepEqual((await found(accessToken)).findings.at(-1), "signInEnded");
    assert.deepEqual((await found(refreshToken)).findings, ["madeHere", "revoked"]);

    const { accessToken: second, refreshToken: living } = await source.tokens();
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    await setUserStatus(running.service, { ...user, disabled: true });
    assert.ok((await found(second)).findings.includes("userDisabled"));
    assert.deepEqual((await found(living)).findings, ["madeHere", "revoked"]);
    await setUserStatus(running.service, { ...user, disabled: false });

    const client = await makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI] });
    const { accessToken: third } = await source.tokens({}, client);
    const application = { orgId: org.organisation.id, id: client.application.id, actor: "test" };
    await setApplicationStatus(running.service, { ...application, disabled: true });
    assert.ok((await found(third)).findings.includes("applicationDisabled"));
    clock.advance(HOUR_MS);
    await begin();
    const late = await found(second);
    assert.deepEqual([late.verdict, late.findings.includes("expired")], ["bad", true]);
  });

  test("tells a refresh token, a code and a session key apart without using them", async () => {
    const { refreshToken } = await source.tokens({ scope: "openid email" });
    const seen = await found(refreshToken);
    assert.deepEqual(
      [seen.kind, seen.verdict, seen.findings],
      ["Refresh token", "good", ["madeHere", "living"]],
    );
    assert.ok(seen.body.includes("openid email") && seen.body.includes(org.user.email));
    const next = String((await refresh(org, refreshToken)).body["refresh_token"]);
    const old = await found(refreshToken);
    assert.deepEqual([old.verdict, old.findings], ["warn", ["madeHere", "rotated"]]);
    assert.equal((await found(next)).verdict, "good", "looking at the old one ended nothing");

    const grant = await source.code();
    assert.deepEqual((await found(grant.code)).findings, ["madeHere", "living"]);
    assert.equal((await redeemWith(org, grant)).status, 200);
    assert.deepEqual((await found(grant.code)).findings, ["madeHere", "codeUsed"]);

    const secret = await makeSessionKey(running.service, org);
    const key = await found(secret);
    assert.deepEqual([key.kind, key.findings], ["Session key", ["madeHere", "living"]]);
  });

  test("inspects a device code in each status", async () => {
    const application = await makeDeviceApp(running.service, org);
    const last = async ({ deviceCode }: WaitingCodes) => (await found(deviceCode)).findings.at(-1);
    const [used, denied, left] = [
      await askForCodes(org, application),
      await askForCodes(org, application),
      await askForCodes(org, application),
    ];
    const seen = await found(left.deviceCode);
    assert.deepEqual(
      [seen.kind, seen.verdict, seen.findings],
      ["Device code", "warn", ["madeHere", "pending"]],
    );
    const browser = testBrowser();
    await decideDeviceCode(browser, org, used);
    assert.equal(await last(used), "allowed");
    assert.ok((await found(used.deviceCode)).body.includes(org.user.email));
    assert.equal((await poll(org, used)).status, 200);
    assert.equal(await last(used), "codeUsed");
    await decideDeviceCode(browser, org, denied, "deny");
    assert.equal(await last(denied), "denied");
    clock.advance(HOUR_MS);
    await begin();
    assert.deepEqual([await last(left), await last(used)], ["expiredByItself", "codeUsed"]);
    assert.deepEqual((await found(`${left.deviceCode}x`)).findings, ["notKnown"]);
  });

  test("tells how a code and a session key have ended", async () => {
    const { code } = await source.code();
    const [idle, ended, revoked] = [
      await makeSessionKey(running.service, org),
      await makeSessionKey(running.service, org),
      await makeSessionKey(running.service, org),
    ];
    const ofKey = (secret: string) =>
      running.service.database.query
        .updateTable("session_key")
        .where("org_id", "=", org.organisation.id)
        .where("key_hash", "=", sha256Base64url(secret));
    await ofKey(idle).set({ expires_at: null }).execute();
    await ofKey(ended).set({ expires_at: clock() }).execute();
    await ofKey(revoked).set({ revoked_at: clock() }).execute();
    assert.deepEqual((await found(ended)).findings, ["madeHere", "expiredByItself"]);
    assert.deepEqual((await found(revoked)).findings, ["madeHere", "revoked"]);
    clock.advance(SESSION_KEY_IDLE_MS);
    await begin();
    assert.deepEqual((await found(idle)).findings, ["madeHere", "expiredByItself"]);
    assert.deepEqual((await found(code)).findings, ["madeHere", "expiredByItself"]);
    const alone = await makeSessionKey(running.service, org);
    await ofKey(alone).set({ session_id: newUuid() }).execute();
    assert.deepEqual((await found(alone)).findings, ["madeHere", "sessionEnded"]);
  });

  test("names the kind of other secrets", async () => {
    const { kind, verdict, body } = await found(org.web.secret);
    assert.deepEqual([kind, verdict], ["Client secret", "warn"]);
    assert.ok(!body.includes(org.web.secret));
    assert.equal((await found("sgn_ak_abc")).kind, "Other secret");
  });

  test("never reports a forged token as valid", async () => {
    const { accessToken } = await source.tokens();
    const forged = await forgedTokens(running.service, org.organisation.id, accessToken);
    for (const [how, token] of Object.entries(forged)) {
      const page = await look(token);
      assert.ok([200, 400].includes(page.status), `${how}: ${page.status}`);
      assert.ok(!page.body.includes('class="state good"'), how);
      // What is not ours says nothing of people here.
      assert.ok(!page.body.includes(org.user.email), how);
    }
  });

  test("reports another organisation's token as foreign, without names", async () => {
    const other = await seedRecords(running.service, "Beta");
    const there = await codeSource(other).tokens();
    const signed = await found(there.accessToken);
    assert.deepEqual([signed.verdict, signed.findings.slice(0, 2)], ["bad", ["keyUnknown", "issuerOther"]]);
    assert.deepEqual((await found(there.refreshToken)).findings, ["notMadeHere"]);
    const { code } = await codeSource(other).code();
    assert.deepEqual((await found(code)).findings, ["notKnown"]);
    const secret = await makeSessionKey(running.service, other);
    const key = await found(secret);
    assert.deepEqual(key.findings, ["notKnown"]);
    assert.ok(![signed, key].some(({ body }) => body.includes(other.user.email)));
  });

  test("attributes a token signed by an agent to its pool", async () => {
    const pool = await makePool(running.service, org, { name: "Vault" });
    const [key] = (await makeAgent(running.service, org, pool)).keys;
    assert.ok(key);
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const iss = `${org.issuer}/sovereign/pools/${pool.id}`;
    const exp = Math.floor(clock() / 1000) + 60;
    const parts = [
      { alg: key.alg, typ: "JWT", kid: key.kid },
      { iss, exp, sub: "x", aud: "y", auth_time: 1 },
    ];
    const token = signedWith(key, parts.map(encoded).join("."));
    const { findings, body } = await found(token);
    assert.deepEqual(findings.slice(0, 3), ["poolSignature", "issuer", "inTime"]);
    assert.ok(body.includes("Vault"));
  });

  test("reports text that is no token, and empty or oversized input at the field", async () => {
    const texts = [
      "x",
      "a.b.c",
      "..",
      "<script>alert(1)</script>",
      "e30.e30.e30",
      "e30.W10.AA",
      "sgn_rt_",
      "sgn_sk_x",
    ];
    for (const text of [...texts, "\u{1f600}".repeat(10), `${"a".repeat(16_380)}.b.c`.slice(0, 16_384)]) {
      const { verdict, body } = await found(text);
      assert.notEqual(verdict, "good", text.slice(0, 20));
      assert.ok(!body.includes("<script>alert"));
    }
    for (const text of ["", "  ", "a".repeat(16_385)]) {
      const page = await look(text);
      assert.equal(page.status, 400);
      assert.ok(page.body.includes('id="token-fault"'));
    }
  });

  test("shows malformed times and claims without failing", async () => {
    const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const odd = {
      exp: 1e300,
      iat: "x",
      nbf: -1,
      aud: [{}, null, 5],
      iss: ["a"],
      sub: {},
      events: null,
      "<b>": "</pre>",
    };
    const { verdict, body } = await found(
      `${encoded({ alg: "ES256", kid: "k", typ: 5 })}.${encoded(odd)}.AA`,
    );
    assert.equal(verdict, "bad");
    assert.ok(!body.includes("<b>") && body.includes("&lt;b&gt;"));
  });

  test("neither stores nor logs a token, and rejects a form without a CSRF token", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const kept = async () => {
      const lines = (await dumpWholeDatabase(running.service.database.query)).split("\n");
      return lines.filter((line) => !/^(browser_session|activity)/.test(line));
    };
    const before = await kept();
    await look(accessToken);
    await look(refreshToken);
    assert.deepEqual(await kept(), before);
    assert.ok(!JSON.stringify(running.lines).includes(accessToken.slice(0, 40)));
    const page = await console.post("/quickstart/token-inspector", { csrf: "forged", token: refreshToken });
    assert.equal(page.status, 403);
    assert.ok(!page.body.includes('id="verdict"') && !page.body.includes(refreshToken));
  });
});
