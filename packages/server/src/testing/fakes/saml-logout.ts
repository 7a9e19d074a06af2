/** Logout messages of a SAML identity provider that a test makes lie. */
import { randomUUID, sign, verify, type X509Certificate } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { SAML_ISSUER, type SamlKey } from "./hostile-saml-provider.ts";

const P = "urn:oasis:names:tc:SAML:2.0:protocol";
const A = "urn:oasis:names:tc:SAML:2.0:assertion";
export const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";

/** Everything that a logout message says. */
export interface SamlLogout {
  readonly element: "LogoutRequest" | "LogoutResponse";
  readonly id: string;
  readonly issuer: string;
  readonly destination: string;
  readonly issueInstant: number;
  readonly notOnOrAfter: number | undefined;
  /** XML: of a request the name and its sessions, of a response its status. */
  readonly content: string;
  readonly inResponseTo: string | undefined;
}

export const nameIdXml = (text: string, attributes = ` Format="${PERSISTENT}"`): string =>
  `<saml:NameID${attributes}>${text}</saml:NameID>`;
export const sessionXml = (index: string): string => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`;
const STATUS = `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>`;

export const logoutOf = (sloUri: string, now: number, content: string): SamlLogout => ({
  ...{ element: "LogoutRequest", id: `_l${randomUUID()}`, issuer: SAML_ISSUER, destination: sloUri },
  ...{ issueInstant: now, notOnOrAfter: now + 60_000, content, inResponseTo: undefined },
});

export const logoutAnswer = (sloUri: string, now: number, inResponseTo: string): SamlLogout => ({
  ...logoutOf(sloUri, now, STATUS),
  ...{ element: "LogoutResponse", notOnOrAfter: undefined, inResponseTo },
});

const at = (time: number) => new Date(time).toISOString();

export function logoutXml(said: SamlLogout): string {
  const until = said.notOnOrAfter === undefined ? "" : ` NotOnOrAfter="${at(said.notOnOrAfter)}"`;
  const answered = said.inResponseTo === undefined ? "" : ` InResponseTo="${said.inResponseTo}"`;
  return `<samlp:${said.element} xmlns:samlp="${P}" xmlns:saml="${A}" ID="${said.id}" Version="2.0" IssueInstant="${at(said.issueInstant)}" Destination="${said.destination}"${until}${answered}><saml:Issuer>${said.issuer}</saml:Issuer>${said.content}</samlp:${said.element}>`;
}

export const messageName = ({ element }: Pick<SamlLogout, "element">) =>
  element === "LogoutRequest" ? "SAMLRequest" : "SAMLResponse";

/** @param key undefined for a message that is not signed. @returns the query, signed as it is */
export function redirectQuery(
  name: "SAMLRequest" | "SAMLResponse",
  xml: string,
  {
    key,
    relayState,
    algorithm = RSA_SHA256,
    hash = "sha256",
  }: {
    readonly key?: SamlKey | undefined;
    readonly relayState?: string | undefined;
    readonly algorithm?: string;
    readonly hash?: string;
  } = {},
): string {
  const parts = [
    [name, deflateRawSync(xml).toString("base64")],
    ...(relayState === undefined ? [] : [["RelayState", relayState]]),
    ...(key === undefined ? [] : [["SigAlg", algorithm]]),
  ];
  const query = parts.map(([field, value = ""]) => `${field}=${encodeURIComponent(value)}`).join("&");
  if (key === undefined) return query;
  const signature = sign(hash, Buffer.from(query), key.privateKey).toString("base64");
  return `${query}&Signature=${encodeURIComponent(signature)}`;
}

/** What Signet sends, once its signature is known to be good. */
export function readSentLogout(sentTo: string, certificate: X509Certificate) {
  const { origin, pathname, searchParams } = new URL(sentTo);
  const [, query = "", signature = ""] = /[?&](SAML.+)&Signature=(.+)$/.exec(sentTo) ?? [];
  const value = Buffer.from(decodeURIComponent(signature), "base64");
  const isSigned = verify("sha256", Buffer.from(query), certificate.publicKey, value);
  const sent = searchParams.get("SAMLRequest") ?? searchParams.get("SAMLResponse") ?? "";
  const xml = inflateRawSync(Buffer.from(sent, "base64")).toString();
  const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1];
  return {
    ...{ isSigned, xml, attribute, address: origin + pathname },
    relayState: searchParams.get("RelayState") ?? undefined,
  };
}
