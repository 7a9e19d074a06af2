/** A SAML identity provider that a test makes lie: it signs with xml-crypto, and every part of what it says can be changed. */
import {
  constants,
  createCipheriv,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
  randomUUID,
  sign,
} from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { derNull, derOid, derSequence } from "@signet/protocol/der/der-writer";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { SignedXml } from "xml-crypto";

export interface SamlKey {
  readonly privateKey: KeyObject;
  /** PEM. */
  readonly certificate: string;
}

export function newSamlKey(modulusLength = 2_048): SamlKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength });
  const identifier = derSequence(derOid("2a864886f70d01010b"), derNull);
  const scheme = { identifier, sign: (bytes: Buffer, key: KeyObject) => sign("sha256", bytes, key) };
  const { pem } = testCertificate({ subject: "idp", privateKey, scheme });
  return { privateKey, certificate: pem };
}

/** What an AuthnRequest has asked, as the browser brings it. */
export interface AskedSaml {
  readonly xml: string;
  readonly id: string;
  readonly acsUri: string;
  readonly spEntityId: string;
  readonly relayState: string;
}

export function readAuthnRequest(sentTo: string): AskedSaml {
  const query = new URL(sentTo).searchParams;
  const xml = inflateRawSync(Buffer.from(query.get("SAMLRequest") ?? "", "base64")).toString();
  const of = (pattern: RegExp) => pattern.exec(xml)?.[1] ?? "";
  return {
    ...{ xml, id: of(/ ID="([^"]+)"/), acsUri: of(/AssertionConsumerServiceURL="([^"]+)"/) },
    ...{ spEntityId: of(/<saml:Issuer>([^<]+)</), relayState: query.get("RelayState") ?? "" },
  };
}

/** Everything that a response says. */
export interface SamlAnswer {
  readonly issuer: string;
  readonly responseIssuer: string;
  readonly destination: string;
  readonly recipient: string;
  readonly audience: string;
  readonly inResponseTo: string | undefined;
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly status: string;
  readonly assertionId: string;
  readonly responseId: string;
  readonly notBefore: number;
  readonly notOnOrAfter: number;
  readonly confirmedUntil: number;
  readonly authnInstant: number;
  readonly method: string;
  readonly classRef: string;
  readonly sessionIndex: string;
  readonly attributes: string;
}

const P = "urn:oasis:names:tc:SAML:2.0:protocol";
const A = "urn:oasis:names:tc:SAML:2.0:assertion";
export const SAML_ISSUER = "https://idp.example/saml";

export const attribute = (name: string, values: readonly string[], friendlyName?: string): string =>
  `<saml:Attribute Name="${name}"${friendlyName === undefined ? "" : ` FriendlyName="${friendlyName}"`}>${values
    .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
    .join("")}</saml:Attribute>`;

export const honestAnswer = (asked: AskedSaml, now: number): SamlAnswer => ({
  ...{ issuer: SAML_ISSUER, responseIssuer: SAML_ISSUER, destination: asked.acsUri, recipient: asked.acsUri },
  ...{ audience: asked.spEntityId, inResponseTo: asked.id, nameId: "ada-7", status: "Success" },
  nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  ...{ assertionId: `_a${randomUUID()}`, responseId: `_r${randomUUID()}` },
  ...{
    notBefore: now - 5_000,
    notOnOrAfter: now + 300_000,
    confirmedUntil: now + 300_000,
    authnInstant: now,
  },
  method: "urn:oasis:names:tc:SAML:2.0:cm:bearer",
  classRef: "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport",
  sessionIndex: "session-1",
  attributes:
    attribute("urn:oid:0.9.2342.19200300.100.1.3", ["ada@there.example"], "mail") +
    attribute("givenName", ["Ada"]) +
    attribute("urn:oid:2.5.4.4", ["Byron"], "sn"),
});

const at = (time: number) => new Date(time).toISOString();

export function assertionXml(said: SamlAnswer): string {
  const inResponseTo = said.inResponseTo === undefined ? "" : ` InResponseTo="${said.inResponseTo}"`;
  return `<saml:Assertion xmlns:saml="${A}" ID="${said.assertionId}" Version="2.0" IssueInstant="${at(said.authnInstant)}"><saml:Issuer>${said.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${said.nameIdFormat}">${said.nameId}</saml:NameID><saml:SubjectConfirmation Method="${said.method}"><saml:SubjectConfirmationData NotOnOrAfter="${at(said.confirmedUntil)}" Recipient="${said.recipient}"${inResponseTo}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(said.notBefore)}" NotOnOrAfter="${at(said.notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${said.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(said.authnInstant)}" SessionIndex="${said.sessionIndex}"><saml:AuthnContext><saml:AuthnContextClassRef>${said.classRef}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${said.attributes}</saml:AttributeStatement></saml:Assertion>`;
}

