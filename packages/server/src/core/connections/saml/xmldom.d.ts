/** As much of @xmldom/xmldom as is used: its own declarations bring the whole DOM of a browser into the program. */
declare module "@xmldom/xmldom/lib/dom-parser.js" {
  export interface XmlNode {
    readonly nodeType: number;
    readonly nodeName: string;
    readonly localName: string | null;
    readonly namespaceURI: string | null;
    readonly childNodes: { readonly length: number; item(index: number): XmlNode | null };
    readonly firstChild: XmlNode | null;
    readonly nextSibling: XmlNode | null;
    readonly parentNode: XmlNode | null;
    readonly textContent: string | null;
  }
  export interface XmlAttribute {
    readonly name: string;
    readonly localName: string;
    readonly namespaceURI: string | null;
    readonly value: string;
  }
  export interface XmlElement extends XmlNode {
    readonly localName: string;
    readonly attributes: { readonly length: number; item(index: number): XmlAttribute | null };
  }
  export interface XmlDocument extends XmlNode {
    readonly documentElement: XmlElement | null;
    readonly doctype: XmlNode | null;
  }
  export type XmlParser = new (options: {
    errorHandler: (level: string, message: string) => void;
  }) => { parseFromString(text: string, type: string): XmlDocument };
  const parser: { DOMParser: XmlParser };
  // biome-ignore lint/style/noDefaultExport: what a CommonJS module is to an import
  export default parser;
}
