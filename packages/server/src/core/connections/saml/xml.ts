/**
 * Reads XML of others: SAML messages and metadata. No document type, no entities of its own, no processing instructions, and nothing
 * that is deep or wide enough to cost more than it says.
 */
import type { XmlElement, XmlNode, XmlParser } from "@xmldom/xmldom/lib/dom-parser.js";

export type { XmlElement } from "@xmldom/xmldom/lib/dom-parser.js";

export const MAX_XML_BYTES = 256 * 1024;

export const namespaces = {
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  metadata: "urn:oasis:names:tc:SAML:2.0:metadata",
  signature: "http://www.w3.org/2000/09/xmldsig#",
  encryption: "http://www.w3.org/2001/04/xmlenc#",
} as const;

export type Namespace = keyof typeof namespaces;

/** Why it is refused: never what it says. */
export class XmlRefused extends Error {
  override readonly name = "XmlRefused";
}

const MAX_TAGS = 20_000;
const MAX_ATTRIBUTES = 60;
const MAX_DEPTH = 40;

const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;
const PROCESSING_INSTRUCTION = 7;

/** Loads the parser by need: most processes never read any. @throws XmlRefused */
export async function parseXml(bytes: Buffer): Promise<XmlElement> {
  const text = readText(bytes);
  refuseCostly(text);
  const { DOMParser } = (await import("@xmldom/xmldom/lib/dom-parser.js")).default;
  const root = parseStrictly(text, DOMParser);
  refuseDeep(root);
  return root;
}

/** @throws XmlRefused */
function readText(bytes: Buffer): string {
  if (bytes.length > MAX_XML_BYTES) throw new XmlRefused(`it is larger than ${MAX_XML_BYTES} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new XmlRefused("it is not UTF-8");
  }
}

/** By the text alone, so that the parser gets nothing that it could be led by. */
function refuseCostly(text: string): void {
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new XmlRefused("it has a document type or entities");
  if (/<\?/.test(text.replace(/^<\?xml\s[^?<>]{0,200}\?>/, "")))
    throw new XmlRefused("it has processing instructions");
  if (/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/u.test(text))
    throw new XmlRefused("it has characters that are none of XML");
  // No attribute's value has a raw `<`: between two of them there is at most one tag.
  let tags = 0;
  for (let start = text.indexOf("<"); start !== -1; tags++) {
    const end = text.indexOf("<", start + 1);
    const tag = text.slice(start, end === -1 ? undefined : end);
    if ((tag.match(/=\s*["']/g)?.length ?? 0) > MAX_ATTRIBUTES || tags > MAX_TAGS)
      throw new XmlRefused("it has too many elements or attributes");
    start = end;
  }
}

function parseStrictly(text: string, DOMParser: XmlParser): XmlElement {
  const failed = (_level: string, message: string) => {
    throw new XmlRefused(`it is not well-formed: ${message.split("\n")[0]}`);
  };
  const document = parsed(() => new DOMParser({ errorHandler: failed }).parseFromString(text, "text/xml"));
  const { documentElement: root, doctype } = document;
  const isAlone = childrenOf(document).length === 1;
  if (!root || doctype || !isAlone) throw new XmlRefused("it is not one element");
  return root;
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof XmlRefused ? error : new XmlRefused("it is not well-formed", { cause: error });
  }
}

function refuseDeep(root: XmlElement): void {
  let level: readonly XmlElement[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new XmlRefused("it is too deep");
    level = level.flatMap((element) => childrenOf(element));
  }
}

/** Its elements. */
export function childrenOf(node: XmlNode): XmlElement[] {
  const found: XmlElement[] = [];
  for (let at = node.firstChild; at !== null; at = at.nextSibling) {
    if (at.nodeType === PROCESSING_INSTRUCTION && at.nodeName !== "xml")
      throw new XmlRefused("it has processing instructions");
    if (at.nodeType === ELEMENT) found.push(at as XmlElement);
  }
  return found;
}

export const isElement = (element: XmlElement, namespace: Namespace, name: string): boolean =>
  element.localName === name && element.namespaceURI === namespaces[namespace];

export const childrenNamed = (parent: XmlElement, namespace: Namespace, name: string): XmlElement[] =>
  childrenOf(parent).filter((child) => isElement(child, namespace, name));

/** @throws XmlRefused when there are several */
export function onlyChild(parent: XmlElement, namespace: Namespace, name: string): XmlElement | undefined {
  const found = childrenNamed(parent, namespace, name);
  if (found.length > 1) throw new XmlRefused(`it has several ${name} in one ${parent.localName}`);
  return found[0];
}

/** It and all below it, at any depth. */
export function allElements(root: XmlElement): XmlElement[] {
  const all = [root];
  for (let at = 0; at < all.length; at++) {
    const element = all[at];
    if (element) all.push(...childrenOf(element));
  }
  return all;
}

/** Without a namespace. */
export function attributeOf(element: XmlElement, name: string): string | undefined {
  for (let index = 0; index < element.attributes.length; index++) {
    const attribute = element.attributes.item(index);
    if (attribute && !attribute.namespaceURI && attribute.name === name) return attribute.value;
  }
  return undefined;
}

/**
 * All of its text: comments in it end nothing, and are no part of it.
 * @throws XmlRefused when it has elements
 */
export function textOf(element: XmlElement): string {
  let text = "";
  for (let at = element.firstChild; at !== null; at = at.nextSibling) {
    if (at.nodeType === ELEMENT) throw new XmlRefused(`${element.localName} is no text`);
    if (at.nodeType === TEXT || at.nodeType === CDATA) text += at.textContent ?? "";
  }
  return text;
}

/** As text or as the value of an attribute. */
export const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"'\t\r\n]/g, (sign) => `&#${sign.charCodeAt(0)};`);
