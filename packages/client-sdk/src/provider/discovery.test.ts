import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTestProvider, ISSUER, type TestProvider } from "../testing/test-provider.ts";
import { createProvider } from "./discovery.ts";
import { createHttp } from "./http.ts";

describe("a provider's metadata", () => {
  it("is fetched once for all callers, again after an hour, and cached during an outage", async () => {
    const hostile = await createTestProvider();
    const { metadata } = providerOf(hostile);
    const [first] = await Promise.all([metadata(), metadata(), metadata()]);
    assert.equal(first.token_endpoint, `${ISSUER}/token`);
    assert.deepEqual(hostile.calls, ["GET /.well-known/openid-configuration"]);
    hostile.answers.set("/.well-known/openid-configuration", () => Response.json({}, { status: 502 }));
    hostile.advance(3600);
    assert.equal((await metadata()).token_endpoint, `${ISSUER}/token`);
    assert.equal(hostile.calls.length, 2);
  });

  it("is not read from an unsuccessful response", async () => {
    for (const [status, code] of [
      [503, "provider_unreachable"],
      [404, "provider_answer"],
    ] as const) {
      const hostile = await createTestProvider();
      hostile.answers.set("/.well-known/openid-configuration", () =>
        Response.json(hostile.metadata, { status }),
      );
      await assert.rejects(providerOf(hostile).metadata(), { code });
    }
  });

  const wrong: readonly (readonly [string, Record<string, unknown>])[] = [
    ["another issuer", { issuer: "https://evil.example" }],
    ["an issuer with a slash more", { issuer: `${ISSUER}/` }],
    ["no issuer", { issuer: undefined }],
    ["no jwks_uri", { jwks_uri: undefined }],
    ["a jwks_uri that is no address", { jwks_uri: "/jwks" }],
    ["an endpoint that is a script", { authorization_endpoint: "javascript:alert(1)" }],
    ["an endpoint that is a list", { token_endpoint: [`${ISSUER}/token`] }],
    ["an alias that is no address", { mtls_endpoint_aliases: { token_endpoint: 1 } }],
  ];
  for (const [what, changes] of wrong) {
    it(`is rejected with ${what}`, async () => {
      const hostile = await createTestProvider();
      Object.assign(hostile.metadata, changes);
      await assert.rejects(providerOf(hostile).metadata(), { code: "provider_answer" });
      await assert.rejects(providerOf(hostile).keys.keyFor({ alg: "ES256", kid: "key-1" }), {
        code: "provider_answer",
      });
    });
  }

  it("can't lead the SDK to keys without encryption", async () => {
    const hostile = await createTestProvider();
    hostile.metadata["jwks_uri"] = "http://id.example/jwks";
    await assert.rejects(providerOf(hostile).keys.keyFor({ alg: "ES256", kid: "key-1" }), {
      code: "provider_answer",
    });
    assert.deepEqual(hostile.calls, ["GET /.well-known/openid-configuration"]);
  });

  it("is found for an issuer with a trailing slash", async () => {
    const hostile = await createTestProvider();
    Object.assign(hostile.metadata, { issuer: `${ISSUER}/` });
    assert.equal((await providerOf(hostile, `${ISSUER}/`).metadata()).issuer, `${ISSUER}/`);
  });
});

function providerOf(hostile: TestProvider, issuer = ISSUER) {
  const http = createHttp({ fetch: hostile.fetch }, { environment: "production" });
  return createProvider({ issuer, http, clock: hostile.clock });
}
