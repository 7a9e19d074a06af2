/** Values sealed so that a browser keeps them but can neither read nor change them: JWE `dir`, A256GCM (RFC 7516, RFC 7518 §4.5). */
import { base64url, CompactEncrypt, compactDecrypt } from "jose";
import { isRecord } from "../tokens/claims.ts";

export interface Seal {
  seal(value: unknown, expiresAt: number): Promise<string>;
  /** The value, or undefined when it is not ours, not of this purpose or name, changed, or past its end. */
  open(sealed: string): Promise<unknown>;
}

export interface SealOptions {
  /** Base64url: the first seals, all of them open. */
  readonly secrets: readonly string[];
  readonly purpose: string;
  /** The cookie that the value is for: in another one it does not open. */
  readonly name: string;
  readonly clock: () => number;
}

/** Each purpose has a key of its own, so that no kind of cookie passes for another even if a check were forgotten. */
export function createSeal({ secrets, purpose, name, clock }: SealOptions): Seal {
  const typ = `signet-${purpose}`;
  let derived: Promise<Uint8Array[]> | undefined;
  const keys = () => {
    derived ??= Promise.all(secrets.map((secret) => derivedKey(secret, purpose)));
    return derived;
  };
  return {
    seal: async (value, expiresAt) => {
      const [key] = await keys();
      if (!key) throw new TypeError("a seal needs a secret");
      return new CompactEncrypt(new TextEncoder().encode(JSON.stringify({ name, exp: expiresAt, value })))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ })
        .encrypt(key);
    },
    open: async (sealed) => {
      for (const key of await keys()) {
        const content = await opened(sealed, key, typ);
        if (content === undefined) continue;
        const isGood = content["name"] === name && Number(content["exp"]) > clock();
        return isGood ? content["value"] : undefined;
      }
      return undefined;
    },
  };
}

/** HKDF (RFC 5869) with SHA-256; the purpose is its `info`. */
async function derivedKey(secret: string, purpose: string): Promise<Uint8Array> {
  const material = await crypto.subtle.importKey("raw", plain(base64url.decode(secret)), "HKDF", false, [
    "deriveBits",
  ]);
  const info = new TextEncoder().encode(`signet cookie ${purpose}`);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256));
}

async function opened(
  sealed: string,
  key: Uint8Array,
  typ: string,
): Promise<Record<string, unknown> | undefined> {
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    const content: unknown = JSON.parse(new TextDecoder().decode(plaintext));
    return protectedHeader.typ === typ && isRecord(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** WebCrypto's types want to know that the memory is not shared. */
function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
