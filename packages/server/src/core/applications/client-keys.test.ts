import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { errors, exportJWK, generateKeyPair } from "jose";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type OutboundAnswer, OutboundFailure } from "../outbound/outbound.ts";
import { type Application, defaultSettings } from "./application.ts";
import { type ClientKeys, ClientKeysUnavailable, clientKeys } from "./client-keys.ts";

const MINUTE = 60_000;
const URI = "https://client.example/jwks";

async function jwk(kid: string) {
  const { publicKey } = await generateKeyPair("ES256");
  return { ...(await exportJWK(publicKey)), kid };
}

const client = (settings: object, id = "one", version = 1): Application => ({
  orgId: "org",
  id,
  name: "Client",
  clientType: "confidential",
  settings: { ...defaultSettings("confidential"), ...settings },
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
  disabledAt: null,
  version,
  ...{ homeOrgId: null, grantedScopes: null, source: "registered" as const },
});

/** A way out that answers with what `serve` gives, and counts. */
function remote(serve: (url: string) => string | Promise<string> | number | [status: number, body: string]) {
  const clock = fakeClock();
  const calls: string[] = [];
  const call = async (_orgId: string, url: string): Promise<OutboundAnswer> => {
    calls.push(url);
    const served = await serve(url);
    const [status, body] =
      typeof served === "number" ? [served, ""] : typeof served === "string" ? [200, served] : served;
    return { status, contentType: "application/json", cacheControl: "", body: Buffer.from(body) };
  };
  return { clock, calls, keys: clientKeys({ outbound: { call }, clock }) };
}

/** Whether the key is found. */
async function has(keys: ClientKeys, application: Application, kid: string): Promise<boolean> {
  const header = { alg: "ES256", kid };
  try {
    await keys.lookup(application)(header, { payload: "", signature: "" });
    return true;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return false;
    throw error;
  }
}

test("inline keys follow the version of the client's record", async () => {
  const { keys, calls } = remote(() => 500);
  const [a, b] = [await jwk("a"), await jwk("b")];
  assert.ok(await has(keys, client({ jwks: { keys: [a] } }), "a"));
  assert.ok(!(await has(keys, client({ jwks: { keys: [b] } }, "one", 2), "a")));
  assert.ok(await has(keys, client({ jwks: { keys: [b] } }, "one", 2), "b"));
  await assert.rejects(has(keys, client({}), "a"), ClientKeysUnavailable);
  assert.deepEqual(calls, []);
});

test("fetches a key set once for many lookups, and at most once a minute for unknown kids", async () => {
  const served = [await jwk("a")];
  const { keys, calls, clock } = remote(() => JSON.stringify({ keys: served }));
  const one = client({ jwksUri: URI });
  for (let look = 0; look < 5; look++) assert.ok(await has(keys, one, "a"));
  assert.equal(calls.length, 1);
  served.push(await jwk("b"));
  for (let look = 0; look < 5; look++) assert.ok(!(await has(keys, one, "b")));
  assert.equal(calls.length, 1);
  clock.advance(MINUTE);
  assert.ok(await has(keys, one, "b"));
  for (let look = 0; look < 5; look++) assert.ok(!(await has(keys, one, "nonsense")));
  assert.equal(calls.length, 2);
});

test("a removed key stops working after ten minutes", async () => {
  let served = [await jwk("a")];
  const { keys, calls, clock } = remote(() => JSON.stringify({ keys: served }));
  const one = client({ jwksUri: URI });
  assert.ok(await has(keys, one, "a"));
  served = [await jwk("b")];
  clock.advance(10 * MINUTE - 1);
  assert.ok(await has(keys, one, "a"));
  clock.advance(1);
  assert.ok(!(await has(keys, one, "a")));
  assert.equal(calls.length, 2);
});

