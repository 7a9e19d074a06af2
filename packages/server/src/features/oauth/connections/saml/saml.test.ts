// Sign-in at a SAML identity provider that lies: each attack of connections.md §5 has its reason, and starts no session.
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { Connection } from "../../../../core/connections/connection.ts";
import { findIdentity } from "../../../../core/connections/sign-in/linked-identities.store.ts";
import { listConnectionSignIns } from "../../../../core/connections/sign-in/sign-in-log.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  assertionXml,
  attribute,
  encryptAssertion,
  honestAnswer,
  newSamlKey,
  responseXml,
  type SamlAnswer,
  signXml,
} from "../../../../testing/fakes/hostile-saml-provider.ts";
import { samlSignIns } from "../../../../testing/fixtures/saml-sign-in.ts";
import { follow, showsConsent } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const key = newSamlKey();
const stranger = newSamlKey();
const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let second: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let connection: Connection;
  let saml: ReturnType<typeof samlSignIns>;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    second = await startTestService({ databaseUrl, clock, baseUrl: running.baseUrl });
    org = await makeOrganisation(running.service);
    saml = samlSignIns({ running, org, clock, key });
    connection = await saml.begin();
  });
  // The audit log withholds what strangers repeat within an hour.
  beforeEach(() => clock.advance(3_600_001));
  after(async () => {
    assert.deepEqual([...running.errors, ...second.errors], []);
    await second.close();
    await running.close();
  });

  test("who is new gets an account of their own, of the attributes by name and by friendly name", async () => {
    assert.ok(showsConsent(await saml.signIn()));
    const made = await saml.account("ada@there.example");
    assert.deepEqual([made?.firstname, made?.surname, made?.emailVerified], ["Ada", "Byron", true]);
    assert.equal((await saml.identityOf("ada-7"))?.userId, made?.id);
    assert.ok(showsConsent(await saml.signIn({ attributes: "" })));
    const [last] = await listConnectionSignIns(
      running.service.database.query,
      { orgId: org.organisation.id, id: connection.id },
      { now: clock() },
    );
    assert.deepEqual([last?.outcome, last?.subject], ["succeeded", "ada-7"]);
  });

  test("the request is signed, and asks again where the application does", async () => {
    const { sentTo, xml, acsUri } = await saml.start(testBrowser());
    const [, query = "", signature = ""] = /\?tenant=7&(.+)&Signature=(.+)$/.exec(sentTo) ?? [];
    const { certificate, body } = await saml.serviceCertificate();
    const sent = Buffer.from(decodeURIComponent(signature), "base64");
    assert.ok(verify("sha256", Buffer.from(query), certificate.publicKey, sent));
    assert.ok(certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey));
    assert.match(body, new RegExp(`Location="${acsUri}"`));
    assert.doesNotMatch(xml, /ForceAuthn/);
    for (const more of [{ prompt: "login" }, { max_age: "60" }])
      assert.match((await saml.start(testBrowser(), connection, more)).xml, /ForceAuthn="true"/);
  });

  test("a response that is signed as a whole is read as it was signed, and so is an encrypted assertion", async () => {
    const { certificate } = await saml.serviceCertificate();
    const to = createPublicKey(certificate.publicKey.export({ format: "pem", type: "spki" }));
    const messages: ReadonlyArray<(said: SamlAnswer) => string> = [
      (said) => signXml(responseXml(said, assertionXml(said)), key, { element: "Response" }),
      (said) => signXml(saml.signedResponse(said), key, { element: "Response" }),
      (said) => responseXml(said, encryptAssertion(signXml(assertionXml(said), key), to)),
      (said) =>
        signXml(responseXml(said, encryptAssertion(assertionXml(said), to, { cipher: "aes-256-cbc" })), key, {
          element: "Response",
        }),
    ];
    for (const [index, make] of messages.entries()) {
      const browser = testBrowser();
      const asked = await saml.start(browser);
      const sent = await saml.post(asked, make(honestAnswer(asked, clock())));
      assert.equal(sent.status, 303, `${index}: ${sent.status === 303 ? "" : await saml.reasonOf()}`);
      assert.ok(showsConsent(await follow(browser, await browser.get(sent.location ?? ""))), String(index));
    }
    await saml.refuses(
      (said) => responseXml(said, encryptAssertion(assertionXml(said), to)),
      "assertion-unsigned",
    );
    const signed = (said: SamlAnswer) => signXml(assertionXml(said), key);
    await saml.refuses(
      (said) => responseXml(said, encryptAssertion(signed(said), to, { cipher: "aes-256-cbc" })),
      "algorithm-refused",
    );
    await saml.refuses(
      (said) => responseXml(said, encryptAssertion(signed(said), to, { transport: "rsa-1_5" })),
      "algorithm-refused",
    );
    // A key that doesn't fit, a content that was changed, that is no XML, or something else: all are told alike.
    const other = createPublicKey(stranger.certificate);
    const changed = (xml: string) =>
      xml.replace(
        /(<xenc:CipherValue>)..(?=[^<]+<\/xenc:CipherValue><\/xenc:CipherData><\/xenc:EncryptedData>)/,
        "$1AA",
      );
    const failures: TestPage[] = [];
    for (const make of [
      (said: SamlAnswer) => responseXml(said, encryptAssertion(signed(said), other)),
      (said: SamlAnswer) => responseXml(said, changed(encryptAssertion(signed(said), to))),
      (said: SamlAnswer) => responseXml(said, encryptAssertion("no XML", to)),
      (said: SamlAnswer) => responseXml(said, encryptAssertion("<!DOCTYPE a><a/>", to)),
      (said: SamlAnswer) => responseXml(said, encryptAssertion("<a/>", to)),
    ]) {
      const asked = await saml.start(testBrowser());
      const page = await saml.post(asked, make(honestAnswer(asked, clock())));
      await saml.failsWith(page, "decryption-failed");
      failures.push(page);
    }
    const shown = failures.map(({ body }) => /role="alert">[^<]+/.exec(body)?.[0]);
    assert.deepEqual(new Set(shown), new Set(shown.slice(0, 1)));
    assert.equal(shown.length, 5);
  });

  test("what says something else than was asked has its reason", async () => {
    const now = clock();
    await saml.saysWrong({ audience: "https://other.example" }, "audience-mismatch");
    await saml.saysWrong({ recipient: "https://other.example" }, "destination-mismatch");
    await saml.saysWrong({ destination: "https://other.example" }, "destination-mismatch");
    await saml.saysWrong({ issuer: "https://other.example" }, "issuer-mismatch");
    await saml.saysWrong({ responseIssuer: "https://other.example" }, "issuer-mismatch");
    await saml.saysWrong({ inResponseTo: "_another" }, "response-unsolicited");
    await saml.saysWrong({ inResponseTo: undefined }, "response-unsolicited");
    // Either of the two alone.
    const another = (said: SamlAnswer) => ({ ...said, inResponseTo: "_another" });
    await saml.refuses(
      (said) => responseXml(another(said), signXml(assertionXml(said), key)),
      "response-unsolicited",
    );
    await saml.refuses(
      (said) => responseXml(said, signXml(assertionXml(another(said)), key)),
      "response-unsolicited",
    );
    await saml.saysWrong({ method: "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches" }, "subject-mismatch");
    await saml.saysWrong({ notOnOrAfter: now - 61_000 }, "token-expired");
    await saml.saysWrong({ confirmedUntil: now - 61_000 }, "token-expired");
    await saml.saysWrong({ notBefore: now + 62_000 }, "token-expired");
    await saml.saysWrong({ authnInstant: now + 62_000 }, "token-expired");
    await saml.saysWrong({ nameIdFormat: TRANSIENT }, "nameid-refused");
    await saml.saysWrong({ nameId: "a".repeat(256) }, "nameid-refused");
    await saml.saysWrong({ nameId: "" }, "subject-missing");
    await saml.saysWrong({ status: "Responder" }, "status-not-success");
    assert.ok(showsConsent(await saml.signIn({ notOnOrAfter: now - 59_000, notBefore: now + 59_000 })));
  });

  test("what is not signed by a key of the record is not believed", async () => {
    await saml.refuses((said) => responseXml(said, assertionXml(said)), "assertion-unsigned");
    await saml.refuses(
      (said) => responseXml(said, signXml(assertionXml(said), stranger)),
      "signature-invalid",
    );
    const { certificate: publicCert } = stranger;
    await saml.refuses(
      (said) => responseXml(said, signXml(assertionXml(said), stranger, { publicCert })),
      "signature-invalid",
    );
    await saml.refuses((said) => saml.signedResponse(said).replace(">ada-7<", ">eve<"), "signature-invalid");
    // A good signature of the assertion doesn't make a wrong one of the response good.
    await saml.refuses(
      (said) => signXml(saml.signedResponse(said), stranger, { element: "Response" }),
      "signature-invalid",
    );
    await saml.refuses(
      (said) =>
        signXml(responseXml(said, signXml(assertionXml(said), stranger)), key, { element: "Response" }),
      "signature-invalid",
    );
  });

  test("weak or unusual algorithms are refused before anything is checked", async () => {
    const algorithms = [
      { signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" },
      { digestAlgorithm: "http://www.w3.org/2000/09/xmldsig#sha1" },
      { canonicalization: "http://www.w3.org/2001/10/xml-exc-c14n#WithComments" },
    ];
    for (const options of algorithms)
      await saml.refuses(
        (said) => responseXml(said, signXml(assertionXml(said), key, options)),
        "algorithm-refused",
      );
    await saml.refuses(
      (said) => saml.signedResponse(said).replace("xmldsig-more#rsa-sha256", "xmldsig-more#hmac-sha256"),
      "algorithm-refused",
    );
  });

  test("a NameID is taken whole, with a comment in it or without", async () => {
    const browser = testBrowser();
    const asked = await saml.start(browser);
    const said = { ...honestAnswer(asked, clock()), nameId: "ada-7.evil", attributes: "" };
    const sent = await saml.post(
      asked,
      saml.signedResponse(said).replace(">ada-7.evil<", ">ada-7<!-- -->.evil<"),
    );
    assert.equal(sent.status, 303, sent.body);
    const page = await follow(browser, await browser.get(sent.location ?? ""));
    // Somebody who is new, and not the one whose name it begins with.
    const { certificate } = await saml.serviceCertificate();
    const again = await saml.start(testBrowser());
    const other = { ...honestAnswer(again, clock()), nameId: "ada-7<!-- -->.evil", attributes: "" };
    const encrypted = encryptAssertion(assertionXml(other), certificate.publicKey);
    // What was encrypted is not canonical: the comment is still in it when it is read.
    const brought = await saml.post(
      again,
      signXml(responseXml(other, encrypted), key, { element: "Response" }),
    );
    assert.equal(brought.status, 303, brought.body);
    assert.equal(await saml.subjectOf(brought), "ada-7.evil");
    assert.ok(!showsConsent(page));
    assert.equal(await saml.identityOf("ada-7.evil"), undefined);
  });

  test("an assertion is good once, on every node", async () => {
    const asked = await saml.start(testBrowser());
    const xml = saml.signedResponse(honestAnswer(asked, clock()));
    const sent = await Promise.all([running, second, running, second].map((at) => saml.post(asked, xml, at)));
    assert.deepEqual(sent.map(({ status }) => status).sort(), [303, 400, 400, 400]);
    await saml.failsWith(await saml.post(asked, xml, second), "assertion-replayed");
  });

  test("what was brought goes on in the browser that was sent, once, for two minutes", async () => {
    const browser = testBrowser();
    const asked = await saml.start(browser);
    const bring = async () => {
      const sent = await saml.post(asked, saml.signedResponse(honestAnswer(asked, clock())));
      assert.equal(sent.status, 303, sent.body);
      return sent.location ?? "";
    };
    // Login CSRF: the attacker's response, in the browser of somebody else, who has a start of their own.
    const victim = testBrowser();
    await saml.start(victim);
    await saml.failsWith(await victim.get(await bring()), "other-browser");
    await saml.failsWith(await testBrowser().get(await bring()), "other-browser");
    const late = await bring();
    clock.advance(120_001);
    await saml.failsWith(await browser.get(late), "state-unknown");
    const good = await bring();
    assert.equal((await browser.get(good)).status, 303);
    await saml.failsWith(await browser.get(good), "state-unknown");
    // The start is used too.
    await saml.failsWith(
      await saml.post(asked, saml.signedResponse(honestAnswer(asked, clock()))),
      "state-unknown",
    );
  });

  test("RelayState is the handle of a start of this connection, and never an address", async () => {
    const asked = await saml.start(testBrowser());
    const xml = saml.signedResponse(honestAnswer(asked, clock()));
    for (const relayState of ["https://evil.example/", "//evil.example", `${asked.relayState}x`]) {
      const page = await saml.post({ ...asked, relayState }, xml);
      assert.equal(page.location, undefined);
      await saml.failsWith(page, "state-unknown");
    }
    await saml.failsWith(await saml.post({ ...asked, relayState: "" }, xml), "response-unsolicited");
    const alone = saml.signedResponse({ ...honestAnswer(asked, clock()), inResponseTo: undefined });
    await saml.failsWith(await saml.post({ ...asked, relayState: "" }, alone), "response-unsolicited");
    const other = await saml.connect("Other there");
    const there = await saml.start(testBrowser(), other);
    await saml.failsWith(await saml.post({ ...asked, acsUri: there.acsUri }, xml), "state-unknown");
    await saml.failsWith(await saml.post(there, xml), "destination-mismatch");
    clock.advance(10 * 60_000 + 1);
    await saml.failsWith(
      await saml.post(asked, saml.signedResponse(honestAnswer(asked, clock()))),
      "state-unknown",
    );
  });

  test("what nobody asked for signs in only where the connection takes it, and leads to the account", async () => {
    const open = await saml.connect("Open there", { saml: { allowIdpInitiated: true } });
    const { acsUri, spEntityId } = await saml.start(testBrowser(), open);
    const asked = { acsUri, spEntityId, id: "", xml: "", relayState: "" };
    const said = () => ({ ...honestAnswer(asked, clock()), inResponseTo: undefined });
    const sent = await saml.post(asked, saml.signedResponse(said()));
    assert.equal(sent.status, 303, sent.body);
    const browser = testBrowser();
    const page = await browser.get(sent.location ?? "");
    assert.ok(page.status < 400, page.body);
    await saml.failsWith(
      await saml.post(asked, saml.signedResponse({ ...said(), inResponseTo: "_other" })),
      "response-unsolicited",
    );
    await saml.failsWith(
      await saml.post({ ...asked, relayState: "https://evil.example" }, saml.signedResponse(said())),
      "state-unknown",
    );
  });

  test("who did not sign in again there does not here; the class of the context raises the acr", async () => {
    const old = { authnInstant: clock() - 3_600_000 };
    const asks = (more: Readonly<Record<string, string>>, change = {}) => saml.signIn(change, { more });
    await saml.failsWith(await asks({ prompt: "login" }, old), "stale-authentication");
    await saml.failsWith(await asks({ max_age: "600" }, old), "stale-authentication");
    assert.ok(showsConsent(await asks({ prompt: "login" })));
    assert.ok(showsConsent(await asks({}, old)));
  });

  test("an attribute can be the subject, where it has one value", async () => {
    const of = await saml.connect("By attribute", { saml: { subjectAttribute: "uid" } });
    const attributes = attribute("uid", ["u-1"]) + attribute("mail", ["u1@there.example"]);
    assert.ok(showsConsent(await saml.signIn({ attributes, nameIdFormat: TRANSIENT }, { of })));
    const at = { orgId: org.organisation.id, connectionId: of.id, subject: "u-1" };
    assert.notEqual(await findIdentity(running.service.database.query, at), undefined);
    const asked = await saml.start(testBrowser(), of);
    const twice = { ...honestAnswer(asked, clock()), attributes: attribute("uid", ["u-1", "u-2"]) };
    await saml.failsWith(await saml.post(asked, saml.signedResponse(twice)), "subject-missing");
  });

  test("one address is not answered without end: each response costs the check of a signature", async () => {
    const env = { SIGNET_RATE_LIMITS: "connection-start-address=3/60" };
    const limited = await startTestService({ databaseUrl: await fresh(), clock, env });
    const there = samlSignIns({ running: limited, org: await makeOrganisation(limited.service), clock, key });
    await there.begin();
    const asked = await there.start(testBrowser());
    const forged = (said: SamlAnswer) => responseXml(said, signXml(assertionXml(said), stranger));
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1)
      statuses.push((await there.post(asked, forged(honestAnswer(asked, clock())))).status);
    await limited.close();
    assert.deepEqual(statuses, [400, 400, 429]);
  });
});
