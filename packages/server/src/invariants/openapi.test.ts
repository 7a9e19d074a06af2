// /openapi.json against the running service: every JSON route is documented, and the OAuth endpoints respond
// as documented. api-operations.test.ts checks the responses of the JSON APIs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { OpenApiDocument } from "../features/api-reference/openapi.ts";
import { openApiPaths } from "../features/api-reference/parameters.ts";
import { CONSOLE } from "../page-kit/page.ts";
import { authorizationRequest, testBrowser } from "../testing/fakes/browser.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../testing/fixtures/api-client.ts";
import {
  askUser,
  decideOn,
  makeCibaClient,
  openNewest,
  pollRequest,
  requestAuthentication,
} from "../testing/fixtures/ciba.ts";
import { credentials, getTokens, postForm, refresh } from "../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode, makeDeviceApp, poll } from "../testing/fixtures/device.ts";
import { registration } from "../testing/fixtures/registration.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { type RecordedAnswer, recordAnswers } from "../testing/probes/answer-recorder.ts";
import { type CheckedResponse, responseChecker, schemaChecks } from "../testing/probes/described-answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const NO_ID = "00000000-0000-7000-8000-000000000000";
/** Files, images and languages: one that is not there is told like any address without a route. */
const BY_NAME = ["/assets/:file", "/downloads/:file", "/language/:locale", "/oauth/:org/images/:digest"];
/** What the command menu of the console finds, for its script alone. */
const SEARCH = `${CONSOLE}/search`;

