/** Whatever stands in a request, a filter answers it: it neither throws nor lets anybody in, and blames nobody but the caller. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { createFilter } from "./create-filter.ts";
import type { Filter } from "./filter.ts";
import { bearer, federated, legacy, systemAccount } from "./testing/configurations.ts";
import { createTestProvider } from "./testing/test-provider.ts";

const numRuns = process.env["SIGNET_TEST_WHOLE"] === "1" ? 50_000 : 300;
const PUBLIC_KEY = "0197aaaa-0000-7000-8000-0000000000a1";

/** What a header can hold (RFC 9110 §5.5). */
const anyText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const base64url = fc.stringMatching(/^[A-Za-z0-9_-]{0,40}$/);
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"));
const header = fc
  .record(
    {
      alg: fc.constantFrom<unknown>("ES256", "RS256", "none", "HS256", 7),
      kid: fc.constantFrom<unknown>("key-1", "", "__proto__", null),
      typ: fc.constantFrom<unknown>("at+jwt", "JWT", "dpop+jwt", 1),
      jwk: fc.constantFrom<unknown>(
        { kty: "EC", crv: "P-256", x: "a", y: "b" },
        { kty: "oct", k: "a" },
        {},
        "x",
      ),
    },
    { requiredKeys: [] },
  )
  .map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"));
const token = fc
  .tuple(fc.oneof(base64url, json, header), fc.oneof(base64url, json), base64url)
  .map((parts) => parts.join("."));
const authorization = fc.oneof(
  anyText,
  fc
    .tuple(fc.constantFrom("Bearer ", "DPoP ", "bearer  ", "Basic "), fc.oneof(token, anyText))
    .map((parts) => parts.join("")),
  base64url.map((signature) => `${PUBLIC_KEY}:${signature}`),
);
const cookie = fc
  .tuple(
    fc.constantFrom("__Host-signet-session", "__Host-signet-session.1", "x"),
    fc.constantFrom("1~", "4~", ""),
    token,
  )
  .map(([name, count, value]) => `${name}=${count}${value}`);
const path = fc.oneof(
  fc.webPath(),
  fc
    .tuple(
      fc.constantFrom(
        "login?return_to=",
        "callback?state=",
        "callback?code=a&state=",
        "callback?service_key=",
        "logout?",
      ),
      anyText,
    )
    .map(([name, value]) => `/signet/${name}${encodeURIComponent(value)}`),
  fc.constantFrom("/signet/callback?error=%00%0d%0a", "/signet/logout", "/signet/back-channel-logout"),
);

const oddRequest = fc
  .record({
    path,
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "OPTIONS", "constructor"),
    headers: fc.record(
      {
        authorization,
        cookie: fc.array(cookie, { maxLength: 3 }).map((cookies) => cookies.join("; ")),
        dpop: fc.oneof(token, anyText),
        accept: fc.constantFrom("text/html", "application/json"),
        "sec-fetch-site": fc.constantFrom("same-origin", "cross-site", "none", "x"),
        "sec-fetch-mode": fc.constantFrom("navigate", "cors", "x"),
        "x-signet-timestamp": fc.oneof(anyText, fc.constant("1767225600")),
        "x-signet-nonce": anyText,
        referer: fc.oneof(anyText, fc.webUrl()),
        "content-type": fc.constantFrom("application/x-www-form-urlencoded", "application/json", "x"),
      },
      { requiredKeys: [] },
    ),
    body: fc.oneof(
      anyText,
      token.map((value) => `logout_token=${value}`),
    ),
  })
  .map(({ path: where, method, headers, body }) => {
    const address = `https://app.example${where}`;
    const init = { method, headers, ...(method === "POST" || method === "PUT" ? { body } : {}) };
    return new Request(address, init);
  });

describe("a malformed request", () => {
  const filters = new Map<string, Filter>();
  before(async () => {
    const { fetch, clock } = await createTestProvider();
    const options = { fetch, clock, secretKeyOf: () => "sgn_sa_secret" };
    const dpop = { ...bearer, baseUrl: "https://app.example" };
    for (const configuration of [federated, legacy, dpop, systemAccount])
      filters.set(configuration.filterType, createFilter(configuration, options));
  });

  for (const name of ["OAuthFederated", "UserFederated", "OAuthUserBearer", "SystemAccountExternal"])
    it(`gets a response from ${name}, and nobody is let in`, async () => {
      const filter = filters.get(name);
      assert.ok(filter);
      const answered = fc.asyncProperty(oddRequest, async (request) => {
        const result = await filter.authenticate(request);
        assert.equal(result.kind, "answer");
        const { status } = (result as { response: Response }).response;
        assert.ok(status < 500 || isProvider(request), `${status} for ${request.url}`);
      });
      await fc.assert(answered, { numRuns });
    });
});

/** Where a provider's answer is asked for, it may be the provider that is at fault. */
const isProvider = (request: Request): boolean => new URL(request.url).pathname === "/signet/callback";
