// XML that is wrapped, a program, or too much (connections.md §5, "SAML"): refused before anybody is named.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  assertionXml,
  newSamlKey,
  responseXml,
  type SamlAnswer,
  signXml,
} from "../../../../testing/fakes/hostile-saml-provider.ts";
import { samlSignIns } from "../../../../testing/fixtures/saml-sign-in.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../../testing/test-service.ts";

const key = newSamlKey();
const STRAY = `<samlp:Extensions><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/></samlp:Extensions>`;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let saml: ReturnType<typeof samlSignIns>;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    saml = samlSignIns({ running, org: await makeOrganisation(running.service), clock, key });
    await saml.begin();
  });
  // The audit log withholds what strangers repeat within an hour.
  beforeEach(() => clock.advance(3_600_001));
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const evil = (said: SamlAnswer, id = "_evil") => assertionXml({ ...said, nameId: "eve", assertionId: id });
  const wrapped: Readonly<Record<string, (said: SamlAnswer) => string>> = {
    // The names are those of "On Breaking SAML" (2012).
    "XSW1: the signed response within the signature of a new one": (said) => {
      const signed = signXml(responseXml(said, assertionXml(said)), key, { element: "Response" });
      const [signature = ""] = /<ds:Signature.*<\/ds:Signature>/s.exec(signed) ?? [];
      const own = signed.replace(signature, "");
      const outer = { ...said, responseId: "_outer" };
      return responseXml(outer, evil(said)).replace(
        "</saml:Issuer>",
        `</saml:Issuer>${signature.replace("</ds:Signature>", `<ds:Object>${own}</ds:Object></ds:Signature>`)}`,
      );
    },
    "XSW2: the signed response before a detached signature": (said) => {
      const signed = signXml(responseXml(said, assertionXml(said)), key, { element: "Response" });
      const [signature = ""] = /<ds:Signature.*<\/ds:Signature>/s.exec(signed) ?? [];
      const outer = { ...said, responseId: "_outer" };
      return responseXml(outer, evil(said)).replace(
        "</saml:Issuer>",
        `</saml:Issuer>${signed.replace(signature, "")}${signature}`,
      );
    },
    "XSW3: a new assertion before the signed one": (said) =>
      responseXml(said, evil(said) + signXml(assertionXml(said), key)),
    "XSW4: the signed assertion within a new one": (said) =>
      responseXml(
        said,
        evil(said).replace("</saml:Assertion>", `${signXml(assertionXml(said), key)}</saml:Assertion>`),
      ),
    "XSW5: a changed assertion with the signature, the signed one at the end": (said) => {
      const signed = signXml(assertionXml(said), key);
      const [signature = ""] = /<ds:Signature.*<\/ds:Signature>/s.exec(signed) ?? [];
      return responseXml(
        said,
        evil(said).replace("</saml:Issuer>", `</saml:Issuer>${signature}`) + signed.replace(signature, ""),
      );
    },
    "XSW6: the signed assertion within the signature of a new one": (said) => {
      const signed = signXml(assertionXml(said), key);
      const [signature = ""] = /<ds:Signature.*<\/ds:Signature>/s.exec(signed) ?? [];
      const carrying = signature.replace(
        "</ds:Signature>",
        `${signed.replace(signature, "")}</ds:Signature>`,
      );
      return responseXml(said, evil(said).replace("</saml:Issuer>", `</saml:Issuer>${carrying}`));
    },
    "XSW7: the signed assertion in extensions": (said) =>
      responseXml(said, evil(said)).replace(
        "</saml:Issuer>",
        `</saml:Issuer><samlp:Extensions>${signXml(assertionXml(said), key)}</samlp:Extensions>`,
      ),
    "XSW8: the signed assertion in an object of the new one's signature": (said) => {
      const signed = signXml(assertionXml(said), key);
      const [signature = ""] = /<ds:Signature.*<\/ds:Signature>/s.exec(signed) ?? [];
      const object = `<ds:Object>${signed.replace(signature, "")}</ds:Object></ds:Signature>`;
      return responseXml(
        said,
        evil(said).replace("</saml:Issuer>", `</saml:Issuer>${signature.replace("</ds:Signature>", object)}`),
      );
    },
    "a new assertion with the ID of the signed one": (said) =>
      responseXml(said, evil(said, said.assertionId) + signXml(assertionXml(said), key)),
    "an assertion of no namespace beside the signed one": (said) =>
      responseXml(said, `<Assertion ID="_evil"/>${signXml(assertionXml(said), key)}`),
    "a signature that is not of its parent": (said) => {
      const signed = signXml(assertionXml(said), key);
      return responseXml(said, signed.replace(`ID="${said.assertionId}"`, 'ID="_other"'));
    },
    "two assertions in a response that is signed as a whole": (said) =>
      signXml(responseXml(said, evil(said) + assertionXml(said)), key, { element: "Response" }),
    "another signature in a response that is signed as a whole": (said) =>
      signXml(
        responseXml(said, assertionXml(said)).replace("<samlp:Status>", `${STRAY}<samlp:Status>`),
        key,
        {
          element: "Response",
        },
      ),
    "an element of the signed one's ID elsewhere": (said) =>
      responseXml(said, signXml(assertionXml(said), key)).replace(
        "<samlp:Status>",
        `<samlp:Extensions><x Id="${said.assertionId}"/></samlp:Extensions><samlp:Status>`,
      ),
  };

  for (const [name, make] of Object.entries(wrapped))
    test(`wrapping signs nobody in: ${name}`, async () => {
      await saml.refuses(make, "xml-refused");
      assert.equal(await saml.identityOf("eve"), undefined);
    });

  test("XML that is a program, is too much, or is none is refused", async () => {
    const bomb = `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`;
    await saml.refuses(
      (said) => bomb + saml.signedResponse({ ...said, nameId: "&b;" }).replace("&amp;b;", "&b;"),
      "xml-refused",
    );
    await saml.refuses((said) => `<!DOCTYPE samlp:Response>${saml.signedResponse(said)}`, "xml-refused");
    // By its text: the parser has not seen it.
    assert.equal(await saml.lastDetail(), "it has a document type or entities");
    const deep = `<samlp:Extensions>${"<x>".repeat(60)}${"</x>".repeat(60)}</samlp:Extensions><samlp:Status>`;
    await saml.refuses((said) => saml.signedResponse(said).replace("<samlp:Status>", deep), "xml-refused");
    await saml.refuses((said) => `<?xml-stylesheet href="x"?>${saml.signedResponse(said)}`, "xml-refused");
    await saml.refuses((said) => saml.signedResponse(said).slice(0, -9), "xml-refused");
    await saml.refuses((said) => `${saml.signedResponse(said)}<x/>`, "xml-refused");
    await saml.refuses(
      (said) =>
        saml.signedResponse(said).replace("<samlp:Status>", `<!--${"x".repeat(262_144)}--><samlp:Status>`),
      "xml-refused",
    );
    await saml.refuses(() => "<a>".repeat(15_000) + "</a>".repeat(15_000), "xml-refused");
    await saml.refuses(
      () => `<a ${Array.from({ length: 20_000 }, (_, index) => `a${index}=">"`).join(" ")}/>`,
      "xml-refused",
    );
    await saml.refuses(() => "", "xml-refused");
    await saml.refuses(() => "<samlp:Response/>", "xml-refused");
    await saml.refuses(
      (said) => saml.signedResponse(said).replaceAll("samlp:Response", "samlp:LogoutResponse"),
      "xml-refused",
    );
  });
});
