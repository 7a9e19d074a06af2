/** OpenID conformance: discovery. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCustomScope } from "../core/scopes/custom-scopes.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { forEachProvider, metadataOf } from "../testing/fakes/provider.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { credentials, postForm } from "../testing/fixtures/client.ts";
import { giveFullProfile } from "../testing/fixtures/full-profile.ts";
import { answerOf, visit } from "../testing/fixtures/visit.ts";
import { payloadOf, sendRaw } from "../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestService,
} from "../testing/test-service.ts";

const strings = (value: unknown): string[] => {
  assert.ok(Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"));
  return value as string[];
};

forEachProvider((provider) => {
  test("publishes the metadata that applications look for", async () => {
    const metadata = await metadataOf(provider());
    const { issuer } = provider().org;
    for (const [name, path] of [
      ["jwks_uri", ".well-known/jwks.json"],
      ["authorization_endpoint", "authorize"],
      ["token_endpoint", "token"],
      ["userinfo_endpoint", "userinfo"],
      ["end_session_endpoint", "end_session"],
      ["introspection_endpoint", "introspect"],
      ["revocation_endpoint", "revoke"],
      ["device_authorization_endpoint", "device"],
    ] as const)
      assert.equal(metadata[name], `${issuer}/${path}`, name);
    for (const name of ["response_types", "subject_types", "claims", "scopes"])
      strings(metadata[`${name}_supported`]);
    assert.deepEqual(metadata["code_challenge_methods_supported"], ["S256"]);
    for (const name of [
      "authorization_response_iss_parameter_supported",
      "backchannel_logout_supported",
      "backchannel_logout_session_supported",
    ])
      assert.equal(metadata[name], true, name);
  });

  test("lists RS256 for ID tokens, and never the algorithm none", async () => {
    const metadata = await metadataOf(provider());
    assert.ok(strings(metadata["id_token_signing_alg_values_supported"]).includes("RS256"));
    const lists = Object.entries(metadata).filter(([name]) => name.includes("_alg_values_supported"));
    for (const [name, values] of lists) assert.ok(!strings(values).includes("none"), name);
  });

  test("lists only response modes, prompts, acr values and languages that work", async () => {
    const { org, source, clock } = provider();
    const metadata = await metadataOf(provider());
    const ask = (more: Record<string, string>) => visit(source.browser, org, { more });
    await source.code();
    clock.advance(1_000);
    for (const mode of strings(metadata["response_modes_supported"])) {
      const page = await ask({ response_mode: mode });
      const { search = "", hash = "" } = URL.parse(page.location ?? "") ?? {};
      const places: Record<string, string> = { query: search, fragment: hash, form_post: page.body };
      const isSigned = mode.endsWith("jwt");
      const place = places[mode.replace(/\.?jwt$/, "") || "query"] ?? "";
      const response = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(place)?.[0];
      const told = isSigned ? JSON.stringify(response && payloadOf(response)) : place;
      assert.match(told, /sgn_ac_/, mode);
    }
    for (const prompt of strings(metadata["prompt_values_supported"])) {
      const page = await ask({ prompt });
      assert.equal(page.location !== undefined && answerOf(page).has("code"), prompt === "none", prompt);
    }
    for (const value of strings(metadata["acr_values_supported"])) {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, value } } });
      const page = await ask({ claims });
      assert.ok(page.status === 200 || answerOf(page).has("code"), value);
    }
    for (const language of strings(metadata["ui_locales_supported"])) {
      const page = await visit(testBrowser(), org, { more: { ui_locales: language } });
      assert.match(page.body, new RegExp(`<html lang="${language}"`));
    }
  });

  test("lists only grant types that work", async () => {
    const { org, running } = provider();
    const grantTypes = strings((await metadataOf(provider()))["grant_types_supported"]);
    const settings = { redirectUris: [REDIRECT_URI], grantTypes } as Parameters<typeof makeClient>[2];
    const client = await makeClient(running.service, org.organisation, settings);
    const error = async (grantType: string) => {
      const form = { grant_type: grantType, ...credentials(client) };
      return (await postForm(`${org.issuer}/token`, form)).body["error"];
    };
    for (const grantType of grantTypes)
      assert.ok([undefined, "invalid_request"].includes((await error(grantType)) as string), grantType);
    assert.equal(await error("password"), "unsupported_grant_type");
  });

  test("lists only scopes that can be granted and claims that can be returned", async () => {
    const { org, running, source } = provider();
    await giveFullProfile(running.service, org);
    const department = { name: "tier", source: "static", value: "gold" } as const;
    await createCustomScope(running.service, {
      orgId: org.organisation.id,
      name: "hr",
      displayName: "HR",
      description: "What it is",
      sensitive: false,
      claims: [department],
      actor: "test",
    });
    const metadata = await metadataOf(provider());
    const scopes = strings(metadata["scopes_supported"]);
    const settings = { redirectUris: [REDIRECT_URI], allowedScopes: scopes };
    const client = await makeClient(running.service, org.organisation, settings);
    const { body, idToken, accessToken } = await source.tokens(
      { scope: scopes.join(" "), nonce: "n" },
      client,
    );
    assert.equal(body["scope"], scopes.join(" "));
    const headers = { authorization: `Bearer ${accessToken}` };
    const told = { ...payloadOf(idToken), ...(await sendRaw(`${org.issuer}/userinfo`, { headers })).body };
    const listed = strings(metadata["claims_supported"]);
    assert.deepEqual([...listed].sort(), Object.keys(told).sort());
  });
});

describe("with an https base URL", () => {
  let running: TestService;
  before(async () => {
    const databaseUrl = "sqlite::memory:";
    const baseUrl = "https://id.example";
    running = await startTestService({ databaseUrl, baseUrl, passwords: quickPasswords });
  });
  after(() => running.close());

  test("every URL in discovery is https", async () => {
    const { organisation } = await makeOrganisation(running.service);
    const { body } = await sendRaw(
      `${running.baseUrl}/oauth/${organisation.id}/.well-known/openid-configuration`,
      {},
    );
    const addresses = Object.entries(body).filter(([name]) => /^issuer$|_endpoint$|_uri$/.test(name));
    assert.ok(addresses.length >= 9);
    for (const [name, address] of addresses)
      assert.ok(String(address).startsWith(`https://id.example/oauth/${organisation.id}`), name);
    assert.doesNotMatch(JSON.stringify(body), /http:/);
  });
});
