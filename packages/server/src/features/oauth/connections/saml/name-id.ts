/** How a SAML identity provider names somebody (SAML 2.0 Core §2.2.3): read whole, and said as it was when they sign out. */
import {
  attributeOf,
  escapeXml,
  namespaces,
  textOf,
  type XmlElement,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { written } from "./redirect-binding.ts";

export const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

export interface NameId {
  readonly text: string;
  /** `Format`, `NameQualifier` and `SPNameQualifier`, as far as it has them. */
  readonly attributes: Readonly<Record<string, string>>;
}

const qualifiers = ["NameQualifier", "SPNameQualifier", "Format"] as const;

/** @throws ConnectionSignInFailure for another service's, XmlRefused */
export function readNameId(element: XmlElement, spEntityId: string): NameId {
  const given = qualifiers.flatMap((name) => {
    const value = attributeOf(element, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const attributes: Record<string, string> = Object.fromEntries(given);
  const { SPNameQualifier: qualifier = spEntityId } = attributes;
  if (qualifier !== spEntityId)
    throw new ConnectionSignInFailure("nameid-refused", { detail: "SPNameQualifier is another's" });
  return { text: textOf(element), attributes };
}

/** Strongly the same as it was in the assertion (Core §3.3.4, §3.7.3). */
export const nameIdXml = ({ text, attributes }: NameId): string =>
  `<saml:NameID xmlns:saml="${namespaces.assertion}"${written(attributes)}>${escapeXml(text)}</saml:NameID>`;