export function responseXml(said: SamlAnswer, content: string): string {
  const inResponseTo = said.inResponseTo === undefined ? "" : ` InResponseTo="${said.inResponseTo}"`;
  return `<samlp:Response xmlns:samlp="${P}" ID="${said.responseId}" Version="2.0" IssueInstant="${at(said.authnInstant)}" Destination="${said.destination}"${inResponseTo}><saml:Issuer xmlns:saml="${A}">${said.responseIssuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${said.status}"/></samlp:Status>${content}</samlp:Response>`;
}

export interface SigningOptions {
  readonly element?: "Assertion" | "Response" | "LogoutRequest" | "LogoutResponse";
  readonly signatureAlgorithm?: string;
  readonly digestAlgorithm?: string;
  readonly canonicalization?: string;
  /** PEM, sent along in KeyInfo. */
  readonly publicCert?: string;
}

const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";

/** The signature stands where the schema wants it: behind the issuer. */
export function signXml(xml: string, key: SamlKey, options: SigningOptions = {}): string {
  const { element = "Assertion", canonicalization = EXCLUSIVE } = options;
  const reference = `//*[local-name(.)='${element}']`;
  const signer = new SignedXml({
    privateKey: key.privateKey.export({ format: "pem", type: "pkcs8" }),
    signatureAlgorithm: options.signatureAlgorithm ?? "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    canonicalizationAlgorithm: canonicalization,
    ...(options.publicCert === undefined ? {} : { publicCert: options.publicCert }),
  });
  signer.addReference({
    xpath: reference,
    transforms: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", canonicalization],
    digestAlgorithm: options.digestAlgorithm ?? "http://www.w3.org/2001/04/xmlenc#sha256",
  });
  signer.computeSignature(xml, {
    prefix: "ds",
    location: { reference: `${reference}/*[local-name(.)='Issuer']`, action: "after" },
  });
  return signer.getSignedXml();
}

export interface EncryptionOptions {
  readonly cipher?: "aes-256-gcm" | "aes-256-cbc";
  /** `rsa-1_5` is refused. */
  readonly transport?: "rsa-oaep-mgf1p" | "rsa-1_5";
  readonly element?: "EncryptedAssertion" | "EncryptedID";
}

/** @param to the key of the service provider's metadata */
export function encryptAssertion(
  assertion: string,
  to: KeyObject,
  {
    cipher = "aes-256-gcm",
    transport = "rsa-oaep-mgf1p",
    element = "EncryptedAssertion",
  }: EncryptionOptions = {},
): string {
  const key = randomBytes(32);
  const padding = transport === "rsa-1_5" ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_OAEP_PADDING;
  const wrapped = publicEncrypt({ key: to, padding, oaepHash: "sha1" }, key).toString("base64");
  const content = cipher === "aes-256-gcm" ? gcm(assertion, key) : cbc(assertion, key);
  const algorithm =
    cipher === "aes-256-gcm"
      ? "http://www.w3.org/2009/xmlenc11#aes256-gcm"
      : "http://www.w3.org/2001/04/xmlenc#aes256-cbc";
  return `<saml:${element} xmlns:saml="${A}"><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element"><xenc:EncryptionMethod Algorithm="${algorithm}"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#${transport}"/><xenc:CipherData><xenc:CipherValue>${wrapped}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${content.toString("base64")}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:${element}>`;
}

function gcm(text: string, key: Buffer): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function cbc(text: string, key: Buffer): Buffer {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final()]);
}

/** @param certificates PEM */
export function idpMetadata(
  certificates: readonly string[],
  { entityId = SAML_ISSUER, ssoUrl = "https://idp.example/sso", more = "" } = {},
): string {
  const keys = certificates.map((pem) => {
    const content = pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
    return `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${content}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
  });
  return `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="${P}">${keys.join("")}${more}<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/slo"/><md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example/post"/><md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${ssoUrl}"/></md:IDPSSODescriptor></md:EntityDescriptor>`;
}