test("certificates come with the keys: as late, as rarely, and no longer", async () => {
  const certified = (kid: string) => {
    const { privateKey, der, x5c } = testCertificate({ subject: "CN=client" });
    return { der, key: { ...createPublicKey(privateKey).export({ format: "jwk" }), kid, x5c: [x5c] } };
  };
  const [first, second] = [certified("a"), certified("b")];
  let served: object[] | undefined = [await jwk("bare"), first.key];
  const { keys, calls, clock } = remote(() => (served ? JSON.stringify({ keys: served }) : 503));
  const one = client({ jwksUri: URI });
  assert.ok(await keys.hasCertificate(one, first.der));
  served = [second.key];
  for (let look = 0; look < 5; look++) assert.ok(!(await keys.hasCertificate(one, second.der)));
  assert.equal(calls.length, 1);
  clock.advance(MINUTE);
  assert.ok(await keys.hasCertificate(one, second.der));
  assert.ok(!(await keys.hasCertificate(one, first.der)));
  assert.equal(calls.length, 2);
  served = undefined;
  clock.advance(60 * MINUTE);
  await assert.rejects(keys.hasCertificate(one, second.der), ClientKeysUnavailable);
});

test("concurrent requests share one fetch", async () => {
  const set = JSON.stringify({ keys: [await jwk("a")] });
  let answer = (_text: string) => {};
  const { keys, calls } = remote(() => new Promise((resolve) => (answer = resolve)));
  const one = client({ jwksUri: URI });
  const looks = Array.from({ length: 10 }, () => has(keys, one, "a"));
  await new Promise((resolve) => setImmediate(resolve));
  answer(set);
  assert.ok((await Promise.all(looks)).every((found) => found));
  assert.equal(calls.length, 1);
});

test("retries a failing URL once a minute, and keeps its keys for an hour", async () => {
  const set = JSON.stringify({ keys: [await jwk("a")] });
  let served: string | number = 503;
  const { keys, calls, clock } = remote(() => served);
  const one = client({ jwksUri: URI });
  for (let look = 0; look < 3; look++) await assert.rejects(has(keys, one, "a"), ClientKeysUnavailable);
  assert.equal(calls.length, 1);
  clock.advance(MINUTE);
  served = set;
  assert.ok(await has(keys, one, "a"));
  served = 503;
  clock.advance(59 * MINUTE);
  assert.ok(await has(keys, one, "a"));
  clock.advance(MINUTE);
  await assert.rejects(has(keys, one, "a"), ClientKeysUnavailable);
});

test("redirects, HTML, failures and sets without a usable key yield no key", async () => {
  const set = JSON.stringify({ keys: [await jwk("a")] });
  const outcomes: Array<() => string | [status: number, body: string]> = [
    () => [302, set],
    () => [404, set],
    () => [206, set],
    () => "<html>",
    () => {
      throw new OutboundFailure("forbidden-address", "inner");
    },
  ];
  for (const outcome of outcomes) {
    const { keys } = remote(outcome);
    await assert.rejects(has(keys, client({ jwksUri: URI }), "a"), ClientKeysUnavailable);
  }
  const { keys } = remote(() => JSON.stringify({ keys: [{ kty: "oct", k: "AA", kid: "a" }] }));
  assert.ok(!(await has(keys, client({ jwksUri: URI }), "a")));
});

test("a client with a hanging URL doesn't delay others", async () => {
  const set = JSON.stringify({ keys: [await jwk("a")] });
  const { keys } = remote((url) => (url === URI ? set : new Promise<string>(() => {})));
  void has(keys, client({ jwksUri: "https://hangs.example/" }, "slow"), "a");
  assert.ok(await has(keys, client({ jwksUri: URI }), "a"));
});

test("fetches a changed URL immediately", async () => {
  const set = JSON.stringify({ keys: [await jwk("a")] });
  const { keys, calls } = remote(() => set);
  await has(keys, client({ jwksUri: URI }), "a");
  await has(keys, client({ jwksUri: `${URI}/new` }, "one", 2), "a");
  assert.deepEqual(calls, [URI, `${URI}/new`]);
});
