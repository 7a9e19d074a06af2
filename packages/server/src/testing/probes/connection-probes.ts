/** For organisation-isolation.test.ts: connections of A at B. */
import assert from "node:assert/strict";
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { findConnection } from "../../core/connections/connections.store.ts";
import { createConnectionTest } from "../../core/connections/sign-in/connection-tests.ts";
import { insertPendingIdentity } from "../../core/connections/sign-in/pending-identities.store.ts";
import { putEmailCode } from "../../core/email-codes/email-codes.store.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import type { SignInMethod } from "../../core/organisations/sign-in-methods.ts";
import type { Service } from "../../modules/open-service.ts";
import { type TestPage, testBrowser } from "../fakes/browser.ts";
import { postForm } from "../fixtures/client.ts";
import { newSamlConnection, newSignInConnection } from "../fixtures/sign-in-connection.ts";
import { visit } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";
import { boundSessionProbes } from "./bound-session-probes.ts";

interface ConnectionLoot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  /** A's consent page. */
  readonly consent: TestPage;
}
type Probe = (loot: ConnectionLoot) => Promise<void>;

/** Before anybody is sent anywhere, and before anything of the request is believed. */
const isUnknown =
  (end: "start" | "callback"): Probe =>
  async ({ service, a, b }) => {
    const id = await newSignInConnection(service, a.organisation.id);
    const addressAt = async ({ issuer }: TestOrganisation, org: TestOrganisation) => {
      const browser = testBrowser();
      const { flow = "" } = (await visit(browser, org)).hidden;
      return browser.get(`${issuer}/connections/${id}/${end}?flow=${flow}&state=x&code=y`);
    };
    assert.equal((await addressAt(b, b)).status, 404, "A's connection");
    const atHome = await addressAt(a, a);
    assert.match(atHome.body, /id="connection-error"/, "at A it is known");
  };

/** A SAML connection of A's is none of B's. */
const isSamlOf =
  (method: "GET" | "POST", end: string, atHome: number): Probe =>
  async ({ service, a, b }) => {
    const id = await newSamlConnection(service, a.organisation.id);
    const statusAt = async ({ issuer }: TestOrganisation) => {
      const address = `${issuer}/connections/${id}/${end}`;
      const form = { SAMLResponse: "PHg+", RelayState: "x" };
      const page = method === "GET" ? testBrowser().get(address) : testBrowser().post(address, form);
      return (await page).status;
    };
    assert.equal(await statusAt(b), 404, "A's connection");
    assert.equal(await statusAt(a), atHome, "at A it is known");
  };

/** The link of A's test, at B and then at A, where the provider can't be reached. */
const isNobodysTest: Probe = async ({ service, a, b }) => {
  const orgId = a.organisation.id;
  const connectionId = await newSignInConnection(service, orgId);
  const { link } = await createConnectionTest(service, { orgId, actor: "test", connectionId });
  const opened = ({ issuer }: TestOrganisation) =>
    testBrowser().get(`${issuer}/connections/${connectionId}/test?link=${link}`);
  assert.equal((await opened(b)).status, 404, "A's connection");
  assert.equal((await opened(a)).status, 502, "at A it is opened");
};

/** Neither a logout token nor a way back of A's is any at B. */
const isNobodys: Probe = async ({ service, a, b }) => {
  const id = await newSignInConnection(service, a.organisation.id);
  const told = ({ issuer }: TestOrganisation) =>
    postForm(`${issuer}/connections/${id}/backchannel-logout`, { logout_token: "x.y.z" });
  assert.equal((await told(b)).status, 404, "A's connection");
  assert.equal((await told(a)).status, 400, "at A it is known");
  const back = ({ issuer }: TestOrganisation) => testBrowser().get(`${issuer}/connections/${id}/logged-out`);
  assert.equal((await back(b)).status, 404, "A's connection");
  assert.equal((await back(a)).status, 200, "at A it is known");
};

/** What waits in a browser at A is nothing at B, under whichever name the cookie has. */
const waitsElsewhere =
  (page: "email-code" | "link-account", method: "get" | "post"): Probe =>
  async ({ service, a, b }) => {
    const connectionId = await newSignInConnection(service, a.organisation.id);
    const pageAt = async ({ issuer, organisation }: TestOrganisation) => {
      const browser = testBrowser();
      const { flow = "" } = (await visit(browser, a)).hidden;
      const token = randomSecret("sgn_fi_");
      const holderHash = sha256Base64url(token);
      const identity = {
        ...(await identityOf(service, a.organisation.id, connectionId)),
        acr: "urn:signet:acr:pwd",
      };
      await insertPendingIdentity(service.database.query, {
        ...{ orgId: a.organisation.id, holderHash, connectionId, flow, identity, askedAt: null },
        ...{ email: page === "link-account" ? a.user.email : null, expiresAt: service.clock() + 60_000 },
      });
      browser.cookies.set(`signet-first-${organisation.id}`, token);
      const address = `${issuer}/${page}`;
      return method === "get" ? browser.get(address) : browser.post(address, { act: "cancel" });
    };
    assert.equal((await pageAt(b)).status, 400, "A's, at B");
    assert.equal((await pageAt(a)).status, method === "get" ? 200 : 403, "at A it waits");
  };

