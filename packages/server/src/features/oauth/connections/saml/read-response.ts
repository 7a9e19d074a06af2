/**
 * What a SAML response says, and whether it may be believed (SAML 2.0 Profiles §4.1.4). First what is signed is found, then only that
 * is read: no element of the document that came is looked at again.
 */
import {
  allElements,
  attributeOf,
  childrenNamed,
  isElement,
  onlyChild,
  parseXml,
  textOf,
  type XmlElement,
  XmlRefused,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { Expected } from "./expected.ts";
import { type Assertion, readAssertion } from "./read-assertion.ts";
import { decryptElement } from "./xml-decryption.ts";
import { requireUniqueIds, signatureOf, signedElement } from "./xml-signature.ts";

const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";

/** @throws ConnectionSignInFailure */
export async function readResponse(message: Buffer, expected: Expected): Promise<Assertion> {
  try {
    return await read(message, expected);
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error;
    throw new ConnectionSignInFailure("xml-refused", { detail: error.message });
  }
}

async function read(message: Buffer, expected: Expected): Promise<Assertion> {
  const root = await parseXml(message);
  if (!isElement(root, "protocol", "Response") || attributeOf(root, "Version") !== "2.0")
    throw new XmlRefused("it is no SAML 2.0 response");
  requireUniqueIds(root);
  requireSuccess(root);
  requireAddressed(root, expected);
  const { isEncrypted } = requireOneAssertion(root);
  const xml = new TextDecoder().decode(message);
  const signature = signatureOf(root);
  const response = signature && (await signedElement(xml, root, signature, expected.certificates));
  // Of a signed response what was signed is read; of another one the assertion alone, and only where it is signed itself.
  const holder = response ?? root;
  const assertion = isEncrypted
    ? await fromEncrypted(holder, expected, response !== undefined)
    : await fromPlain(xml, root, response, expected);
  return readAssertion(assertion, expected);
}

/** An error has no assertion, and often no signature: it says nothing about anybody. */
function requireSuccess(root: XmlElement): void {
  const status = onlyChild(root, "protocol", "Status");
  const code = status && onlyChild(status, "protocol", "StatusCode");
  const value = code && attributeOf(code, "Value");
  if (value === SUCCESS) return;
  const inner = code && onlyChild(code, "protocol", "StatusCode");
  const detail = [value, inner && attributeOf(inner, "Value")].filter((text) => text !== undefined).join(" ");
  throw new ConnectionSignInFailure("status-not-success", { detail });
}

function requireAddressed(root: XmlElement, { entityId, acsUri, requestId }: Expected): void {
  const issuer = onlyChild(root, "assertion", "Issuer");
  if (issuer && textOf(issuer) !== entityId)
    throw new ConnectionSignInFailure("issuer-mismatch", { detail: "Issuer of the response" });
  if (attributeOf(root, "Destination") !== acsUri)
    throw new ConnectionSignInFailure("destination-mismatch", { detail: "Destination of the response" });
  if (attributeOf(root, "InResponseTo") !== requestId)
    throw new ConnectionSignInFailure("response-unsolicited", { detail: "InResponseTo of the response" });
}

/** Anywhere in the document: one that is hidden would be signed, while another one is read. */
function requireOneAssertion(root: XmlElement): { readonly isEncrypted: boolean } {
  const all = allElements(root).filter(
    ({ localName }) => localName === "Assertion" || localName === "EncryptedAssertion",
  );
  const [assertion, ...others] = all;
  const isPlain = assertion !== undefined && isElement(assertion, "assertion", "Assertion");
  const isEncrypted = assertion !== undefined && isElement(assertion, "assertion", "EncryptedAssertion");
  if (others.length > 0 || !(isPlain || isEncrypted) || assertion.parentNode !== root)
    throw new XmlRefused("it has not exactly one assertion, in its place");
  const places = [root, ...(isPlain ? [assertion] : [])];
  const signatures = allElements(root).filter(({ localName }) => localName === "Signature");
  if (signatures.some((signature) => !places.some((place) => place === signature.parentNode)))
    throw new XmlRefused("it has a signature in another place");
  return { isEncrypted };
}

async function fromPlain(
  xml: string,
  root: XmlElement,
  response: XmlElement | undefined,
  { certificates }: Expected,
): Promise<XmlElement> {
  const here = requireAssertion(root);
  const signature = signatureOf(here);
  // One that is there is good, even in a response that is signed as a whole.
  const signed = signature && (await signedElement(xml, here, signature, certificates));
  return signed ?? requireSigned(response && requireAssertion(response));
}

async function fromEncrypted(
  holder: XmlElement,
  { certificates, key }: Expected,
  isSigned: boolean,
): Promise<XmlElement> {
  const [encrypted] = childrenNamed(holder, "assertion", "EncryptedAssertion");
  if (!encrypted) throw new XmlRefused("it has no assertion");
  const { xml, element: assertion } = await decryptElement(encrypted, { key: key(), isSigned }, "Assertion");
  requireUniqueIds(assertion);
  const inside = allElements(assertion);
  if (inside.filter(({ localName }) => localName === "Assertion").length > 1)
    throw new XmlRefused("it has an assertion in its assertion");
  const signature = signatureOf(assertion);
  const signed = signature && (await signedElement(xml.toString(), assertion, signature, certificates));
  return signed ?? requireSigned(isSigned ? assertion : undefined);
}

function requireAssertion(response: XmlElement): XmlElement {
  const [assertion] = childrenNamed(response, "assertion", "Assertion");
  if (!assertion) throw new XmlRefused("it has no assertion");
  return assertion;
}

function requireSigned(assertion: XmlElement | undefined): XmlElement {
  if (!assertion) throw new ConnectionSignInFailure("assertion-unsigned");
  return assertion;
}
