/** Rich authorization requests (RFC 9396): what is asked in detail, how it is consented to, and where it is told. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { changeDetailType, deleteDetailType } from "../../core/authorization-details/detail-types.ts";
import { grantOrganisationConsent } from "../../core/consents/consents.ts";
import { enableShared } from "../../core/shared-applications/shared-applications.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm, redeem, refresh } from "../../testing/fixtures/client.ts";
import { account, makeDetailType, payment } from "../../testing/fixtures/detail-types.ts";
import { requestKey, signClaims } from "../../testing/fixtures/request-object.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  showsConsent,
  showsLogin,
  visit,
} from "../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const both = ["payment", "account"];
const text = (...details: readonly unknown[]) => JSON.stringify(details);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    ({ org, client } = await bank());
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** An organisation with both types, and a client that may ask for them and whose users are not asked for scopes. */
  async function bank(settings: Partial<ApplicationSettings> = {}) {
    const org = await makeOrganisation(running.service, `Bank${crypto.randomUUID().slice(0, 8)}`);
    const { id } = org.organisation;
    const types = {
      payment: await makeDetailType(running.service, id, "payment"),
      account: await makeDetailType(running.service, id, "account"),
    };
    clock.advance(1_000);
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, authorizationDetailsTypes: both },
      ...settings,
    });
    return { org, client, types };
  }

  /** Signs in and comes to the page after it, or to the client. */
  async function ask(
    details: string | undefined,
    { browser = testBrowser(), more = {}, of = client, at = org } = {} as {
      browser?: ReturnType<typeof testBrowser>;
      more?: Readonly<Record<string, string>>;
      of?: TestClient;
      at?: TestOrganisation;
    },
  ) {
    const asked = { ...(details === undefined ? {} : { authorization_details: details }), ...more };
    const { query, verifier } = authorizationRequest(of.application.id, REDIRECT_URI, asked);
    let page = await follow(browser, await browser.get(`${at.issuer}/authorize?${query}`));
    if (showsLogin(page)) page = await logIn(browser, at, page);
    return { page, verifier, browser };
  }

  async function grant(details: string | undefined, asked: Parameters<typeof ask>[1] = {}) {
    const { page, verifier, browser } = await ask(details, asked);
    const end = showsConsent(page) ? await decide(browser, asked.at ?? org, page) : page;
    return { code: answerOf(end).get("code") ?? "", verifier, browser };
  }

  const tokensOf = async (details: string | undefined, asked: Parameters<typeof ask>[1] = {}) => {
    const { status, body } = await redeem(asked.at ?? org, await grant(details, asked), asked.of ?? client);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  const introspected = async (token: unknown, of = client, at = org) =>
    (await postForm(`${at.issuer}/introspect`, { token: String(token), ...credentials(of) })).body;

  test("details are shown in words, and told in the response, the token and by introspection", async () => {
    const { page, verifier, browser } = await ask(text(payment));
    assert.ok(showsConsent(page), "asked, though the application needs no consent to its scopes");
    assert.match(page.body, /data-words="Pay 12\.50 EUR to Grocer"/);
    assert.match(page.body, /Pay <bdi class="filled">12\.50<\/bdi> <bdi class="filled">EUR<\/bdi> to/);
    const code = answerOf(await decide(browser, org, page)).get("code") ?? "";
    const { status, body } = await redeem(org, { code, verifier }, client);
    assert.equal(status, 200);
    assert.deepEqual(body["authorization_details"], [payment]);
    assert.deepEqual(payloadOf(body["access_token"])["authorization_details"], [payment]);
    assert.deepEqual((await introspected(body["access_token"]))["authorization_details"], [payment]);
    assert.deepEqual((await introspected(body["refresh_token"]))["authorization_details"], [payment]);
    assert.equal("authorization_details" in payloadOf(body["id_token"]), false);
  });

  test("each request with details is consented to, the same as before too, and never silently", async () => {
    const { browser } = await grant(text(payment));
    for (const details of [text(payment), text({ ...payment, creditor: "Thief" })]) {
      const { page } = await ask(details, { browser });
      assert.ok(showsConsent(page), details);
      const silent = await ask(details, { browser, more: { prompt: "none" } });
      assert.equal(answerOf(silent.page).get("error"), "consent_required");
    }
    const without = await ask(undefined, { browser });
    assert.notEqual(answerOf(without.page).get("code"), null, "no details: nothing is asked");
  });

  test("a consent page whose details were exchanged decides nothing", async () => {
    const browser = testBrowser();
    const { page } = await ask(text(payment), { browser });
    const { page: other } = await ask(text({ ...payment, creditor: "Thief" }), { browser });
    const swapped = { ...page, hidden: { ...page.hidden, flow: other.hidden["flow"] ?? "" } };
    const end = await decide(browser, org, swapped);
    assert.ok(showsConsent(end), "asked again");
    assert.match(end.body, /to Thief"/);
  });

  test("denied details end in access_denied", async () => {
    const { page, browser } = await ask(text(payment));
    assert.equal(answerOf(await decide(browser, org, page, "deny")).get("error"), "access_denied");
  });

  test("values are bounded and cannot speak for the page", async () => {
    const creditor = `<script>alert(1)</script>\u202e"&${"x".repeat(300)}`;
    const { page } = await ask(text({ ...payment, creditor }));
    assert.doesNotMatch(page.body, /<script>alert|\u202e/);
    assert.match(page.body, /&lt;script&gt;alert/);
    assert.match(page.body, /x{100,200}…/);
    assert.doesNotMatch(page.body, /x{201}/);
  });

  test("an administrator's consent is none to details", async () => {
    const { org: at, client: of } = await bank({ consentMode: "organisation", requireConsent: true });
    await grantOrganisationConsent(running.service, {
      application: of.application,
      scopes: of.application.settings.allowedScopes,
      actor: "test",
    });
    const { page, browser, verifier } = await ask(text(payment), { of, at });
    assert.ok(showsConsent(page));
    const code = answerOf(await decide(browser, at, page)).get("code") ?? "";
    const { body } = await redeem(at, { code, verifier }, of);
    assert.deepEqual(body["authorization_details"], [payment]);
  });

  const wrong: Readonly<Record<string, string>> = {
    "bad JSON": "[{",
    "no array": JSON.stringify(payment),
    "an empty array": "[]",
    "no object": "[1]",
    "no type": "[{}]",
    "a type that is no text": '[{"type":1}]',
    "an unknown type": '[{"type":"loan"}]',
    "a name of every object": '[{"type":"constructor"}]',
    "against the schema": text({ ...payment, amount: { value: "12,50", currency: "EUR" } }),
    "beyond the schema": text({ ...payment, urgent: true }),
    "one wrong of two": text(payment, { ...account, actions: ["transfer"] }),
    "seventeen elements": text(...Array.from({ length: 17 }, () => payment)),
    "more than 8 KiB": text(...Array.from({ length: 9 }, () => ({ ...payment, creditor: "x".repeat(950) }))),
    "half a surrogate pair": '[{"type":"account","actions":["balances"],"iban":"\\ud800"}]',
    "too deep": `[{"type":"account","x":${"[".repeat(40)}${"]".repeat(40)}}]`,
  };
  for (const [what, details] of Object.entries(wrong))
    test(`${what}: invalid_authorization_details at authorize, PAR and in a request object`, async () => {
      const { page } = await ask(details);
      assert.equal(answerOf(page).get("error"), "invalid_authorization_details");
      const { parameters } = authorizationRequest(client.application.id, REDIRECT_URI, {
        authorization_details: details,
      });
      const pushed = await postForm(`${org.issuer}/par`, { ...parameters, ...credentials(client) });
      assertOAuthError(pushed, 400, "invalid_authorization_details");
    });

  test("sixteen elements are granted", async () => {
    const details = Array.from({ length: 16 }, (_, at) => ({ ...payment, creditor: `No ${at}` }));
    assert.deepEqual((await tokensOf(text(...details)))["authorization_details"], details);
  });

  test("a type is for the clients that may ask for it, while it is enabled, in its organisation", async () => {
    const { org: at, client: of, types } = await bank({ authorizationDetailsTypes: ["account"] });
    const error = async (details: string, who = of) =>
      answerOf((await ask(details, { of: who, at })).page).get("error");
    assert.equal(await error(text(payment)), "invalid_authorization_details");
    assert.ok(showsConsent((await ask(text(account), { of, at })).page));
    const act = { orgId: at.organisation.id, id: types.account.id, actor: "test" };
    await changeDetailType(running.service, { ...act, content: { enabled: false } });
    assert.equal(await error(text(account)), "invalid_authorization_details");
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const foreign = await makeClient(running.service, elsewhere.organisation, {
      ...{ redirectUris: [REDIRECT_URI], authorizationDetailsTypes: both },
    });
    const { page } = await ask(text(payment), { of: foreign, at: elsewhere });
    assert.equal(answerOf(page).get("error"), "invalid_authorization_details");
  });

  test("a shared application brings no types along: they would be those of another organisation", async () => {
    const { org: at } = await bank();
    const vendor = await makeOrganisation(running.service, `Vendor${crypto.randomUUID().slice(0, 8)}`);
    const home = await makeClient(running.service, vendor.organisation, {
      ...{ redirectUris: [REDIRECT_URI], authorizationDetailsTypes: both },
      shared: { organisations: [at.organisation.id] },
    });
    const { id } = home.application;
    await enableShared(running.service, { orgId: at.organisation.id, actor: "test", id, scopes: ["openid"] });
    const { page } = await ask(text(payment), { of: home, at });
    assert.equal(answerOf(page).get("error"), "invalid_authorization_details");
    const key = { orgId: vendor.organisation.id, id, actor: "test" };
    const settings = { ...home.application.settings, description: "Changed" };
    await changeApplication(running.service, key, ({ name }) => ({ name, settings, disabled: false }));
    const again = await ask(text(payment), { of: home, at });
    assert.equal(
      answerOf(again.page).get("error"),
      "invalid_authorization_details",
      "after a change at home",
    );
  });

  test("pushed and signed requests carry details; those outside a request object do not count", async () => {
    const key = await requestKey();
    const { org: at, client: of } = await bank({ jwks: { keys: [{ ...key.jwk }] } });
    const { parameters, verifier } = authorizationRequest(of.application.id, REDIRECT_URI);
    const claims = {
      ...parameters,
      iss: of.application.id,
      aud: at.issuer,
      authorization_details: [payment],
    };
    const object = await signClaims(key, { ...claims, exp: Math.floor(clock() / 1_000) + 60 });
    const sent = { client_id: of.application.id, request: object, authorization_details: text(account) };
    const pushed = await postForm(`${at.issuer}/par`, { ...sent, ...credentials(of) });
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    for (const query of [
      new URLSearchParams(sent),
      new URLSearchParams({ client_id: of.application.id, request_uri: String(pushed.body["request_uri"]) }),
    ]) {
      const browser = testBrowser();
      const login = await follow(browser, await browser.get(`${at.issuer}/authorize?${query}`));
      const page = await logIn(browser, at, login);
      const code = answerOf(await decide(browser, at, page)).get("code") ?? "";
      const { body } = await redeem(at, { code, verifier }, of);
      assert.deepEqual(body["authorization_details"], [payment]);
    }
  });

  const redeemPart = async (details: unknown, part: string) => {
    const { code, verifier } = await grant(details as string);
    const form = { grant_type: "authorization_code", code, code_verifier: verifier };
    const send = (more: Record<string, string>) =>
      postForm(`${org.issuer}/token`, {
        ...form,
        redirect_uri: REDIRECT_URI,
        ...more,
        ...credentials(client),
      });
    return { answer: await send({ authorization_details: part }), again: () => send({}) };
  };

  test("a token request has a part of what was granted; the refresh token has it all", async () => {
    const less = { ...account, actions: ["balances"] };
    const { answer } = await redeemPart(text(payment, account), text(less));
    assert.deepEqual(answer.body["authorization_details"], [less]);
    assert.deepEqual(payloadOf(answer.body["access_token"])["authorization_details"], [less]);
    const next = await refresh(org, String(answer.body["refresh_token"]), {}, client);
    assert.deepEqual(next.body["authorization_details"], [payment, account]);
    const part = { authorization_details: text(payment) };
    const narrow = await refresh(org, String(next.body["refresh_token"]), part, client);
    assert.deepEqual(narrow.body["authorization_details"], [payment]);
  });

  test("the order of members is no difference", async () => {
    const { amount, ...others } = payment;
    const turned = { amount: { currency: "EUR", value: "12.50" }, ...others };
    const { answer } = await redeemPart(text(payment), text(turned));
    assert.equal(answer.status, 200);
  });

  for (const [what, part] of Object.entries({
    "another amount": text({ ...payment, amount: { value: "99.00", currency: "EUR" } }),
    "another type": text(account),
    "bad JSON": "[",
    "an unknown type": '[{"type":"loan"}]',
  }))
    test(`${what} is more than was granted: refused, and nothing is used up`, async () => {
      const { answer, again } = await redeemPart(text(payment), part);
      assertOAuthError(answer, 400, "invalid_authorization_details");
      const second = await again();
      assert.equal(second.status, 200, "the code is still good");
      const refused = await refresh(
        org,
        String(second.body["refresh_token"]),
        { authorization_details: part },
        client,
      );
      assertOAuthError(refused, 400, "invalid_authorization_details");
      const third = await refresh(org, String(second.body["refresh_token"]), {}, client);
      assert.deepEqual(third.body["authorization_details"], [payment]);
    });

  test("an emptied list of actions, and one action more, are no parts", async () => {
    for (const actions of [[], ["balances", "transactions"]]) {
      const granted = { ...account, actions: ["balances"] };
      const { answer } = await redeemPart(text(granted), text({ ...account, actions }));
      assertOAuthError(answer, 400, "invalid_authorization_details");
    }
  });

  test("what nobody was asked for is not given: without details, to a client itself, to a device", async () => {
    const { answer } = await redeemPart(undefined, text(payment));
    assertOAuthError(answer, 400, "invalid_authorization_details");
    const details = { authorization_details: text(payment) };
    const grantTypes = ["client_credentials", "urn:ietf:params:oauth:grant-type:device_code"] as const;
    const service = await makeClient(running.service, org.organisation, {
      ...{ grantTypes, authorizationDetailsTypes: both },
    });
    const form = { grant_type: "client_credentials", ...credentials(service), ...details };
    assertOAuthError(await postForm(`${org.issuer}/token`, form), 400, "invalid_authorization_details");
    const device = await postForm(`${org.issuer}/device`, { ...credentials(service), ...details });
    assertOAuthError(device, 400, "invalid_authorization_details");
  });

  test("a deleted type is gone from tokens, also when one of its name is made anew", async () => {
    const { org: at, client: of, types } = await bank();
    const asked = { of, at };
    const body = await tokensOf(text(payment, account), asked);
    const act = { orgId: at.organisation.id, actor: "test" };
    await deleteDetailType(running.service, { ...act, id: types.payment.id });
    const told = async (token: unknown) => (await introspected(token, of, at))["authorization_details"];
    assert.deepEqual(await told(body["access_token"]), [account]);
    clock.advance(1_000);
    await makeDetailType(running.service, at.organisation.id, "payment");
    assert.deepEqual(await told(body["access_token"]), [account]);
    const next = await refresh(at, String(body["refresh_token"]), {}, of);
    assert.deepEqual(next.body["authorization_details"], [account]);
    const key = { orgId: at.organisation.id, id: of.application.id, actor: "test" };
    const settings = { ...of.application.settings, authorizationDetailsTypes: [] };
    await changeApplication(running.service, key, ({ name }) => ({ name, settings, disabled: false }));
    const last = await refresh(at, String(next.body["refresh_token"]), {}, of);
    assert.deepEqual([last.status, "authorization_details" in last.body], [200, false]);
    assert.equal(await told(body["access_token"]), undefined);
  });

  test("a type with a resource makes it the target, and is left out of tokens for others", async () => {
    const resource = "https://pay.example/api";
    const { org: at, client: of, types } = await bank({ allowedResources: ["https://other.example"] });
    await changeDetailType(running.service, {
      ...{ orgId: at.organisation.id, id: types.payment.id, actor: "test", content: { resource } },
    });
    const body = await tokensOf(text(payment), { of, at });
    assert.deepEqual(payloadOf(body["access_token"])["aud"], [resource, at.issuer]);
    const elsewhere = { resource: "https://other.example" };
    const { page } = await ask(text(payment), { of, at, more: elsewhere });
    assert.equal(answerOf(page).get("error"), "invalid_target");
    const refused = await refresh(at, String(body["refresh_token"]), elsewhere, of);
    assertOAuthError(refused, 400, "invalid_target");
  });

  test("discovery names the enabled types, as soon as they are", async () => {
    const { org: at, types } = await bank();
    const supported = async () => {
      const url = `${at.issuer}/.well-known/openid-configuration`;
      const metadata = (await (await fetch(url)).json()) as Record<string, unknown>;
      return metadata["authorization_details_types_supported"];
    };
    assert.deepEqual(await supported(), both);
    const act = { orgId: at.organisation.id, id: types.payment.id, actor: "test" };
    await changeDetailType(running.service, { ...act, content: { enabled: false } });
    assert.deepEqual(await supported(), ["account"]);
  });

  test("a request without details shows the scopes alone", async () => {
    const page = await visit(testBrowser(), org, { clientId: org.web.application.id });
    assert.doesNotMatch(page.body, /data-detail/);
  });
});