/** A sign-in link of A, where both send such links. */
const opensNothing =
  (method: "get" | "post"): Probe =>
  async ({ service, a, b }) => {
    const token = randomSecret("sgn_ml_");
    const { flow = "" } = (await visit(testBrowser(), a)).hidden;
    await putEmailCode(service.database.query, {
      ...{ orgId: a.organisation.id, holderHash: sha256Base64url(token), email: a.user.email, flow },
      ...{ codeMac: "", linkHash: sha256Base64url(token), expiresAt: service.clock() + 60_000 },
    });
    const offer = async (signInMethods: readonly SignInMethod[]) => {
      for (const { id: orgId } of [a.organisation, b.organisation])
        await changeOrganisationSettings(service, { orgId, actor: "test", settings: { signInMethods } });
    };
    const statusAt = async ({ issuer }: TestOrganisation) => {
      const [browser, address] = [testBrowser(), `${issuer}/magic/${token}`];
      return (method === "get" ? await browser.get(address) : await browser.post(address, {})).status;
    };
    await offer(["password", "passkey", "magicLink"]);
    const statuses = [await statusAt(b), await statusAt(a)];
    await offer(["password", "passkey"]);
    assert.deepEqual(statuses, [404, 200], "A's, at B and at A");
  };

async function identityOf({ database }: Service, orgId: string, id: string) {
  const connection = await findConnection(database.query, { orgId, id });
  const none = { username: undefined, phone: undefined, locale: undefined, attributes: {} };
  const user = { email: undefined, emailVerified: false, firstname: "", surname: "", ...none };
  return { subject: "somebody", user, issuer: connection?.settings?.oidc?.issuer ?? "" };
}

export const connectionProbes: Readonly<Record<string, Probe>> = {
  "GET /oauth/:org/connections/:id/start": isUnknown("start"),
  "GET /oauth/:org/connections/:id/callback": isUnknown("callback"),
  "GET /oauth/:org/connections/:id/finish": isSamlOf("GET", "finish?r=x", 400),
  "GET /oauth/:org/connections/:id/saml/metadata": isSamlOf("GET", "saml/metadata", 200),
  "POST /oauth/:org/connections/:id/saml/acs": isSamlOf("POST", "saml/acs", 400),
  "GET /oauth/:org/connections/:id/saml/slo": isSamlOf("GET", "saml/slo", 400),
  "POST /oauth/:org/connections/:id/saml/slo": isSamlOf("POST", "saml/slo", 400),
  "GET /oauth/:org/connections/:id/test": isNobodysTest,
  "POST /oauth/:org/connections/:id/backchannel-logout": isNobodys,
  "GET /oauth/:org/connections/:id/logged-out": isNobodys,
  "GET /oauth/:org/email-code": waitsElsewhere("email-code", "get"),
  "POST /oauth/:org/email-code": waitsElsewhere("email-code", "post"),
  "GET /oauth/:org/magic/:token": opensNothing("get"),
  "POST /oauth/:org/magic/:token": opensNothing("post"),
  ...boundSessionProbes,
  "POST /oauth/:org/passkey-offer": async ({ b, consent }) => {
    const { flow = "" } = consent.hidden;
    assert.equal((await testBrowser().post(`${b.issuer}/passkey-offer`, { flow })).status, 400);
  },
  "GET /oauth/:org/link-account": waitsElsewhere("link-account", "get"),
  "POST /oauth/:org/link-account": waitsElsewhere("link-account", "post"),
  "GET /oauth/:org/break-glass": async ({ b, consent }) => {
    const { flow = "" } = consent.hidden;
    assert.equal((await testBrowser().get(`${b.issuer}/break-glass?flow=${flow}`)).status, 400);
  },
  "POST /oauth/:org/break-glass": async ({ a, b, consent }) => {
    const own = testBrowser();
    const { hidden } = await own.get(`${b.issuer}/break-glass`);
    const { email, password } = a.user;
    const foreignFlow = { ...hidden, flow: consent.hidden["flow"] ?? "", email, password };
    assert.equal((await own.post(`${b.issuer}/break-glass`, foreignFlow)).status, 400);
    assert.equal((await own.post(`${b.issuer}/break-glass`, { ...hidden, email, password })).status, 401);
  },
};
