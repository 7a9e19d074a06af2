/** An application's page shows its last refused requests, each with the reason, the remedy and the way to the setting. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { LOCALES, messages } from "../../../html/messages/messages.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import {
  makeClient,
  startTestService,
  type TestClient,
  type TestService,
} from "../../../testing/test-service.ts";

const CALLBACK = "https://shop.example/callback";
const PRIVATE = "nobody-may-read-this";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let issuer: string;
  let console: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    issuer = `${running.baseUrl}/oauth/${org.organisation.id}`;
    console = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const client = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [CALLBACK],
      grantTypes: ["authorization_code"],
      allowedScopes: ["openid"],
      ...settings,
    });
  const pageOf = ({ application }: TestClient) => console.get(`/applications/${application.id}`);
  const authorize = ({ application }: TestClient, parameters: Record<string, string>) => {
    const complete = {
      client_id: application.id,
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "openid",
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      ...parameters,
    };
    const sent = Object.entries(complete).filter(([, value]) => value !== "");
    return testBrowser().get(`${issuer}/authorize?${new URLSearchParams(sent)}`);
  };
  const token = (of: TestClient, form: Record<string, string>) =>
    postForm(`${issuer}/token`, { ...credentials(of), ...form });
  const endSession = (of: TestClient, parameters: Record<string, string>) =>
    testBrowser().get(
      `${issuer}/end_session?${new URLSearchParams({ client_id: of.application.id, ...parameters })}`,
    );

  const code = { grant_type: "authorization_code", code: PRIVATE, redirect_uri: CALLBACK };
  /** What is sent, the remedy that is shown, and where it leads, below the application's page. */
  const faults: readonly [
    keyof ReturnType<typeof messages>["console"]["applications"]["refused"]["remedies"],
    (of: TestClient) => Promise<unknown>,
    string?,
    Partial<ApplicationSettings>?,
  ][] = [
    [
      "pkce-required",
      (of) => authorize(of, { code_challenge: "", code_challenge_method: "" }),
      "advanced#requirePkce",
    ],
    [
      "nonce-required",
      (of) => authorize(of, { code_challenge: "", code_challenge_method: "" }),
      "advanced#requireNonceWithoutPkce",
      { requirePkce: false, requireNonceWithoutPkce: true },
    ],
    ["pkce-method", (of) => authorize(of, { code_challenge_method: "plain" })],
    ["redirect-uri-missing", (of) => authorize(of, { redirect_uri: "" })],
    [
      "redirect-uri-unregistered",
      (of) => authorize(of, { redirect_uri: `${CALLBACK}/${PRIVATE}` }),
      "urls#redirectUris",
    ],
    ["response-type", (of) => authorize(of, { response_type: "id_token" })],
    ["request-object", (of) => authorize(of, { request: PRIVATE })],
    ["scope-malformed", (of) => authorize(of, { scope: "a\tb" })],
    ["scope-not-allowed", (of) => authorize(of, { scope: PRIVATE }), "access#allowedScopes"],
    [
      "resource-not-allowed",
      (of) => authorize(of, { resource: `https://${PRIVATE}.example` }),
      "tokens#allowedResources",
    ],
    ["secret-wrong", (of) => token(of, { ...code, client_secret: PRIVATE }), "secrets/new"],
    ["grant-not-allowed", (of) => token(of, { grant_type: "client_credentials" }), "tokens#grantTypes"],
    ["code-unusable", (of) => token(of, code)],
    [
      "authentication-method",
      ({ application }) => postForm(`${issuer}/revoke`, { client_id: application.id, token: PRIVATE }),
      "credentials#tokenEndpointAuthMethod",
    ],
    ["grant-not-allowed", (of) => postForm(`${issuer}/device`, credentials(of)), "tokens#grantTypes"],
    ["other", (of) => token(of, { grant_type: "authorization_code" })],
    ["hint-invalid", (of) => endSession(of, { id_token_hint: PRIVATE })],
    [
      "post-logout-redirect-uri-unregistered",
      (of) => endSession(of, { post_logout_redirect_uri: `https://${PRIVATE}.example` }),
      "urls#postLogoutRedirectUris",
    ],
  ];

  test("every fault is shown with its remedy, in every language, and leads to a field of its tab", async () => {
    for (const [reason, send, place, settings] of faults) {
      const of = await client(settings);
      assert.match((await pageOf(of)).body, /No refused requests\./);
      await send(of);
      for (const locale of LOCALES) {
        const { applications } = messages([locale]).console;
        const address = `${running.baseUrl}/oauth/manage/${org.organisation.id}/applications/${of.application.id}`;
        const { body } = await console.browser.get(address, { "accept-language": locale });
        assert.ok(body.includes(applications.refused.remedies[reason]), `${reason} ${locale}`);
      }
      const { body } = await pageOf(of);
      const row = /<tr role="row" id="refused-0">[\s\S]*?<\/tr>/.exec(body)?.[0] ?? "";
      const [, href] = /<a href="([^"]*)"/.exec(row) ?? [];
      const { pathname, hash } = new URL(href ?? "/", running.baseUrl);
      if (place === undefined) assert.equal(href, undefined, reason);
      else
        assert.ok(
          `${pathname}${hash}`.endsWith(`/applications/${of.application.id}/${place}`),
          `${reason}: ${href}`,
        );
      const [rest, field] = (place ?? "").split("#");
      if (field !== undefined) {
        const settings = await console.get(`/applications/${of.application.id}/${rest}`);
        assert.match(settings.body, new RegExp(`id="${field}"`), reason);
      }
      assert.doesNotMatch(body, new RegExp(PRIVATE), "no value of the request");
    }
    const rows = await running.service.database.query.selectFrom("refused_request").selectAll().execute();
    assert.ok(rows.length >= faults.length);
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(`${PRIVATE}|127\\.0\\.0\\.1`));
  });

  test("the last ten are shown, newest first, and those of other applications are not", async () => {
    const [of, other] = [await client(), await client()];
    await token(other, { grant_type: "password" });
    for (let time = 0; time < 11; time++) await token(of, code);
    await authorize(of, { response_type: "token" });
    const { body } = await pageOf(of);
    assert.equal([...body.matchAll(/id="refused-\d+"/g)].length, 10);
    assert.match(body, /id="refused-0"[\s\S]*?unsupported_response_type[\s\S]*?id="refused-1"/);
    assert.doesNotMatch(body, /unsupported_grant_type/);
  });

  test("what no developer has to do with is not shown", async () => {
    const of = await client();
    await authorize(of, { prompt: "none" });
    assert.match((await pageOf(of)).body, /No refused requests\./);
  });
});
