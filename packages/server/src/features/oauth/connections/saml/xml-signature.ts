/**
 * Signatures of XML, by xml-crypto: which may be checked at all is decided here, and what is read afterwards is what it says it has
 * hashed, nothing else of the document (docs/decisions/2026-11-28-saml-library.md).
 */
import {
  allElements,
  attributeOf,
  childrenNamed,
  childrenOf,
  namespaces,
  onlyChild,
  parseXml,
  type XmlElement,
  XmlRefused,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";

const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
const ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const signatureMethods: readonly string[] = [
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
  "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
];
const digestMethods: readonly string[] = [
  "http://www.w3.org/2001/04/xmlenc#sha256",
  "http://www.w3.org/2001/04/xmlenc#sha512",
];

export const signatureOf = (element: XmlElement): XmlElement | undefined =>
  onlyChild(element, "signature", "Signature");

/**
 * @param xml the document, of which `element` is a part
 * @param certificates PEM, of the record alone: what the message brings along is no key
 * @returns the element as it was signed
 * @throws ConnectionSignInFailure, XmlRefused
 */
export async function signedElement(
  xml: string,
  element: XmlElement,
  signature: XmlElement,
  certificates: readonly string[],
): Promise<XmlElement> {
  requireSound(element, signature);
  const { SignedXml } = (await import("xml-crypto")).default;
  for (const publicCert of certificates) {
    const check = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
    const only = (all: object, names: readonly string[]) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
    check.SignatureAlgorithms = only(check.SignatureAlgorithms, signatureMethods);
    check.HashAlgorithms = only(check.HashAlgorithms, digestMethods);
    check.CanonicalizationAlgorithms = only(check.CanonicalizationAlgorithms, [EXCLUSIVE, ENVELOPED]);
    check.loadSignature(signature as never);
    const [signed, ...others] = isGood(check, xml) ? check.getSignedReferences() : [];
    if (signed === undefined || others.length > 0) continue;
    const read = await parseXml(Buffer.from(signed));
    // The bytes that were hashed are of the element itself, not of another one with its name.
    if (read.localName !== element.localName || read.namespaceURI !== element.namespaceURI) continue;
    if (attributeOf(read, "ID") !== attributeOf(element, "ID")) continue;
    return read;
  }
  throw unknownKey(element.localName);
}

const UNKNOWN_KEY = "of none of the keys";

/** @param what is signed */
export const unknownKey = (what: string) =>
  new ConnectionSignInFailure("signature-invalid", { detail: `${what}: ${UNKNOWN_KEY}` });

/** Rather than one that is missing. */
export const isUnknownKey = (error: unknown): error is ConnectionSignInFailure =>
  error instanceof ConnectionSignInFailure &&
  error.reason === "signature-invalid" &&
  error.detail?.endsWith(UNKNOWN_KEY) === true;

/** It throws for a value that is wrong, and returns false for a digest that is. */
function isGood(check: { checkSignature(xml: string): boolean }, xml: string): boolean {
  try {
    return check.checkSignature(xml);
  } catch {
    return false;
  }
}

/** What SAML signatures look like (SAML 2.0 Core §5.4), so that the library sees no other. */
function requireSound(element: XmlElement, signature: XmlElement): void {
  const [info, value, keyInfo, ...others] = childrenOf(signature);
  const isNamed = info?.localName === "SignedInfo" && value?.localName === "SignatureValue";
  if (!info || !isNamed || (keyInfo && keyInfo.localName !== "KeyInfo") || others.length > 0)
    throw new XmlRefused("its signature has other parts");
  const [canonicalization, method, reference, ...references] = childrenOf(info);
  if (!canonicalization || !method || !reference || references.length > 0)
    throw new XmlRefused("its signature has not one reference");
  const id = attributeOf(element, "ID") ?? "";
  if (!/^[A-Za-z_][\w.-]{0,254}$/.test(id) || attributeOf(reference, "URI") !== `#${id}`)
    throw new XmlRefused("its signature is of something else");
  requireAlgorithm("CanonicalizationMethod", canonicalization, [EXCLUSIVE]);
  requireAlgorithm("SignatureMethod", method, signatureMethods);
  const transforms = onlyChild(reference, "signature", "Transforms");
  const all = transforms ? childrenNamed(transforms, "signature", "Transform") : [];
  const [first, second, ...more] = all.map((transform) => attributeOf(transform, "Algorithm"));
  if (first !== ENVELOPED || second !== EXCLUSIVE || more.length > 0)
    throw new ConnectionSignInFailure("algorithm-refused", { detail: "Transforms" });
  const digest = onlyChild(reference, "signature", "DigestMethod");
  requireAlgorithm("DigestMethod", digest, digestMethods);
}

function requireAlgorithm(name: string, element: XmlElement | undefined, allowed: readonly string[]): void {
  const algorithm = element && attributeOf(element, "Algorithm");
  if (element?.localName === name && element.namespaceURI === namespaces.signature)
    if (algorithm !== undefined && allowed.includes(algorithm)) return;
  throw new ConnectionSignInFailure("algorithm-refused", { detail: name });
}

/** Each once, whatever it is called: two elements of one ID are two meanings of one reference. @throws XmlRefused */
export function requireUniqueIds(root: XmlElement): void {
  const ids = allElements(root).flatMap((element) =>
    ["ID", "Id", "id"].flatMap((name) => attributeOf(element, name) ?? []),
  );
  if (new Set(ids).size < ids.length) throw new XmlRefused("two of its elements have one ID");
}
