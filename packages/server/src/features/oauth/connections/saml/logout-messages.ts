/** The logout messages that Signet sends: signed, by Redirect (SAML 2.0 Core §3.7, Bindings §3.4). */
import type { KeyObject } from "node:crypto";
import { escapeXml, namespaces } from "../../../../core/connections/saml/xml.ts";
import { type NameId, nameIdXml } from "./name-id.ts";
import { instant, redirectAddress, written } from "./redirect-binding.ts";

export interface LogoutSender {
  readonly sloUrl: string;
  readonly spEntityId: string;
  readonly key: KeyObject;
  readonly now: number;
}

const VALID_MS = 300_000;
const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";

function messageXml(
  name: "LogoutRequest" | "LogoutResponse",
  { sloUrl, spEntityId, now }: LogoutSender,
  {
    attributes,
    content,
  }: { readonly attributes: Readonly<Record<string, string>>; readonly content: string },
): string {
  const all = { Version: "2.0", IssueInstant: instant(now), Destination: sloUrl, ...attributes };
  return `<samlp:${name} xmlns:samlp="${namespaces.protocol}"${written(all)}><saml:Issuer xmlns:saml="${
    namespaces.assertion
  }">${escapeXml(spEntityId)}</saml:Issuer>${content}</samlp:${name}>`;
}

/** What was kept of the sign-in there. */
export interface LogoutHint {
  readonly nameId: NameId;
  readonly sessionIndex?: string | undefined;
}

/** @returns where the browser goes */
export function logoutRequestAddress(
  sender: LogoutSender,
  { nameId, sessionIndex }: LogoutHint,
  { id, relayState }: { readonly id: string; readonly relayState: string },
): string {
  const attributes = {
    ...{ ID: id, NotOnOrAfter: instant(sender.now + VALID_MS) },
    Reason: "urn:oasis:names:tc:SAML:2.0:logout:user",
  };
  const index =
    sessionIndex === undefined ? "" : `<samlp:SessionIndex>${escapeXml(sessionIndex)}</samlp:SessionIndex>`;
  const content = nameIdXml(nameId) + index;
  const message = messageXml("LogoutRequest", sender, { attributes, content });
  return redirectAddress(sender.sloUrl, { name: "SAMLRequest", message, relayState }, sender.key);
}

/** @param answered the request, and what it brought along for itself */
export function logoutResponseAddress(
  sender: LogoutSender,
  id: string,
  answered: { readonly requestId: string; readonly relayState: string | undefined },
): string {
  const attributes = { ID: id, InResponseTo: answered.requestId };
  const content = `<samlp:Status><samlp:StatusCode Value="${SUCCESS}"/></samlp:Status>`;
  const message = messageXml("LogoutResponse", sender, { attributes, content });
  const { relayState } = answered;
  return redirectAddress(sender.sloUrl, { name: "SAMLResponse", message, relayState }, sender.key);
}
