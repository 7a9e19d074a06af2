/**
 * `securityProfile` of the SDK against the service itself: FAPI 2.0 Security Profile and Message Signing as a web application, a
 * program and an API, with keys and with certificates.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import tls from "node:tls";
import {
  type ConfigurationProperties,
  clientCredentials,
  deviceGrant,
  type Filter,
  oauthFederated,
  oauthUserBearer,
  type Principal,
  SignetError,
} from "@signet/client-sdk";
import { apiClient } from "@signet/client-sdk/api";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { decodeJwt, decodeProtectedHeader, exportJWK } from "jose";
import { createClientAuthority } from "../../packages/server/src/core/client-authorities/client-authorities.ts";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { authorize, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { makeAgent, makePool } from "../../packages/server/src/testing/fixtures/agent.ts";
import {
  type CertificateFixture,
  certificateFixture,
} from "../../packages/server/src/testing/fixtures/certificate-fixture.ts";
import { requestKey } from "../../packages/server/src/testing/fixtures/request-object.ts";
import { makeClient } from "../../packages/server/src/testing/test-service.ts";

const BASE_URL = "https://app.example";
const CALLBACK = `${BASE_URL}/signet/callback`;
const AUDIENCE = "https://api.example";
const PAGE = { accept: "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const COOKIES = ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"];

type Profile = "fapi2" | "fapi2-message-signing";

forJourneyDatabases(({ fresh }) => {
  let fixture: CertificateFixture;
  let authorities: string[];
  before(async () => {
    fixture = await certificateFixture(await fresh());
    authorities = tls.getCACertificates("default");
    tls.setDefaultCACertificates([...authorities, fixture.listeners.own.cert]);
  });
  after(async () => {
    tls.setDefaultCACertificates(authorities);
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  type ClientSettings = Parameters<typeof makeClient>[2];

  /** An application of the profile with a key, and its configuration. */
  async function keyClient(profile: Profile, alg = "ES256", settings: ClientSettings = {}) {
    const { org, running } = fixture;
    const key = await requestKey(alg);
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [CALLBACK], requireConsent: false, jwks: { keys: [{ ...key.jwk }] } },
      ...{ tokenEndpointAuthMethod: "private_key_jwt", dpopBoundAccessTokens: true },
      ...{ securityProfile: profile, requireDpopNonce: true, ...settings },
    });
    const { kid } = key;
    const oauthClientKey = { ...(await exportJWK(key.privateKey)), kid, alg };
    return { application, configuration: { ...address(application.id, profile), oauthClientKey } };
  }

  const address = (applicationId: string, securityProfile: Profile) => ({
    federationServer: fixture.running.baseUrl,
    oauthOrganisationId: fixture.org.organisation.id,
    ...{ applicationId, securityProfile },
  });

  /** A certificate of an authority that the organisation trusts, and an application that it authenticates. */
  async function certificateClient(settings: ClientSettings) {
    const { org, running } = fixture;
    const name = `Partner ${crypto.randomUUID()}`;
    const authority = testCertificate({ subject: name, isCa: true });
    await createClientAuthority(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      settings: { name, certificate: authority.pem, enabled: true },
    });
    const { application } = await fixture.application({
      ...{ tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSanDns: "client.partner.example" },
      ...{ redirectUris: [CALLBACK], requireConsent: false, tlsClientCertificateBoundAccessTokens: true },
      ...{ securityProfile: "fapi2", ...settings },
    });
    const shown = testCertificate({ subject: "x", issuer: authority, hosts: ["client.partner.example"] });
    return {
      ...address(application.id, "fapi2"),
      oauthClientCertificate: shown.pem.trim(),
      oauthClientCertificateKey: shown.privateKey.export({ format: "pem", type: "pkcs8" }).toString().trim(),
    };
  }

  type Answer = Awaited<ReturnType<Filter["authenticate"]>>;

  /** A browser at the application: its requests with its cookies. */
  function visitor(filter: Filter, errors: Error[] = []) {
    const cookies = new Map<string, string>();
    const go = async (path: string, other = filter): Promise<Answer> => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const result = await other.authenticate(
        new Request(`${BASE_URL}${path}`, { headers: { ...PAGE, cookie } }),
      );
      const set = result.kind === "answer" ? result.response.headers.getSetCookie() : result.cookies;
      for (const line of set) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/; Max-Age=0(?:;|$)/.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return result;
    };
    const locationOf = (result: Answer): URL => {
      assert.ok(result.kind === "answer", "sent elsewhere");
      assert.deepEqual(errors.map(String), []);
      return new URL(result.response.headers.get("location") ?? "");
    };
    /** @returns the response that the service sends back to the application, and what was asked */
    const askFor = async () => {
      const asked = locationOf(await go("/orders"));
      const { issuer, user } = fixture.org;
      const query = asked.searchParams.toString();
      return { asked, answer: await authorize(testBrowser(), { issuer, query, ...user }) };
    };
    const signIn = async () => {
      const sent = await askFor();
      assert.equal(locationOf(await go(`/signet/callback?${sent.answer}`)).href, `${BASE_URL}/orders`);
      return sent;
    };
    return { cookies, go, askFor, signIn };
  }

  function webApplication(configuration: ConfigurationProperties) {
    const errors: Error[] = [];
    const settings = { ...configuration, baseUrl: BASE_URL, cookieSecrets: COOKIES };
    const filter = oauthFederated(settings as Parameters<typeof oauthFederated>[0], {
      clock: fixture.clock,
      onError: (error) => void errors.push(error),
    });
    return { filter, errors };
  }

  const principalIn = (result: Answer): Principal => {
    assert.ok(result.kind === "authenticated", "signed in");
    return result.principal;
  };

  for (const [profile, alg] of [
    ["fapi2", "ES256"],
    ["fapi2", "EdDSA"],
    ["fapi2-message-signing", "ES256"],
    ["fapi2-message-signing", "PS256"],
  ] as const)
    test(`a web application signs people in with ${profile} and ${alg}, refreshes, and calls an API`, async () => {
      const { configuration } = await keyClient(profile, alg, {
        ...{ allowedScopes: ["openid", "email", "signet:applications:read"] },
        ...(profile === "fapi2"
          ? {}
          : { authorizationSignedResponseAlg: alg, userinfoSignedResponseAlg: alg }),
      });
      const oauthScopes = "openid email signet:applications:read";
      const { filter, errors } = webApplication({ ...configuration, oauthScopes });
      const browser = visitor(filter, errors);
      const { asked, answer } = await browser.signIn();
      assert.deepEqual([...asked.searchParams.keys()].sort(), ["client_id", "request_uri"], "all is pushed");
      const expected = profile === "fapi2" ? ["code", "iss", "state"] : ["response"];
      assert.deepEqual([...answer.keys()].sort(), expected);
      const first = principalIn(await browser.go("/orders"));
      assert.equal(first.user?.email, fixture.org.user.email);
      const { cnf } = decodeJwt(first.accessToken ?? "") as { cnf?: { jkt?: string } };
      assert.match(cnf?.jkt ?? "", /^[\w-]{43}$/);
      // Another process of the application, with the same cookie: the session has its key.
      fixture.clock.advance(3_590_000);
      const other = webApplication({ ...configuration, oauthScopes });
      const second = principalIn(await browser.go("/orders", other.filter));
      assert.notEqual(second.accessToken, first.accessToken);
      assert.deepEqual(decodeJwt(second.accessToken ?? "")["cnf"], cnf, "the same key");
      const userinfo = `${fixture.org.issuer}/userinfo`;
      assert.equal((await second.fetch?.(userinfo))?.status, 200);
      const bearer = { headers: { authorization: `Bearer ${second.accessToken}` } };
      assert.equal((await fetch(userinfo, bearer)).status, 401, "stolen, without the key");
      await assert.rejects(async () => second.fetch?.("http://api.example/"), { code: "configuration" });
      assert.deepEqual([...errors, ...other.errors], []);
    });

  test("message signing takes no response that is unsigned, another client's, or changed", async () => {
    const { configuration } = await keyClient("fapi2-message-signing");
    const another = await keyClient("fapi2-message-signing");
    const { filter, errors } = webApplication(configuration);
    const browser = visitor(filter, errors);
    const { answer } = await browser.askFor();
    const foreign = await visitor(webApplication(another.configuration).filter).askFor();
    const claims = decodeJwt(answer.get("response") ?? "") as { code: string; state: string; iss: string };
    const { code, state, iss } = claims;
    const refused = async (query: Record<string, string>, about: RegExp) => {
      const result = await browser.go(`/signet/callback?${new URLSearchParams(query)}`);
      assert.ok(result.kind === "answer" && result.error instanceof SignetError);
      assert.match(`${result.error.code} ${result.error.message}`, about);
      errors.length = 0;
    };
    await refused({ code, state, iss }, /^provider_answer .* is not signed/);
    await refused({ response: foreign.answer.get("response") ?? "" }, /^token_audience/);
    const [header, , signature] = (answer.get("response") ?? "").split(".");
    const forged = Buffer.from(JSON.stringify({ ...claims, code: "sgn_ac_other" })).toString("base64url");
    await refused({ response: `${header}.${forged}.${signature}` }, /^token_signature/);
    await refused({ response: "e30.e30.e30", code, state }, /^token_/);
    assert.equal(decodeProtectedHeader(answer.get("response") ?? "").alg, "ES256");
    // None of it has used up the sign-in.
    assert.equal((await browser.go(`/signet/callback?${answer}`)).kind, "answer");
    assert.equal(principalIn(await browser.go("/orders")).user?.permId, fixture.org.user.id);
  });

  test("message signing with a signing pool: responses and tokens of its agents alone", async (t) => {
    const { org, running } = fixture;
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const serving = agent.serve();
    t.after(() => serving.stop());
    const settings = { signingPoolId: pool.id, userinfoSignedResponseAlg: "ES256" } as const;
    const { configuration } = await keyClient("fapi2-message-signing", "ES256", settings);
    const pins = { sovereignSigningPoolId: pool.id, sovereignKeyThumbprints: [agent.keys[0]?.kid ?? ""] };
    const { filter, errors } = webApplication({ ...configuration, ...pins, oauthScopes: "openid email" });
    const browser = visitor(filter, errors);
    const { answer } = await browser.signIn();
    const claims = decodeJwt(answer.get("response") ?? "");
    assert.equal(claims.iss, `${org.issuer}/sovereign/pools/${pool.id}`);
    const { user, unsignedUserinfo } = principalIn(await browser.go("/orders"));
    // The email is in userinfo alone, which the agent has signed.
    assert.deepEqual([user?.permId, user?.email, unsignedUserinfo], [org.user.id, org.user.email, {}]);
    assert.deepEqual(errors, []);
  });

  test("a certificate in place of a key: authenticates, binds the tokens, opens userinfo", async () => {
    const configuration = await certificateClient({ allowedScopes: ["openid", "email"] });
    const { filter, errors } = webApplication({ ...configuration, oauthScopes: "openid email" });
    const browser = visitor(filter, errors);
    await browser.signIn();
    const principal = principalIn(await browser.go("/orders"));
    assert.equal(principal.user?.email, fixture.org.user.email);
    const { cnf } = decodeJwt(principal.accessToken ?? "") as { cnf?: Record<string, string> };
    assert.deepEqual(Object.keys(cnf ?? {}), ["x5t#S256"]);
    const userinfo = `${fixture.listeners.mtlsUrl}/oauth/${fixture.org.organisation.id}/userinfo`;
    assert.equal((await principal.fetch?.(userinfo))?.status, 200);
    const bearer = { headers: { authorization: `Bearer ${principal.accessToken}` } };
    assert.equal((await fetch(userinfo, bearer)).status, 401, "stolen, without the certificate");
    assert.deepEqual(errors, []);
  });

  test("a program's client credentials are bound to a key of its own, and API v1 takes them with its proofs", async () => {
    const { configuration } = await keyClient("fapi2", "ES256", {
      ...{ redirectUris: [], grantTypes: ["client_credentials"] },
      allowedScopes: ["signet:applications:read"],
    });
    const grant = { ...configuration, oauthScopes: "signet:applications:read" };
    const { clock } = fixture;
    const tokens = clientCredentials(grant, { clock });
    const url = `${fixture.running.baseUrl}/api/v1/organisations/${fixture.org.organisation.id}/scopes`;
    assert.equal((await tokens.fetch(url)).status, 200, "with the nonce that the first answer asks for");
    assert.equal((await tokens.fetch(url)).status, 200, "and with a proof of its own");
    const bearer = { headers: { authorization: `Bearer ${await tokens.token()}` } };
    assert.equal((await fetch(url, bearer)).status, 401);
    const api = apiClient(grant, { clock });
    const ids: string[] = [];
    for await (const { id } of api.applications.list()) ids.push(id);
    assert.ok(ids.includes(configuration.applicationId), ids.join(" "));
    await assert.rejects(deviceGrant(grant, { clock, onPrompt: () => {} }), { code: "configuration" });
  });

  test("an API of the profile takes bound tokens alone, and believes signed introspection alone", async () => {
    const api = await keyClient("fapi2-message-signing", "ES256", { audience: AUDIENCE });
    const machine = await keyClient("fapi2", "ES256", {
      ...{ redirectUris: [], grantTypes: ["client_credentials"], audience: AUDIENCE },
      allowedScopes: ["jobs:run"],
    });
    const plain = await makeClient(fixture.running.service, fixture.org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"], audience: AUDIENCE },
    });
    const { clock } = fixture;
    const introspections: (string | undefined)[] = [];
    let isTamperedWith = false;
    const spying: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (!String(url).endsWith("/introspect")) return response;
      introspections.push(response.headers.get("content-type") ?? undefined);
      return isTamperedWith ? Response.json({ active: true }) : response;
    };
    const settings = { ...api.configuration, oauthAudience: AUDIENCE, introspectTokens: true };
    const filter = oauthUserBearer({ ...settings, baseUrl: AUDIENCE }, { clock, fetch: spying });
    const through: typeof fetch = async (url, init) => {
      const request = new Request(url, init);
      if (!request.url.startsWith(AUDIENCE)) return fetch(request);
      const result = await filter.authenticate(request);
      if (result.kind === "answer") return result.response;
      return Response.json(result.kind === "authenticated" ? result.principal.subject : undefined);
    };
    const bound = clientCredentials(
      { ...machine.configuration, oauthScopes: "jobs:run" },
      { clock, fetch: through },
    );
    const taken = await bound.fetch(`${AUDIENCE}/jobs`);
    assert.equal(taken.status, 200);
    assert.equal(await taken.json(), machine.application.id);
    assert.deepEqual(introspections, ["application/token-introspection+jwt"]);
    isTamperedWith = true;
    assert.equal((await bound.fetch(`${AUDIENCE}/jobs`)).status, 502, "unsigned: nobody's word");
    isTamperedWith = false;
    const { application, secret } = plain;
    const unbound = clientCredentials(
      {
        ...{ federationServer: fixture.running.baseUrl, oauthOrganisationId: fixture.org.organisation.id },
        ...{ applicationId: application.id, oauthClientSecret: secret, oauthScopes: "jobs:run" },
      },
      { clock, fetch: through },
    );
    assert.equal((await unbound.fetch(`${AUDIENCE}/jobs`)).status, 401, "bound to nothing");
    assert.throws(() => oauthUserBearer(settings, { senderConstraint: "none" }), { code: "configuration" });
  });
});
