/** Encrypted assertions and names (XML Encryption 1.1): RSA-OAEP for the key, AES for the content; all failures are one. */
import { createDecipheriv, type KeyObject, privateDecrypt } from "node:crypto";
import {
  allElements,
  attributeOf,
  isElement,
  onlyChild,
  parseXml,
  textOf,
  type XmlElement,
  XmlRefused,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";

interface Content {
  readonly name: "aes-128-gcm" | "aes-256-gcm" | "aes-128-cbc" | "aes-256-cbc";
  readonly keyBytes: number;
}

const contents: Readonly<Record<string, Content>> = {
  "http://www.w3.org/2009/xmlenc11#aes128-gcm": { name: "aes-128-gcm", keyBytes: 16 },
  "http://www.w3.org/2009/xmlenc11#aes256-gcm": { name: "aes-256-gcm", keyBytes: 32 },
  "http://www.w3.org/2001/04/xmlenc#aes128-cbc": { name: "aes-128-cbc", keyBytes: 16 },
  "http://www.w3.org/2001/04/xmlenc#aes256-cbc": { name: "aes-256-cbc", keyBytes: 32 },
};

/** With SHA-1 in both, which is its default, or with SHA-256 in both: what OAEP needs of a hash is no resistance to collisions. */
const OAEP_MGF1P = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";
const OAEP = "http://www.w3.org/2009/xmlenc11#rsa-oaep";
const MGF1_SHA256 = "http://www.w3.org/2009/xmlenc11#mgf1sha256";
const MGF1_SHA1 = "http://www.w3.org/2009/xmlenc11#mgf1sha1";
const SHA1 = "http://www.w3.org/2000/09/xmldsig#sha1";
const SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";

export interface Decrypted {
  readonly xml: Buffer;
  readonly element: XmlElement;
}

/**
 * @param isSigned whether a signature covers the ciphertext: CBC alone would tell who changes it what is in it
 * @param name of what has to be in it
 * @throws ConnectionSignInFailure one and the same for a key that doesn't fit, a content that doesn't open, and one that is something else
 */
export async function decryptElement(
  encrypted: XmlElement,
  { key, isSigned }: { readonly key: KeyObject; readonly isSigned: boolean },
  name: "Assertion" | "NameID",
): Promise<Decrypted> {
  const xml = decrypt(encrypted, key, isSigned);
  const element = await parseXml(xml).catch((error: unknown) => {
    if (error instanceof XmlRefused) return undefined;
    throw error;
  });
  if (!element || !isElement(element, "assertion", name))
    throw new ConnectionSignInFailure("decryption-failed");
  return { xml, element };
}

function decrypt(encrypted: XmlElement, key: KeyObject, isSigned: boolean): Buffer {
  const data = onlyChild(encrypted, "encryption", "EncryptedData");
  const content = contents[algorithmOf(data) ?? ""];
  if (!data || !content || (content.name.endsWith("cbc") && !isSigned))
    throw new ConnectionSignInFailure("algorithm-refused", { detail: "EncryptedData" });
  const keys = allElements(encrypted).filter((element) => isElement(element, "encryption", "EncryptedKey"));
  const [wrapped] = keys;
  const hash = wrapped && keys.length === 1 ? oaepHash(wrapped) : undefined;
  if (!wrapped || hash === undefined)
    throw new ConnectionSignInFailure("algorithm-refused", { detail: "EncryptedKey" });
  try {
    const contentKey = privateDecrypt({ key, oaepHash: hash }, cipherValue(wrapped));
    if (contentKey.length !== content.keyBytes) throw new Error("a key of another length");
    return decryptContent(content, contentKey, cipherValue(data));
  } catch {
    // One answer for all: it tells nothing about what would have been there.
    throw new ConnectionSignInFailure("decryption-failed");
  }
}

const algorithmOf = (element: XmlElement | undefined): string | undefined => {
  const method = element && onlyChild(element, "encryption", "EncryptionMethod");
  return method && attributeOf(method, "Algorithm");
};

/** @returns undefined for what is no OAEP of which both hashes are the same */
function oaepHash(wrapped: XmlElement): "sha1" | "sha256" | undefined {
  const algorithm = algorithmOf(wrapped);
  const method = onlyChild(wrapped, "encryption", "EncryptionMethod");
  const parts = method ? allElements(method) : [];
  const named = (name: string) => {
    const element = parts.find(({ localName }) => localName === name);
    return element && attributeOf(element, "Algorithm");
  };
  if (parts.some(({ localName }) => localName === "OAEPparams")) return undefined;
  const digest = named("DigestMethod") ?? SHA1;
  const mask = algorithm === OAEP_MGF1P ? MGF1_SHA1 : (named("MGF") ?? MGF1_SHA1);
  if (algorithm !== OAEP_MGF1P && algorithm !== OAEP) return undefined;
  if (digest === SHA1 && mask === MGF1_SHA1) return "sha1";
  return digest === SHA256 && mask === MGF1_SHA256 ? "sha256" : undefined;
}

function cipherValue(element: XmlElement): Buffer {
  const data = onlyChild(element, "encryption", "CipherData");
  const value = data && onlyChild(data, "encryption", "CipherValue");
  return Buffer.from(value ? textOf(value) : "", "base64");
}

const IV_BYTES = { gcm: 12, cbc: 16 };
const TAG_BYTES = 16;

function decryptContent({ name }: Content, key: Buffer, sent: Buffer): Buffer {
  if (name === "aes-128-gcm" || name === "aes-256-gcm") {
    const decipher = createDecipheriv(name, key, sent.subarray(0, IV_BYTES.gcm), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sent.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sent.subarray(IV_BYTES.gcm, -TAG_BYTES)), decipher.final()]);
  }
  const decipher = createDecipheriv(name, key, sent.subarray(0, IV_BYTES.cbc)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(sent.subarray(IV_BYTES.cbc)), decipher.final()]);
  // XML Encryption §5.2: the last byte says how many bytes are none of the content; the others are anything.
  const padding = padded.at(-1) ?? 0;
  if (padding === 0 || padding > IV_BYTES.cbc) throw new Error("no padding");
  return padded.subarray(0, -padding);
}
