import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testKey } from "../testing/signed-token.ts";
import { createTestProvider, ISSUER } from "../testing/test-provider.ts";
import { createHttp } from "./http.ts";
import { createKeySet } from "./key-set.ts";

describe("a provider's key set", () => {
  it("is fetched once for a thousand tokens, and not before the first", async () => {
    const { provider, keys, fetches } = await stage();
    assert.equal(fetches(), 0);
    const found = await Promise.all(Array.from({ length: 1000 }, () => keys.keyFor(provider.header)));
    assert.equal(fetches(), 1);
    assert.equal(new Set(found).size, 1);
  });

  it("is fetched again at once for an unknown kid: a key that replaces a compromised one is not refused for a minute", async () => {
    const { hostile, keys, provider } = await stage();
    await keys.keyFor(provider.header);
    for (const kid of ["key-2", "key-3", "key-4"]) {
      hostile.keys.push((await testKey(kid)).jwk);
      await keys.keyFor({ alg: "ES256", kid });
    }
  });

  it("is fetched for made-up kids only within a budget, which refills evenly", async () => {
    const { hostile, keys, provider, fetches } = await stage();
    await keys.keyFor(provider.header);
    const unknown = (kid: string) =>
      assert.rejects(keys.keyFor({ alg: "ES256", kid }), { code: "token_key_unknown" });
    await Promise.all(Array.from({ length: 100 }, (_, index) => unknown(`made-up-${index}`)));
    assert.equal(fetches(), 2, "concurrent tokens share a fetch");
    for (let index = 0; index < 100; index++) await unknown(`made-up-${index}`);
    assert.equal(fetches(), 11);
    hostile.advance(5.9);
    await unknown("made-up");
    assert.equal(fetches(), 11);
    hostile.keys.push((await testKey("key-2")).jwk);
    hostile.advance(0.1);
    await keys.keyFor({ alg: "ES256", kid: "key-2" });
    assert.equal(fetches(), 12);
    hostile.advance(60);
    for (let index = 0; index < 100; index++) await unknown(`later-${index}`);
    assert.equal(fetches(), 22);
  });

  it("survives an outage of the provider, even if the application's log fails", async () => {
    const hostile = await createTestProvider();
    const logs: readonly ((error: Error) => void)[] = [
      () => {
        throw new Error("log away");
      },
      async () => {
        throw new Error("log away");
      },
    ];
    for (const onError of logs) {
      const http = createHttp({ fetch: hostile.fetch }, { environment: "production" });
      const jwksUri = async () => `${ISSUER}/jwks`;
      const keys = createKeySet({ jwksUri, http, clock: hostile.clock, onError });
      const header = { alg: hostile.key.alg, kid: hostile.key.kid };
      await keys.keyFor(header);
      hostile.answers.set("/jwks", () => Promise.reject(new Error("away")));
      for (let hour = 0; hour < 3; hour++) {
        hostile.advance(3_600);
        await keys.keyFor(header);
      }
      // What nobody waits for fails behind the last call.
      await new Promise((resolve) => setImmediate(resolve));
      hostile.answers.delete("/jwks");
    }
  });

  it("forgets a withdrawn key once it is no longer fresh", async () => {
    const { hostile, keys, provider } = await stage();
    await keys.keyFor(provider.header);
    hostile.keys.splice(0, 1);
    hostile.advance(599);
    await keys.keyFor(provider.header);
    hostile.advance(1);
    await assert.rejects(keys.keyFor(provider.header), { code: "token_key_unknown" });
  });

  it("stays fresh as long as the provider says, at most an hour", async () => {
    const { hostile, keys, provider, fetches } = await stage();
    hostile.answers.set("/jwks", () =>
      Response.json({ keys: hostile.keys }, { headers: { "cache-control": "public, max-age=86400" } }),
    );
    await keys.keyFor(provider.header);
    hostile.advance(3599);
    await keys.keyFor(provider.header);
    assert.equal(fetches(), 1);
    hostile.advance(1);
    await keys.keyFor(provider.header);
    assert.equal(fetches(), 2);
  });

  it("is used for a day during an outage, which is reported", async () => {
    const { hostile, keys, provider, fetches, errors } = await stage();
    await keys.keyFor(provider.header);
    hostile.answers.set("/jwks", () => Response.json({}, { status: 503 }));
    hostile.advance(600);
    await Promise.all([keys.keyFor(provider.header), keys.keyFor(provider.header)]);
    await keys.keyFor(provider.header);
    assert.equal(fetches(), 2);
    assert.ok(errors.length > 0);
    hostile.advance(86_400 - 601);
    await keys.keyFor(provider.header);
    hostile.advance(1);
    await assert.rejects(keys.keyFor(provider.header), { code: "provider_unreachable" });
    hostile.answers.clear();
    await keys.keyFor(provider.header);
  });

  it("delays only the first request while the provider hangs", async () => {
    const { hostile, keys, provider, fetches } = await stage();
    await keys.keyFor(provider.header);
    hostile.answers.set("/jwks", () => Response.error());
    hostile.advance(600);
    await keys.keyFor(provider.header);
    let answer = (_: Response) => {};
    hostile.answers.set(
      "/jwks",
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    hostile.advance(60);
    const turns = async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      return "still waiting";
    };
    assert.notEqual(await Promise.race([keys.keyFor(provider.header), turns()]), "still waiting");
    assert.equal(fetches(), 3);
    answer(Response.json({ keys: hostile.keys }));
  });

  it("finds the key of a token without kid only if exactly one matches", async () => {
    const { hostile, keys } = await stage();
    hostile.keys.push({ ...(await testKey("key-2")).jwk, use: "enc" }, (await testKey("key-3", "EdDSA")).jwk);
    await keys.keyFor({ alg: "ES256" });
    await keys.keyFor({ alg: "EdDSA" });
    hostile.advance(600);
    hostile.keys.push((await testKey("key-4")).jwk);
    await assert.rejects(keys.keyFor({ alg: "ES256" }), { code: "token_key_untrusted" });
  });

  it("rejects invalid and oversized key sets", async () => {
    for (const body of [[], {}, { keys: {} }, { keys: Array(101).fill({}) }, "keys"]) {
      const { hostile, keys, provider } = await stage();
      hostile.answers.set("/jwks", () => Response.json(body));
      await assert.rejects(keys.keyFor(provider.header), { code: "provider_answer" });
    }
  });
});

async function stage() {
  const hostile = await createTestProvider();
  const errors: Error[] = [];
  const keys = createKeySet({
    jwksUri: async () => `${ISSUER}/jwks`,
    http: createHttp({ fetch: hostile.fetch }, { environment: "production" }),
    clock: hostile.clock,
    onError: (error) => errors.push(error),
  });
  const header = { alg: "ES256", kid: "key-1" };
  return { hostile, provider: { header }, keys, errors, fetches: () => hostile.calls.length };
}