let running: TestService;
let org: TestOrganisation;
let document: OpenApiDocument;
before(async () => {
  running = await startTestService({
    databaseUrl: "sqlite::memory:",
    passwords: quickPasswords,
    demo: async () => ({ organisationIds: [], orgId: NO_ID, clientId: NO_ID, credentialsFile: "demo.json" }),
  });
  org = await makeOrganisation(running.service);
  document = (await (await fetch(`${running.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
});
after(() => running.close());

const routes = (await listRoutes()).filter(({ method }) => method !== "HEAD" && method !== "OPTIONS");
const described = (method: string, path: string) =>
  openApiPaths(path).map((one) => document.paths[one]?.[method.toLowerCase()]);

test("documents every route that responds with JSON", async () => {
  for (const { method, path } of routes) {
    if (
      [...BY_NAME, SEARCH].includes(path) ||
      described(method, path).every((operation) => operation !== undefined)
    )
      continue;
    // Not there: then it must be a page. A program gets no sign-in page, but is told that it isn't signed in, or asks in vain.
    const address = path.replace(":org", org.organisation.id).replaceAll(/:\w+\??/g, NO_ID);
    const answer = await fetch(`${running.baseUrl}${address}`, {
      method,
      redirect: "manual",
      headers: { accept: "application/json" },
      ...(method === "GET" ? {} : { body: new URLSearchParams() }),
    });
    const text = await answer.text();
    if (answer.status === 401 || answer.status === 405) continue;
    assert.doesNotMatch(answer.headers.get("content-type") ?? "", /json/, `${method} ${path}: ${text}`);
  }
});

test("every documented operation is a route", () => {
  const registered = routes.flatMap(({ method, path }) =>
    openApiPaths(path).map((one) => `${method.toLowerCase()} ${one}`),
  );
  const written = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  assert.deepEqual(
    written.filter((one) => !registered.includes(one)),
    [],
  );
  assert.ok(written.length > 60, `${written.length} operations`);
});

test("every request and response has an example that matches its schema", () => {
  const fault = schemaChecks(document);
  const check = (name: string, content: Readonly<Record<string, { schema?: object; example?: unknown }>>) => {
    for (const media of Object.values(content)) {
      assert.ok(media.schema && media.example !== undefined, name);
      assert.equal(
        fault(media.schema, media.example),
        undefined,
        `${name}: ${JSON.stringify(media.example)}`,
      );
    }
  };
  for (const methods of Object.values(document.paths))
    for (const { operationId, requestBody, responses } of Object.values(methods)) {
      check(`${operationId}: body`, requestBody?.content ?? {});
      for (const [status, response] of Object.entries(responses))
        if (!("$ref" in response)) check(`${operationId} ${status}`, response.content ?? {});
    }
  for (const [name, response] of Object.entries(document.components.responses))
    check(name, response.content ?? {});
});

test("every reference resolves", () => {
  const text = JSON.stringify(document);
  const references = new Set(
    [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)].map(([, ...at]) => at.join(" ")),
  );
  assert.ok(references.size > 20);
  for (const reference of references) {
    const [kind = "", name = ""] = reference.split(" ");
    const components = document.components as unknown as Record<string, Record<string, unknown>>;
    assert.ok(components[kind]?.[name], reference);
  }
  const schemes = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ security }) => security.flatMap((one) => Object.keys(one))),
  );
  assert.deepEqual([...new Set(schemes)].sort(), Object.keys(document.components.securitySchemes).sort());
});

describe("OAuth responses match the OpenAPI document", () => {
  let answers: RecordedAnswer[];
  const judged: CheckedResponse[] = [];
  before(() => {
    answers = recordAnswers(running.app.server);
  });
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  /** Looks at what was answered since the last look; these statuses must have been among it. */
  const expect = (operationId: string, ...statuses: number[]) => {
    const judge = responseChecker(document);
    const news = answers.splice(0).flatMap((answer) => judge(answer) ?? []);
    judged.push(...news);
    assert.deepEqual(
      news.flatMap(({ fault }) => fault ?? []),
      [],
    );
    const seen = new Set(news.filter((one) => one.operationId === operationId).map(({ status }) => status));
    assert.deepEqual([...seen].sort(), statuses.toSorted(), operationId);
  };

  test("the token endpoint, with every grant type", async () => {
    const { refreshToken } = await getTokens(org, { scope: "openid profile email offline_access" });
    await refresh(org, refreshToken);
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    await postForm(`${org.issuer}/token`, form);
    await postForm(`${org.issuer}/token`, { ...form, client_secret: "x" });
    await postForm(`${org.issuer}/token`, {
      grant_type: "refresh_token",
      refresh_token: "x",
      ...credentials(org.web),
    });
    await postForm(`${running.baseUrl}/oauth/${NO_ID}/token`, form);
    await fetch(`${org.issuer}/token`, { method: "POST", body: "{}", headers: { "content-type": "text/x" } });
    await fetch(`${org.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({ a: "x".repeat(70_000) }),
    });
    expect("requestToken", 200, 400, 401, 404, 413, 415);
  });

  test("the device authorization endpoint, and the token endpoint with a device code", async () => {
    const television = await makeDeviceApp(running.service, org);
    await poll(org, await askForCodes(org, television));
    const codes = await askForCodes(org, television);
    await decideDeviceCode(testBrowser(), org, codes);
    await poll(org, codes);
    expect("requestToken", 200, 400);
    await askForCodes(org, television);
    await postForm(`${org.issuer}/device`, { client_id: org.web.application.id });
    await postForm(`${org.issuer}/device`, { ...credentials(org.web) });
    await postForm(`${running.baseUrl}/oauth/${NO_ID}/device`, {});
    expect("startDeviceGrant", 200, 400, 401, 404);
  });

  test("backchannel authentication, and the token endpoint with an auth_req_id", async () => {
    const client = await makeCibaClient(running.service, org);
    const asked = await askUser(org, client);
    const browser = testBrowser();
    await decideOn(browser, await openNewest(browser, org));
    await pollRequest(org, asked);
    await requestAuthentication(org, client, { login_hint: "nobody@acme.example" });
    await requestAuthentication(org, { ...client, secret: "wrong" }, {});
    await postForm(`${running.baseUrl}/oauth/${NO_ID}/bc-authorize`, {});
    expect("requestBackchannelAuthentication", 200, 400, 401, 404);
  });

  test("introspection and revocation", async () => {
    const { accessToken, refreshToken } = await getTokens(org, { scope: "openid profile offline_access" });
    const ask = (path: string, more: Record<string, string>) => postForm(`${org.issuer}/${path}`, more);
    for (const token of [accessToken, refreshToken, "x"])
      assert.equal((await ask("introspect", { token, ...credentials(org.web) })).status, 200);
    const batch = { grant_type: "client_credentials", ...credentials(org.batch) };
    const own = String((await ask("token", batch)).body["access_token"]);
    assert.equal((await ask("introspect", { token: own, ...credentials(org.batch) })).body["active"], true);
    await ask("introspect", { token: own });
    await ask("introspect", credentials(org.batch));
    expect("introspectToken", 200, 400, 401);
    await ask("revoke", { token: refreshToken, ...credentials(org.web) });
    await ask("revoke", { token: own, ...credentials(org.web) });
    await ask("revoke", { token: own });
    expect("revokeToken", 200, 400, 401);
  });

  test("the userinfo endpoint", async () => {
    const scope = "openid profile email phone";
    const { accessToken } = await getTokens(org, { scope });
    const batch = { grant_type: "client_credentials", ...credentials(org.batch) };
    const other = String((await postForm(`${org.issuer}/token`, batch)).body["access_token"]);
    for (const method of ["GET", "POST"]) {
      const at = `${org.issuer}/userinfo`;
      await fetch(at, { method, ...bearer(accessToken) });
      await fetch(at, { method, ...bearer("x") });
      await fetch(at, { method, ...bearer(other) });
      await fetch(`${at}?access_token=x`, { method });
      await fetch(`${running.baseUrl}/oauth/${NO_ID}/userinfo`, { method });
      expect(method === "GET" ? "getUserinfo" : "postUserinfo", 200, 400, 401, 403, 404);
    }
  });

  test("the pages of what a token leaves out", async () => {
    const claims = ["roles", "groups", "permissions"];
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], allowedScopes: ["openid", ...claims] },
    });
    const { accessToken } = await getTokens(org, { scope: `openid ${claims.join(" ")}` }, client);
    const { accessToken: other } = await getTokens(org);
    for (const claim of claims) {
      const at = `${org.issuer}/userinfo/${claim}`;
      await fetch(at, bearer(accessToken));
      await fetch(`${at}?limit=0`, bearer(accessToken));
      await fetch(at, bearer("x"));
      await fetch(at, bearer(other));
      await fetch(`${running.baseUrl}/oauth/${NO_ID}/userinfo/${claim}`);
      expect(`list${claim[0]?.toUpperCase()}${claim.slice(1)}OfToken`, 200, 400, 401, 403, 404);
    }
  });

  test("the consents endpoint", async () => {
    const { accessToken } = await getTokens(org);
    const records = `${org.issuer}/user/consents`;
    const list = (await (await fetch(records, bearer(accessToken))).json()) as { items: { id: string }[] };
    await fetch(records, bearer("x"));
    await fetch(records.replace(org.organisation.id, NO_ID), bearer("x"));
    expect("listUserConsents", 200, 401, 404);
    const revoke = (id: string, token: string) =>
      fetch(`${records}/${id}/revoke`, { method: "POST", ...bearer(token) });
    await revoke(NO_ID, accessToken);
    await revoke(NO_ID, "x");
    await revoke(list.items[0]?.id ?? "", accessToken);
    expect("revokeUserConsent", 204, 401, 404);
  });

  test("discovery, JWKS, health and the OpenAPI document itself", async () => {
    for (const [operationId, path] of [
      ["getDiscoveryDocument", "/oauth/{org}/.well-known/openid-configuration"],
      ["getKeySet", "/oauth/{org}/.well-known/jwks.json"],
      ["getAuthorizationServerMetadata", "/.well-known/oauth-authorization-server/oauth/{org}"],
      ["getAuthorizationServerMetadataBelowIssuer", "/oauth/{org}/.well-known/oauth-authorization-server"],
      ["getDiscoveryDocumentAtRoot", "/.well-known/openid-configuration/oauth/{org}"],
    ] as const) {
      const address = (id: string) => `${running.baseUrl}${path.replace("{org}", id)}`;
      const first = await fetch(address(org.organisation.id));
      const etag = { "if-none-match": first.headers.get("etag") ?? "" };
      await fetch(address(org.organisation.id), { headers: etag });
      await fetch(address(NO_ID));
      expect(operationId, 200, 304, 404);
    }
    for (const path of ["livez", "healthz", "readyz", "openapi.json"])
      await fetch(`${running.baseUrl}/${path}`);
    expect("getOpenApiDocument", 200);
  });

  test("the registration of clients", async () => {
    const api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const { body } = await api.call("POST", "/initial-access-tokens", { body: {} });
    const token = String(body["token"]);
    const client = { redirect_uris: ["https://agent.example/callback"] };
    const at = `${org.issuer}/register`;
    await registration("POST", at, token, {});
    const made = (await registration("POST", at, token, client)).body;
    await registration("POST", at, token, client);
    expect("registerClient", 201, 400, 401);
    const [uri, own] = [String(made["registration_client_uri"]), String(made["registration_access_token"])];
    await registration("PUT", uri, own, client);
    await registration("PUT", uri, own, { ...client, client_id: made["client_id"] });
    await registration("PUT", uri, "x", {});
    expect("replaceClientRegistration", 200, 400, 401);
    await registration("GET", uri, own);
    await registration("GET", uri, "x");
    expect("readClientRegistration", 200, 401);
    await registration("DELETE", uri, "x");
    await registration("DELETE", uri, own);
    expect("deleteClientRegistration", 204, 401);
  });

  test("every OAuth operation was tested, user endpoints with RS256 too", async () => {
    const settings = { idTokenSignedResponseAlg: "RS256", accessTokenSignedResponseAlg: "PS256" } as const;
    const client = await makeClient(running.service, org.organisation, {
      ...settings,
      redirectUris: ["https://app.example/callback"],
    });
    await getTokens(org, { scope: "openid" }, client);
    const { parameters } = authorizationRequest(client.application.id, "https://app.example/callback");
    assert.equal(
      (await postForm(`${org.issuer}/par`, { ...parameters, ...credentials(client) })).status,
      201,
    );
    await fetch(`${org.issuer}/.well-known/jwks.json?again`);
    expect("getKeySet", 200);
    const seen = new Set(judged.map(({ operationId }) => operationId));
    const missing = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(
        ({ tags, operationId }) =>
          !seen.has(operationId) && (tags.includes("OAuth") || tags.includes("Service")),
      );
    assert.deepEqual(
      missing.map(({ operationId }) => operationId),
      [],
    );
  });
});
