import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { setOrganisationStatus } from "../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { makePool } from "../../testing/fixtures/agent.ts";
import { sendRaw } from "../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let url: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    url = `${org.issuer}/.well-known/openid-configuration`;
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const rfc8414 = () => org.issuer.replace("/oauth/", "/.well-known/oauth-authorization-server/oauth/");

  test("derives the issuer from the URL, and every endpoint from the issuer", async () => {
    const { status, body, headers } = await sendRaw(url, {});
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(url, `${body["issuer"]}/.well-known/openid-configuration`);
    const endpoints = Object.entries(body).filter(([name]) => /_(endpoint|uri)$/.test(name));
    assert.deepEqual(Object.fromEntries(endpoints), {
      authorization_endpoint: `${org.issuer}/authorize`,
      token_endpoint: `${org.issuer}/token`,
      userinfo_endpoint: `${org.issuer}/userinfo`,
      jwks_uri: `${org.issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${org.issuer}/revoke`,
      introspection_endpoint: `${org.issuer}/introspect`,
      end_session_endpoint: `${org.issuer}/end_session`,
      device_authorization_endpoint: `${org.issuer}/device`,
      backchannel_authentication_endpoint: `${org.issuer}/bc-authorize`,
      registration_endpoint: `${org.issuer}/register`,
      pushed_authorization_request_endpoint: `${org.issuer}/par`,
    });
  });

  test("lists every member that OpenID Connect Discovery requires", async () => {
    const { body } = await sendRaw(url, {});
    assert.deepEqual(body["response_types_supported"], ["code"]);
    const plain = ["query", "fragment", "form_post"];
    const signed = ["jwt", ...plain.map((mode) => `${mode}.jwt`)];
    assert.deepEqual(body["response_modes_supported"], [...plain, ...signed]);
    assert.deepEqual(body["subject_types_supported"], ["public"]);
    assert.deepEqual(body["code_challenge_methods_supported"], ["S256"]);
    assert.deepEqual(body["scopes_supported"], [
      "openid",
      "profile",
      "email",
      "phone",
      "address",
      "offline_access",
      "roles",
      "groups",
      "permissions",
    ]);
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    const ciba = "urn:openid:params:grant-type:ciba";
    const named = ["jwt-bearer", "token-exchange"].map((name) => `urn:ietf:params:oauth:grant-type:${name}`);
    const grants = ["authorization_code", "refresh_token", "client_credentials", device, ...named, ciba];
    assert.deepEqual(body["grant_types_supported"], grants);
    const attested = ["attest_jwt_client_auth", "attest_jwt_client_auth_dpop"];
    const methods = ["client_secret_post", "client_secret_basic", "private_key_jwt", ...attested, "none"];
    assert.deepEqual(body["token_endpoint_auth_methods_supported"], methods);
    assert.deepEqual(body["introspection_endpoint_auth_methods_supported"], methods.slice(0, -1));
    assert.equal(body["authorization_response_iss_parameter_supported"], true);
    assert.equal(body["request_parameter_supported"], true);
    assert.equal(body["request_uri_parameter_supported"], false);
    assert.ok((body["id_token_signing_alg_values_supported"] as string[]).includes("RS256"));
    assert.ok(!(body["id_token_signing_alg_values_supported"] as string[]).includes("none"));
    const claims = body["claims_supported"] as string[];
    for (const claim of [
      "sub",
      "iss",
      "aud",
      "exp",
      "iat",
      "auth_time",
      "nonce",
      "name",
      "email",
      "phone_number",
      "phone_number_verified",
      "address",
      "locale",
      "updated_at",
    ])
      assert.ok(claims.includes(claim), claim);
  });

  test("lists only endpoints that respond", async () => {
    const { body } = await sendRaw(url, {});
    for (const [name, address] of Object.entries(body)) {
      if (!/_(endpoint|uri)$/.test(name)) continue;
      const post = /token|revocation|introspection|device/.test(name);
      const { status } = await sendRaw(String(address), { method: post ? "POST" : "GET" });
      assert.ok(status !== 404 && status < 500, `${name} ${status}`);
    }
  });

  test("serves the same document at every location that clients try", async () => {
    const { text } = await sendRaw(url, {});
    const { organisation, issuer } = org;
    for (const address of [
      rfc8414(),
      `${issuer}/.well-known/oauth-authorization-server`,
      `${running.baseUrl}/.well-known/openid-configuration/oauth/${organisation.id}`,
    ])
      for (let time = 0; time < 2; time++) {
        const answer = await sendRaw(address, {});
        assert.deepEqual([answer.status, answer.text], [200, text], address);
      }
    const pool = await makePool(running.service, org);
    const ofPool = `${issuer}/sovereign/pools/${pool.id}`;
    const { text: poolText } = await sendRaw(`${ofPool}/.well-known/openid-configuration`, {});
    for (const address of [
      `${ofPool}/.well-known/oauth-authorization-server`,
      ...["openid-configuration", "oauth-authorization-server"].map((name) =>
        ofPool.replace("/oauth/", `/.well-known/${name}/oauth/`),
      ),
    ]) {
      const answer = await sendRaw(address, {});
      assert.deepEqual([answer.status, answer.text], [200, poolText], address);
    }
  });

  test("answers preflight requests of discovery and keys for every origin", async () => {
    const pool = `${org.issuer}/sovereign/pools/${randomUUID()}`;
    const addresses = [org.issuer, pool].flatMap((issuer) =>
      ["openid-configuration", "oauth-authorization-server"].flatMap((name) => [
        `${issuer}/.well-known/${name}`,
        issuer.replace("/oauth/", `/.well-known/${name}/oauth/`),
      ]),
    );
    for (const address of [...addresses, `${org.issuer}/.well-known/jwks.json`, `${pool}/jwks.json`]) {
      const { status, headers } = await sendRaw(address, {
        method: "OPTIONS",
        headers: {
          origin: "https://stranger.example",
          "access-control-request-method": "GET",
          "access-control-request-headers": "x-requested-with",
        },
      });
      assert.equal(status, 204, address);
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.equal(headers.get("access-control-allow-methods"), "GET, HEAD");
      assert.equal(headers.get("access-control-allow-headers"), "*");
      assert.equal(headers.get("access-control-allow-credentials"), null);
    }
  });

  test("allows every origin to read the metadata, without credentials", async () => {
    for (const address of [url, rfc8414()]) {
      for (let time = 0; time < 2; time++) {
        const { headers } = await sendRaw(address, { headers: { origin: "https://stranger.example" } });
        assert.equal(headers.get("access-control-allow-origin"), "*");
        assert.equal(headers.get("access-control-allow-credentials"), null);
      }
    }
  });

  test("ignores Host and forwarding headers, cached or not", async () => {
    const path = new URL(url).pathname;
    const evil = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example;proto=https",
    };
    const unseen = await makeOrganisation(running.service, "Unseen");
    for (const at of [path, path.replace(org.organisation.id, unseen.organisation.id)]) {
      const { statusCode, body } = await running.app.inject({ url: at, headers: evil });
      assert.equal(statusCode, 200);
      assert.ok(!body.includes("evil") && !body.includes("https://"));
    }
    assert.ok(!(await sendRaw(url, {})).text.includes("evil"));
  });

  test("finds an upper-case organisation and keeps the issuer in lower case", async () => {
    const upper = url.replace(org.organisation.id, org.organisation.id.toUpperCase());
    const { status, body } = await sendRaw(upper, {});
    assert.equal(status, 200);
    assert.equal(body["issuer"], org.issuer);
  });

  test("removes the document of a disabled organisation immediately and restores it when enabled", async () => {
    const shut = await makeOrganisation(running.service, "Shut");
    const address = `${shut.issuer}/.well-known/openid-configuration`;
    const status = async () => (await sendRaw(address, {})).status;
    assert.deepEqual([await status(), await status()], [200, 200]);
    const change = { orgId: shut.organisation.id, actor: "test" };
    await setOrganisationStatus(running.service, { ...change, disabled: true });
    assert.deepEqual([await status(), await status()], [404, 404]);
    await setOrganisationStatus(running.service, { ...change, disabled: false });
    assert.equal(await status(), 200);
  });

  test("responds with 404 to unknown organisations and longer paths, and with 405 to other methods", async () => {
    const unknown = url.replace(org.organisation.id, "0197b0a0-0000-7000-8000-000000000000");
    for (const address of [
      unknown,
      `${url}/`,
      `${url}/x`,
      url.replace("openid", "OpenID"),
      url.replace("/oauth/", "//oauth/"),
    ])
      assert.equal((await sendRaw(address, {})).status, 404, address);
    for (const method of ["POST", "PUT", "DELETE"])
      assert.equal((await sendRaw(url, { method })).status, 405, method);
  });
});
