import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { createApplication, setApplicationStatus } from "../../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type Asked,
  answerOf,
  requestQuery,
  showsConsent,
  signInAndConsent,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
  });
  after(() => running.close());

  const ask = (asked: Asked = {}, added = "") =>
    testBrowser().get(`${org.issuer}/authorize?${requestQuery(org, asked)}${added}`);
  const client = async (settings: Parameters<typeof makeClient>[2]) =>
    (await makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI], ...settings }))
      .application.id;

  async function assertTold(asked: Asked, added: string, what: string) {
    const page = await ask(asked, added);
    assert.equal(page.status, 400, what);
    assert.equal(page.location, undefined, what);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/, what);
    assert.equal(page.headers.get("cache-control"), "no-store", what);
    assert.match(page.body, /<code>test-\w+<\/code>/, `${what}: the request's id`);
    assert.doesNotMatch(page.body, /login-submit/, what);
  }

  test("an invalid client_id or redirect_uri is shown on a page and never redirected", async () => {
    const { id } = org.web.application;
    const gone = await client({});
    await setApplicationStatus(running.service, {
      orgId: org.organisation.id,
      id: gone,
      disabled: true,
      actor: "test",
    });
    const faults: ReadonlyArray<readonly [string, Asked, string?]> = [
      ["client_id missing", { more: { client_id: undefined } }],
      ["client_id empty", { more: { client_id: "" } }],
      ["client_id no UUID", { more: { client_id: "web" } }],
      ["client_id with something behind", { more: { client_id: `${id} ` } }],
      ["client_id oversized", { more: { client_id: "0".repeat(6_000) } }],
      ["client_id unknown", { more: { client_id: "0190a1b2-0000-7000-8000-000000000001" } }],
      ["client_id of another organisation", { clientId: other.web.application.id }],
      ["client_id of a disabled application", { clientId: gone }],
      ["client_id twice", {}, `&client_id=${id}`],
      ["redirect_uri missing", { more: { redirect_uri: undefined } }],
      ["redirect_uri empty", { more: { redirect_uri: "" } }],
      ["redirect_uri of nobody", { more: { redirect_uri: "https://evil.example/" } }],
      ["redirect_uri of another client", { more: { redirect_uri: "com.example.app:/callback" } }],
      ["redirect_uri relative", { more: { redirect_uri: "/callback" } }],
      ["redirect_uri twice, both good", {}, `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`],
      ["redirect_uri twice, the second bad", {}, "&redirect_uri=https%3A%2F%2Fevil.example%2F"],
      ["a malformed escape", {}, "&x=%zz"],
      ["bytes that are not UTF-8", {}, "&x=%ff"],
      ["a NUL", {}, "&x=%00"],
      ["more than a hundred parameters", {}, "&x=1".repeat(101)],
    ];
    for (const [what, asked, added = ""] of faults) await assertTold(asked, added, what);
  });

  test("every other error goes to the client with its state and the issuer", async () => {
    const service = await client({ grantTypes: ["client_credentials"] });
    const lax = await client({ requirePkce: false });
    const missing = (name: string) => ({ more: { [name]: undefined } });
    const faults: ReadonlyArray<readonly [string, Asked, string, string?]> = [
      ["response_type missing", missing("response_type"), "invalid_request"],
      ["response_type empty", { more: { response_type: "" } }, "invalid_request"],
      ["response_type token", { more: { response_type: "token" } }, "unsupported_response_type"],
      [
        "response_type of the hybrid flow",
        { more: { response_type: "code id_token" } },
        "unsupported_response_type",
      ],
      ["response_type in another case", { more: { response_type: "Code" } }, "unsupported_response_type"],
      ["response_mode unknown", { more: { response_mode: "web_message" } }, "invalid_request"],
      ["a request object", { more: { request: "e30.e30." } }, "request_not_supported"],
      ["a request address", { more: { request_uri: "https://app.example/r" } }, "request_uri_not_supported"],
      ["no grant for it", { clientId: service }, "unauthorized_client"],
      ["scope malformed", { more: { scope: 'openid "x' } }, "invalid_scope"],
      ["scope with nothing allowed", { more: { scope: "admin root" } }, "invalid_scope"],
      ["resource not allowed", { more: { resource: "https://api.example/" } }, "invalid_target"],
      [
        "PKCE omitted",
        { more: { code_challenge: undefined, code_challenge_method: undefined } },
        "invalid_request",
      ],
      ["PKCE empty", { more: { code_challenge: "", code_challenge_method: "" } }, "invalid_request"],
      ["PKCE method without challenge", missing("code_challenge"), "invalid_request"],
      [
        "the same of a client that needs none",
        { clientId: lax, ...missing("code_challenge") },
        "invalid_request",
      ],
      ["PKCE plain", { more: { code_challenge_method: "plain" } }, "invalid_request"],
      ["PKCE plain by leaving the method out", missing("code_challenge_method"), "invalid_request"],
      [
        "the same of a client that needs none",
        { clientId: lax, ...missing("code_challenge_method") },
        "invalid_request",
      ],
      ["PKCE too short", { more: { code_challenge: "a".repeat(42) } }, "invalid_request"],
      ["PKCE too long", { more: { code_challenge: "A".repeat(44) } }, "invalid_request"],
      ["PKCE with padding", { more: { code_challenge: `${"A".repeat(42)}=` } }, "invalid_request"],
      ["PKCE in a second spelling", { more: { code_challenge: `${"A".repeat(42)}B` } }, "invalid_request"],
      ["prompt unknown", { more: { prompt: "create" } }, "invalid_request"],
      ["prompt none with another", { more: { prompt: "none login" } }, "invalid_request"],
      ["max_age no number", { more: { max_age: "soon" } }, "invalid_request"],
      ["max_age negative", { more: { max_age: "-1" } }, "invalid_request"],
      ["max_age a fraction", { more: { max_age: "1.5" } }, "invalid_request"],
      ["max_age without bounds", { more: { max_age: "1".repeat(10) } }, "invalid_request"],
      ["nonce oversized", { more: { nonce: "n".repeat(513) } }, "invalid_request"],
      ["prompt=none and nobody there", { more: { prompt: "none" } }, "login_required"],
      ...[
        ["response_type", "code"],
        ["response_mode", "query"],
        ["scope", "openid"],
        ["nonce", "n"],
        ["code_challenge", "c"],
        ["code_challenge_method", "S256"],
        ["prompt", "login"],
        ["max_age", "1"],
        ["login_hint", "a"],
        ["id_token_hint", "a"],
        ["ui_locales", "en"],
      ].map(
        ([name, value]) =>
          [`${name} repeated`, {}, "invalid_request", `&${name}=${value}&${name}=${value}`] as const,
      ),
    ];
    for (const [what, { more = {}, ...asked }, error, added = ""] of faults) {
      const page = await ask({ ...asked, more: { state: "s ✓&=%", ...more } }, added);
      assert.equal(page.status, 302, what);
      assert.ok(page.location?.startsWith(`${REDIRECT_URI}?`), `${what}: ${page.location}`);
      const answer = answerOf(page);
      assert.equal(answer.get("error"), error, `${what}: ${answer}`);
      assert.match(answer.get("error_description") ?? "", /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, what);
      assert.equal(answer.get("state"), "s ✓&=%", what);
      assert.equal(answer.get("iss"), org.issuer, what);
      assert.deepEqual([...answer.keys()].sort(), ["error", "error_description", "iss", "state"], what);
      assert.equal(page.headers.get("cache-control"), "no-store", what);
    }
  });

  test("a repeated state is an error, and one that is too long is returned unchanged", async () => {
    const twice = answerOf(await ask({ more: { state: "a" } }, "&state=b"));
    assert.equal(twice.get("error"), "invalid_request");
    const state = "s".repeat(4_097);
    const long = answerOf(await ask({ more: { state } }));
    assert.equal(long.get("error"), "invalid_request");
    assert.equal(long.get("state"), state);
  });

  test("unknown, optional and empty parameters cause no error", async () => {
    const spoken: Asked["more"] = {
      display: "popup",
      ui_locales: "xx-YY de ;;; tlh",
      claims_locales: "da",
      acr_values: "urn:nobody:knows",
      login_hint: "who ever@acme.example",
      nonce: undefined,
      state: undefined,
      prompt: "",
      max_age: "",
      response_mode: "",
      utm_source: "mail",
      "": "nameless",
      constructor: "x",
    };
    const page = await ask({ more: spoken }, "&utm_source=again&&=&unknown");
    assert.equal(page.status, 200);
    assert.match(page.body, /login-submit/);
    const answer = answerOf(await signInAndConsent(testBrowser(), org, { more: spoken }));
    assert.deepEqual([...answer.keys()].sort(), ["code", "iss"]);
  });

  test("disallowed scopes are dropped, and the default is openid", async () => {
    const few = await client({ allowedScopes: ["openid", "email"] });
    const asked = (scope: string | undefined) => ({ clientId: few, more: { scope, prompt: "consent" } });
    for (const [scope, shown] of [
      ["openid email phone root", ["openid", "email"]],
      ["email email", ["email"]],
      [" email  openid ", ["email", "openid"]],
      [undefined, ["openid"]],
      ["", ["openid"]],
    ] as const) {
      const browser = testBrowser();
      const login = await browser.get(`${org.issuer}/authorize?${requestQuery(org, asked(scope))}`);
      const { email, password } = org.user;
      let page = await browser.post(`${org.issuer}/login`, { ...login.hidden, email, password });
      while (page.location) page = await browser.get(page.location);
      assert.ok(showsConsent(page));
      assert.deepEqual(
        [...page.body.matchAll(/data-scope="([^"]+)"/g)].map(([, name]) => name),
        shown,
      );
    }
  });

  test("several resources can be requested", async () => {
    const resources = ["https://api.example/a", "https://api.example/b"];
    const clientId = await client({ allowedResources: resources, requireConsent: false });
    const added = resources.map((uri) => `&resource=${encodeURIComponent(uri)}`).join("");
    assert.equal((await ask({ clientId }, added)).status, 200);
    const strange = `${added}&resource=${encodeURIComponent("https://api.example/c")}`;
    assert.equal(answerOf(await ask({ clientId }, strange)).get("error"), "invalid_target");
  });

  test("the longest accepted request receives its code, and a longer one is rejected immediately", async () => {
    const longest = { state: "\u0001".repeat(900), nonce: "n".repeat(512), login_hint: "é".repeat(200) };
    const answer = answerOf(await signInAndConsent(testBrowser(), org, { more: longest }));
    assert.ok(answer.get("code"), `${answer}`);
    assert.equal(answer.get("state"), longest.state);
    // Sealed flows are compressed: what is random stays long.
    const random = (length: number) => randomBytes(length).toString("base64url").slice(0, length);
    for (const more of [
      { state: random(4_000), ui_locales: random(9_000) },
      { id_token_hint: random(12_000) },
    ]) {
      const refused = answerOf(await ask({ more }));
      assert.equal(refused.get("error"), "invalid_request");
      assert.equal(refused.get("state"), "state" in more ? more.state : refused.get("state"));
    }
  });

  test("the loopback port of a client that is not native matches exactly", async () => {
    const registered = "http://127.0.0.1:3000/done";
    for (const clientType of ["confidential", "public", "spa"] as const) {
      const { id: clientId } = await createApplication(running.service, {
        orgId: org.organisation.id,
        name: "Local",
        clientType,
        settings: { redirectUris: [registered] },
        actor: "test",
      });
      const status = async (redirectUri: string) =>
        (await testBrowser().get(`${org.issuer}/authorize?${requestQuery(org, { clientId, redirectUri })}`))
          .status;
      assert.notEqual(await status(registered), 400, clientType);
      assert.equal(await status("http://127.0.0.1:3001/done"), 400, clientType);
      assert.equal(await status("http://127.0.0.1/done"), 400, clientType);
    }
  });

  test("redirects to private-use schemes and loopback ports work", async () => {
    const native = await createApplication(running.service, {
      orgId: org.organisation.id,
      name: "Phone",
      clientType: "native",
      settings: {
        redirectUris: ["com.example.phone:/done", "http://127.0.0.1/done?keep=%2F"],
        requireConsent: false,
      },
      actor: "test",
    });
    const browser = testBrowser();
    const app = await signInAndConsent(browser, org, {
      clientId: native.id,
      redirectUri: "com.example.phone:/done",
    });
    assert.match(app.location ?? "", /^com\.example\.phone:\/done\?code=/);
    const redirectUri = "http://127.0.0.1:51234/done?keep=%2F";
    const local = await browser.get(
      `${org.issuer}/authorize?${requestQuery(org, { clientId: native.id, redirectUri })}`,
    );
    assert.ok(local.location?.startsWith(`${redirectUri}&code=`), String(local.location));
  });
});
