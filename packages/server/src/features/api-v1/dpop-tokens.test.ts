/** API v1 with tokens of a key (RFC 9449 §7): the scheme DPoP and a proof for each call, once on all nodes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { callApiV1 } from "../../testing/fixtures/api-client.ts";
import { type Answer, credentials, postForm } from "../../testing/fixtures/client.ts";
import { type DpopKey, dpopKey, type ProofChanges } from "../../testing/fixtures/dpop.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let key: DpopKey;
  let url: string;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    key = await dpopKey();
    url = `${baseUrl}/api/v1/organisations/${org.organisation.id}/scopes`;
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
  });

  async function boundToken(settings: Partial<ApplicationSettings> = {}, by = key): Promise<string> {
    const client = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:applications:write"] },
      ...settings,
    });
    const tokenUrl = `${org.issuer}/token`;
    const ask = async (nonce?: string) => {
      const proof = await by.proof({
        url: tokenUrl,
        now: clock(),
        ...(nonce === undefined ? {} : { nonce }),
      });
      const form = { grant_type: "client_credentials", ...credentials(client) };
      return postForm(tokenUrl, form, { dpop: proof });
    };
    const first = await ask();
    const { body } = first.status === 200 ? first : await ask(first.headers.get("dpop-nonce") ?? "");
    assert.equal(body["token_type"], "DPoP", JSON.stringify(body));
    return String(body["access_token"]);
  }

  const proofFor = (token: string, changes?: ProofChanges, by = key, method = "GET", target = url) =>
    by.proof({ url: target, method, token, now: clock() }, changes);
  const call = (
    authorization: string,
    dpop?: string,
    more: { method?: string; url?: string; body?: object } = {},
  ) =>
    callApiV1(more.method ?? "GET", more.url ?? url, {
      ...(more.body ? { body: more.body } : {}),
      headers: { authorization, ...(dpop === undefined ? {} : { dpop }) },
    });
  const refused = (answer: Answer, error: string, about = "") => {
    assert.equal(answer.status, 401, about);
    const challenge = answer.headers.get("www-authenticate") ?? "";
    assert.match(challenge, /^DPoP realm="api\/v1", /, about);
    assert.ok(challenge.includes(`error="${error}"`), `${about}: ${challenge}`);
    assert.match(challenge, /algs="ES256 /, about);
    assert.match(answer.headers.get("dpop-nonce") ?? "", /^[\w-]+$/, about);
    assert.equal(answer.body["type"], "urn:signet:error:not-authenticated");
  };

  test("takes a bound token with a proof of its key, for reads by either way and for writes", async () => {
    const token = await boundToken();
    const listed = await call(`DPoP ${token}`, await proofFor(token));
    assert.equal(listed.status, 200, JSON.stringify(listed.body));
    assert.match(listed.headers.get("dpop-nonce") ?? "", /^[\w-]+$/);
    assert.ok(listed.headers.has("ratelimit"));
    const body = { name: "payroll" };
    const made = await call(`dpop ${token}`, await proofFor(token, {}, key, "POST"), {
      method: "POST",
      body,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const one = `${url}/${made.body["id"]}`;
    const read = await call(`DPoP ${token}`, await proofFor(token, {}, key, "GET", one), { url: one });
    assert.equal(read.status, 200);
    const query = await call(`DPoP ${token}`, await proofFor(token), { url: `${url}?limit=1` });
    assert.equal(query.status, 200, "htu has no query (RFC 9449 §4.2)");
  });

  test("refuses a bound token as Bearer, without a proof, and with another's", async () => {
    const token = await boundToken();
    refused(await call(`Bearer ${token}`, await proofFor(token)), "invalid_token", "Bearer with a proof");
    refused(await call(`Bearer ${token}`), "invalid_token", "Bearer");
    refused(await call(`DPoP ${token}`), "invalid_dpop_proof", "no proof");
    const other = await dpopKey();
    refused(await call(`DPoP ${token}`, await proofFor(token, {}, other)), "invalid_token", "another key");
    const wrong: Array<[string, ProofChanges]> = [
      ["method", { claims: { htm: "POST" } }],
      ["address", { claims: { htu: `${url}/x` } }],
      ["another host", { claims: { htu: url.replace("http://", "https://") } }],
      ["no token", { claims: { ath: undefined } }],
      ["another token", { claims: { ath: "x" } }],
      ["too old", { claims: { iat: Math.floor(clock() / 1000) - 61 } }],
      ["ahead", { claims: { iat: Math.floor(clock() / 1000) + 31 } }],
      ["a JWT of another type", { header: { typ: "JWT" } }],
    ];
    for (const [about, changes] of wrong)
      refused(await call(`DPoP ${token}`, await proofFor(token, changes)), "invalid_dpop_proof", about);
    refused(await call(`DPoP ${token}`, "x"), "invalid_dpop_proof", "no JWT");
  });

  test("refuses an unbound token by the scheme DPoP, and takes it as Bearer", async () => {
    const client = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:applications:read"] },
    });
    const form = { grant_type: "client_credentials", ...credentials(client) };
    const { body } = await postForm(`${org.issuer}/token`, form);
    const token = String(body["access_token"]);
    refused(await call(`DPoP ${token}`, await proofFor(token)), "invalid_token");
    const plain = await call(`Bearer ${token}`);
    assert.equal(plain.status, 200);
    assert.equal(plain.headers.get("dpop-nonce"), null);
  });

  test("takes a proof once, on every node, and keeps it for a call that was refused before it", async () => {
    const token = await boundToken();
    const proof = await proofFor(token);
    assert.equal((await call(`DPoP ${token}`, proof)).status, 200);
    const there = url.replace(running.baseUrl, second.baseUrl);
    for (const at of [url, there])
      refused(await call(`DPoP ${token}`, proof, { url: at }), "invalid_dpop_proof", at);
    const other = await proofFor(token);
    const answers = await Promise.all(
      [url, there, url, there].map((at) => call(`DPoP ${token}`, other, { url: at })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  });

  test("asks for a nonce where the client needs one, and accepts the one of its answer", async () => {
    const token = await boundToken({ requireDpopNonce: true });
    const first = await call(`DPoP ${token}`, await proofFor(token));
    refused(first, "use_dpop_nonce");
    const nonce = first.headers.get("dpop-nonce") ?? "";
    const again = await call(`DPoP ${token}`, await proofFor(token, { claims: { nonce } }));
    assert.equal(again.status, 200);
    refused(await call(`DPoP ${token}`, await proofFor(token, { claims: { nonce: "x" } })), "use_dpop_nonce");
  });
});
