/** Values the browser stores but can neither read nor change: JWE `dir`, A256GCM (RFC 7516, RFC 7518 §4.5). */
import { base64url, CompactEncrypt, compactDecrypt } from "jose";
import { isRecord } from "../tokens/claims.ts";

export interface Seal {
  seal(value: unknown, expiresAt: number): Promise<string>;
  /** Undefined for a value that isn't ours, has another purpose or name, was changed, or has expired. */
  open(sealed: string): Promise<unknown>;
}

export interface SealOptions {
  /** Base64url: the first encrypts, all of them decrypt. */
  readonly secrets: readonly string[];
  readonly purpose: string;
  /** The cookie the value belongs to; it doesn't open in another one. */
  readonly name: string;
  readonly clock: () => number;
}

/** Each purpose has its own key, so that one kind of cookie can't pass for another even if a check were missing. */
export function createSeal({ secrets, purpose, name, clock }: SealOptions): Seal {
  const typ = `signet-${purpose}`;
  let derived: Promise<Uint8Array[]> | undefined;
  const deriveKeys = () => {
    derived ??= Promise.all(secrets.map((secret) => deriveKey(secret, purpose)));
    return derived;
  };
  return {
    seal: async (value, expiresAt) => {
      const [key] = await deriveKeys();
      if (!key) throw new TypeError("a seal needs a secret");
      return new CompactEncrypt(new TextEncoder().encode(JSON.stringify({ name, exp: expiresAt, value })))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ })
        .encrypt(key);
    },
    open: async (sealed) => {
      for (const key of await deriveKeys()) {
        const content = await decrypt(sealed, key, typ);
        if (content === undefined) continue;
        const isValid = content["name"] === name && Number(content["exp"]) > clock();
        return isValid ? content["value"] : undefined;
      }
      return undefined;
    },
  };
}

/** HKDF (RFC 5869) with SHA-256; the purpose is its `info`. */
async function deriveKey(secret: string, purpose: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(base64url.decode(secret));
  const material = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveBits"]);
  const info = new TextEncoder().encode(`signet cookie ${purpose}`);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256));
}

async function decrypt(
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
