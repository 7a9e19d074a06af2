// Single logout by SAML, both ways: who signs out there has nothing here, who signs out here is sent there, and nobody else can say so.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { changeSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  attribute,
  encryptAssertion,
  newSamlKey,
  type SamlAnswer,
  signXml,
} from "../../../../testing/fakes/hostile-saml-provider.ts";
import {
  logoutAnswer,
  logoutOf,
  logoutXml,
  messageName,
  nameIdXml,
  PERSISTENT,
  readSentLogout,
  redirectQuery,
  type SamlLogout,
  sessionXml,
} from "../../../../testing/fakes/saml-logout.ts";
import { refresh } from "../../../../testing/fixtures/client.ts";
import { samlSignIns } from "../../../../testing/fixtures/saml-sign-in.ts";
import { showsLogin, tokensOf, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const key = newSamlKey();
const stranger = newSamlKey();
const BYE = "https://app.example/bye";
const SLO = "https://idp.example/slo?tenant=7";
const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let connection: Connection;
  let saml: ReturnType<typeof samlSignIns>;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    saml = samlSignIns({ running, org, clock, key });
    await saml.begin();
    connection = await saml.connect("With logout", { saml: { sloUrl: SLO } });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const addressOf = ({ id }: Connection = connection) =>
    `${running.baseUrl}/oauth/${org.organisation.id}/connections/${id}`;
  const slo = (of = connection) => `${addressOf(of)}/saml/slo`;
  const signIn = async (name: string, said: Partial<SamlAnswer> = {}, of = connection) => {
    const browser = testBrowser();
    const attributes = attribute("mail", [`${name.replaceAll("/", "-")}@there.example`]);
    const page = await saml.signIn({ nameId: name, attributes, ...said }, { browser, of });
    assert.ok(page.status < 400, page.body);
    return browser;
  };
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await visit(browser, org));
  const requestOf = (content: string, change: Partial<SamlLogout> = {}, of = connection): SamlLogout => ({
    ...logoutOf(slo(of), clock(), content),
    ...change,
  });
  const byRedirect = (said: SamlLogout, options: Parameters<typeof redirectQuery>[2] = { key }, to = slo()) =>
    testBrowser().get(`${to}?${redirectQuery(messageName(said), logoutXml(said), options)}`);
  const postXml = (xml: string, more: Readonly<Record<string, string>> = {}, to = slo()) =>
    testBrowser().post(to, { SAMLRequest: Buffer.from(xml).toString("base64"), ...more });
  const signed = (said: SamlLogout, by = key) => signXml(logoutXml(said), by, { element: said.element });
  const certificate = async () => (await saml.serviceCertificate(connection)).certificate;

  test("a logout there ends what came of that session, offline refresh tokens too, and is answered", async () => {
    const [one, two] = [
      await signIn("by-session", { sessionIndex: "1" }),
      await signIn("by-session", { sessionIndex: "2" }),
    ];
    // Another's, whose session has the same number.
    const other = await signIn("by-session/other", { sessionIndex: "1" });
    const tokens = await tokensOf(one, org, { scope: "openid offline_access" });
    const others = await tokensOf(two, org, { scope: "openid offline_access" });
    const said = requestOf(nameIdXml("by-session") + sessionXml("1"));
    const answered = await byRedirect(said, { key, relayState: "their state" });
    assert.equal(answered.status, 303, answered.body);
    const sent = readSentLogout(answered.location ?? "", await certificate());
    assert.ok(sent.isSigned && answered.location?.startsWith(`${SLO}&SAMLResponse=`));
    assert.deepEqual(
      [sent.attribute("InResponseTo"), sent.attribute("Destination"), sent.relayState],
      [said.id, SLO, "their state"],
    );
    assert.match(sent.xml, new RegExp(`<saml:Issuer [^>]+>${addressOf()}/saml/metadata<`));
    assert.match(sent.xml, /StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/);
    assert.deepEqual(
      [await isSignedIn(one), await isSignedIn(two), await isSignedIn(other)],
      [false, true, true],
    );
    assert.equal((await refresh(org, tokens.refreshToken)).status, 400);
    assert.equal((await refresh(org, others.refreshToken)).status, 200);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
    const told = events.find(({ action }) => action === "user.session-ended");
    assert.equal(told?.actor, `connection:${connection.id}`);
  });

  test("the answer goes where the metadata wants answers, and requests where it wants those", async () => {
    const sloResponseUrl = "https://idp.example/answers";
    const apart = await saml.connect("Answers apart", { saml: { sloUrl: SLO, sloResponseUrl } });
    await signIn("apart", {}, apart);
    const said = requestOf(nameIdXml("apart"), {}, apart);
    const { location = "" } = await byRedirect(said, { key }, slo(apart));
    assert.ok(location.startsWith(`${sloResponseUrl}?SAMLResponse=`), location);
    const { certificate: own } = await saml.serviceCertificate(apart);
    const sent = readSentLogout(location, own);
    assert.deepEqual([sent.isSigned, sent.attribute("Destination")], [true, sloResponseUrl]);
  });

  test("by a form, of a name alone or of several sessions, whole, or encrypted", async () => {
    const both = [await signIn("all", { sessionIndex: "a" }), await signIn("all", { sessionIndex: "b" })];
    const longer = await signIn("all.others");
    await postXml(signed(requestOf(nameIdXml("all<!-- -->.others"))));
    assert.deepEqual([await isSignedIn(both[0] ?? longer), await isSignedIn(longer)], [true, false]);
    const answered = await postXml(signed(requestOf(nameIdXml("all"))), { RelayState: "rs" });
    assert.equal(answered.status, 303, answered.body);
    assert.equal(readSentLogout(answered.location ?? "", await certificate()).relayState, "rs");
    for (const browser of both) assert.equal(await isSignedIn(browser), false);
    const three = [];
    for (const sessionIndex of ["x", "y", "z"]) three.push(await signIn("some", { sessionIndex }));
    await byRedirect(requestOf(nameIdXml("some") + sessionXml("x") + sessionXml("z")));
    assert.deepEqual(await Promise.all(three.map(isSignedIn)), [false, true, false]);
    const to = (await saml.serviceCertificate(connection)).certificate.publicKey;
    const namespaced = nameIdXml("some").replace(
      "<saml:NameID",
      '<saml:NameID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"',
    );
    const hidden = encryptAssertion(namespaced, to, { element: "EncryptedID" });
    assert.equal((await byRedirect(requestOf(hidden))).status, 303);
    assert.deepEqual(await Promise.all(three.map(isSignedIn)), [false, false, false]);
  });

  test("where an attribute is the subject, the name that the provider has for the session is what counts", async () => {
    const by = await saml.connect("By attribute", { saml: { subjectAttribute: "uid", sloUrl: SLO } });
    const name = "t".repeat(300);
    const attributes = attribute("uid", ["u-9"]) + attribute("mail", ["u9@there.example"]);
    const said = { attributes, nameIdFormat: TRANSIENT, sessionIndex: "t" };
    const browser = await signIn(name, said, by);
    const end = (content: string) => byRedirect(requestOf(content, {}, by), { key }, slo(by));
    await end(nameIdXml("u-9"));
    assert.equal(await isSignedIn(browser), true);
    await end(nameIdXml(name) + sessionXml("t"));
    assert.equal(await isSignedIn(browser), false);
  });

  test("a logout that is not right in every part ends nothing", async () => {
    const browser = await signIn("kept", { sessionIndex: "kept" });
    const now = clock();
    const name = nameIdXml("kept");
    const other = await saml.connect("Another", { saml: { sloUrl: SLO } });
    const changes: ReadonlyArray<Partial<SamlLogout>> = [
      { issuer: "https://other.example" },
      { destination: slo(other) },
      { destination: "https://other.example" },
      { issueInstant: now + 61_000 },
      { issueInstant: now - 601_000 },
      { notOnOrAfter: now - 60_000 },
      { content: "" },
      { content: nameIdXml("kept", ' SPNameQualifier="https://other.example"') },
      { content: name + name },
      { content: `${name}<saml:EncryptedID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>` },
      { content: name + sessionXml("kept").repeat(51) },
      { id: "0" },
    ];
    for (const change of changes) {
      const said = requestOf(name, change);
      const what = JSON.stringify(change);
      assert.equal((await byRedirect(said)).status, 400, what);
      assert.equal((await postXml(signed(said))).status, 400, what);
    }
    const said = requestOf(name);
    const query = redirectQuery("SAMLRequest", logoutXml(said), { key, relayState: "a" });
    const sha1 = { algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1", hash: "sha1" };
    const bomb = redirectQuery("SAMLRequest", `<a>${" ".repeat(8_000_000)}</a>`, { key });
    const queries = [
      redirectQuery("SAMLRequest", logoutXml(said)),
      redirectQuery("SAMLRequest", logoutXml(said), { key: stranger }),
      redirectQuery("SAMLRequest", logoutXml({ ...said, element: "LogoutResponse" }), { key }),
      redirectQuery("SAMLRequest", logoutXml(said), { key, ...sha1 }),
      query.replace("RelayState=a", "RelayState=b"),
      query.replace("RelayState=a&", ""),
      // Twice the same, which would be believed.
      `${query}&${query.slice(0, query.indexOf("&"))}`,
      `${query}&SAMLResponse=x`,
      `${query.replace(/SAMLRequest=[^&]+/, "SAMLRequest=%")}`,
      `${query}&SAMLEncoding=other`,
      redirectQuery("SAMLRequest", logoutXml(said), { key, relayState: "r".repeat(1_025) }),
      redirectQuery("SAMLRequest", `<!DOCTYPE samlp:LogoutRequest>${logoutXml(said)}`, { key }),
      ...[bomb, "", "SAMLRequest=", "SAMLRequest=PHg%2B"],
    ];
    for (const one of queries)
      assert.equal((await testBrowser().get(`${slo()}?${one}`)).status, 400, one.slice(0, 80));
    const signature = /<ds:Signature.*<\/ds:Signature>/s.exec(signed(said))?.[0] ?? "";
    const wrapping = logoutXml(requestOf(name, { id: "_evil" })).replace(
      "</saml:Issuer>",
      `</saml:Issuer>${signature.replace("</ds:Signature>", `<ds:Object>${logoutXml(requestOf(nameIdXml("x"), { id: said.id }))}</ds:Object></ds:Signature>`)}`,
    );
    for (const xml of [
      logoutXml(said),
      signed(said, stranger),
      signed(requestOf(nameIdXml("no"))).replace(">no<", ">kept<"),
      `<!DOCTYPE samlp:LogoutRequest>${signed(said)}`,
      `${signed(said)}<!--${"x".repeat(262_144)}-->`,
      wrapping,
    ])
      assert.equal((await postXml(xml)).status, 400, xml.slice(0, 60));
    assert.equal(await isSignedIn(browser), true);
    assert.equal((await byRedirect(said)).status, 303, "as it was");
    assert.equal(await isSignedIn(browser), false);
  });

  test("a message ends once, of its connection and organisation alone, a disabled one's too", async () => {
    const twin = await saml.connect("Twin", { saml: { sloUrl: SLO } });
    const browser = await signIn("twin", {}, twin);
    const sent = redirectQuery("SAMLRequest", logoutXml(requestOf(nameIdXml("twin"))), { key });
    const get = (to: string) => testBrowser().get(`${to}?${sent}`);
    const answers = await Promise.all([get(slo()), get(slo()), get(slo())]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 400, 400]);
    assert.equal((await get(slo(twin))).status, 400);
    assert.equal(await isSignedIn(browser), true);
    const other = await makeOrganisation(running.service, "Other");
    const foreign = slo(twin).replace(org.organisation.id, other.organisation.id);
    assert.equal((await get(foreign)).status, 404);
    const change = (enabled: boolean, upstreamLogout: boolean) =>
      changeSignInConnection(running.service, {
        ...{ orgId: org.organisation.id, actor: "test", id: twin.id },
        ask: ({ kind, name, settings }) => ({
          ...{ kind, name, enabled, clientSecret: undefined, settings: { ...settings, upstreamLogout } },
        }),
      });
    const said = () => requestOf(nameIdXml("twin"), {}, twin);
    await change(true, false);
    assert.equal((await byRedirect(said(), { key }, slo(twin))).status, 404);
    assert.doesNotMatch((await saml.serviceCertificate(twin)).body, /SingleLogoutService/);
    await change(false, true);
    assert.match((await saml.serviceCertificate(twin)).body, /SingleLogoutService/);
    assert.equal((await byRedirect(said(), { key }, slo(twin))).status, 303);
    assert.equal(await isSignedIn(browser), false);
  });

  test("a provider without an address for logouts is not answered", async () => {
    const silent = await saml.connect("Silent");
    const browser = await signIn("silent", {}, silent);
    const { location = "" } = await byRedirect(
      requestOf(nameIdXml("silent"), {}, silent),
      { key },
      slo(silent),
    );
    assert.equal(location, `${addressOf(silent)}/logged-out`);
    assert.equal(await isSignedIn(browser), false);
    const own = await signIn("silent", {}, silent);
    assert.equal((await leave(own)).location, `${BYE}?state=s`);
  });

  const leave = async (browser: TestBrowser) => {
    const { idToken } = await tokensOf(browser, org);
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s" };
    return browser.get(`${org.issuer}/end_session?${new URLSearchParams(asked)}`);
  };

  test("who signs out here is sent to the provider, and comes back to where the sign-out leads", async () => {
    const browser = await signIn("leaves&more".replace("&more", ""), { sessionIndex: "s&1" });
    const left = await leave(browser);
    assert.equal(left.status, 302);
    assert.equal(await isSignedIn(browser), false);
    const sent = readSentLogout(left.location ?? "", await certificate());
    assert.ok(sent.isSigned && left.location?.startsWith(`${SLO}&SAMLRequest=`));
    assert.match(sent.xml, new RegExp(`<saml:NameID [^>]*Format="${PERSISTENT}"[^>]*>leaves</saml:NameID>`));
    assert.match(sent.xml, /<samlp:SessionIndex>s&#38;1<\/samlp:SessionIndex>/);
    assert.equal(sent.attribute("Destination"), SLO);
    const relayState = sent.relayState ?? "";
    assert.ok(Buffer.byteLength(relayState) <= 80, relayState);
    const id = sent.attribute("ID") ?? "";
    const answer = (change: Partial<SamlLogout> = {}) => ({ ...logoutAnswer(slo(), clock(), id), ...change });
    for (const said of [
      answer({ inResponseTo: "_other" }),
      answer({ inResponseTo: undefined }),
      answer({ issuer: "https://other.example" }),
      answer({ destination: `${slo()}x` }),
      answer({ issueInstant: clock() - 601_000 }),
    ])
      assert.equal((await byRedirect(said, { key, relayState })).status, 400);
    assert.equal((await byRedirect(answer(), { relayState })).status, 400, "not signed");
    assert.equal((await byRedirect(answer(), { key: stranger, relayState })).status, 400);
    const evil = await byRedirect(answer(), { key, relayState: "https://evil.example" });
    assert.equal(evil.status, 400, "an answer to another request");
    const alone = await byRedirect(answer(), { key });
    assert.equal(alone.location, `${addressOf()}/logged-out`);
    // What one of them is good for, the other is not.
    const elsewhere = await testBrowser().get(`${addressOf()}/finish?r=${relayState}`);
    assert.equal(elsewhere.status, 400);
    const failed = answer({
      content: `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder"/></samlp:Status>`,
    });
    const form = { SAMLResponse: Buffer.from(signed(failed)).toString("base64"), RelayState: relayState };
    const back = await testBrowser().post(slo(), form);
    assert.equal(back.status, 303, back.body);
    assert.ok(back.location?.startsWith(`${addressOf()}/logged-out?state=`), String(back.location));
    assert.equal((await testBrowser().get(back.location ?? "")).location, `${BYE}?state=s`);
    const again = await byRedirect(answer(), { key, relayState });
    assert.equal(again.location, `${addressOf()}/logged-out`, "once");
    assert.equal((await testBrowser().get(again.location ?? "")).location, undefined);
  });

  test("of a sign-out that the provider has not finished within ten minutes nothing is left", async () => {
    const left = await leave(await signIn("late"));
    const sent = readSentLogout(left.location ?? "", await certificate());
    clock.advance(600_000);
    const said = logoutAnswer(slo(), clock(), sent.attribute("ID") ?? "");
    const back = await byRedirect(said, { key, relayState: sent.relayState });
    assert.equal(back.location, `${addressOf()}/logged-out`);
  });
});
