/** Encrypted cookies, in chunks if necessary: JWE `dir`, A256GCM (RFC 7516, RFC 7518 §4.5). */
import { base64url, CompactEncrypt, compactDecrypt } from "jose";
import { named } from "../configuration/properties.ts";
import { SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import { cookieName, parseCookies, setCookie } from "./cookie-header.ts";

/** Browsers accept 4096 bytes of name, value and attributes. */
const CHUNK_LENGTH = 3_800;
/** Of all chunks: servers reject more than 16 KiB of headers (Node's limit), which would lock the user out. */
const MAX_LENGTH = 12_000;
const MAX_CHUNKS = Math.ceil(MAX_LENGTH / CHUNK_LENGTH);

export interface SealedCookieOptions {
  /** Without `__Host-`, which is added on https. */
  readonly name: string;
  /** Values sealed for one purpose don't open for another. */
  readonly purpose: string;
  /** Base64url of at least 32 bytes each: the first encrypts, all of them decrypt. */
  readonly secrets: readonly string[];
  /** Whether the application uses https. */
  readonly isSecure: boolean;
  /** Also sealed inside, because a browser need not respect it. */
  readonly lifetimeSeconds: number;
  readonly clock: () => number;
}

export interface SealedCookie {
  /** As the browser knows it. */
  readonly name: string;
  /** Undefined without a valid cookie. Never throws. */
  read(request: Request): Promise<unknown | undefined>;
  /** `Set-Cookie` values; with the request, leftover chunks are deleted too. @throws SignetError `provider_answer` if too long */
  write(value: unknown, request?: Request): Promise<string[]>;
  /** `Set-Cookie` values that delete the request's chunks; without a request, all possible ones. */
  clear(request?: Request): string[];
}

/** The first chunk states their number (`3~…`), so that a leftover chunk is never read. */
export function createSealedCookie(options: SealedCookieOptions): SealedCookie {
  const { isSecure, lifetimeSeconds, clock } = options;
  const name = cookieName(options.name, isSecure);
  const seal = createSeal({ ...options, name });
  const chunkName = (index: number) => (index === 0 ? name : `${name}.${index}`);
  const indices = [...Array(MAX_CHUNKS).keys()];
  const deleteChunk = (index: number) => setCookie(chunkName(index), "", isSecure, 0);
  const presentChunks = (request: Request) => {
    const cookies = parseCookies(request);
    return indices.filter((index) => cookies.has(chunkName(index)));
  };
  return {
    name,
    read: async (request) => {
      const cookies = parseCookies(request);
      const [, count, start] = /^([1-4])~(.*)$/.exec(cookies.get(name) ?? "") ?? [];
      if (count === undefined || start === undefined) return undefined;
      const others = indices.slice(1, Number(count)).map((index) => cookies.get(chunkName(index)) ?? "");
      return seal.open([start, ...others].join(""));
    },
    write: async (value, request) => {
      const sealed = await seal.seal(value, clock() + lifetimeSeconds * 1000);
      if (sealed.length > MAX_LENGTH)
        throw new SignetError(
          "provider_answer",
          `The session would need ${sealed.length} characters of cookies, ${MAX_LENGTH} at most: request fewer claims with ` +
            `${named("oauthScopes")}, take custom claims out of the application's tokens, or sign them with less than ML-DSA-87.`,
          { description: "The provider's response is too large to be stored in cookies." },
        );
      const chunks = sealed.match(new RegExp(`.{1,${CHUNK_LENGTH}}`, "g")) ?? [];
      const stale = request ? presentChunks(request).filter((index) => index >= chunks.length) : [];
      const written = chunks.map((chunk, index) =>
        setCookie(
          chunkName(index),
          index === 0 ? `${chunks.length}~${chunk}` : chunk,
          isSecure,
          lifetimeSeconds,
        ),
      );
      return [...written, ...stale.map(deleteChunk)];
    },
    clear: (request) => (request ? presentChunks(request) : indices).map(deleteChunk),
  };
}

/** Each purpose has its own key, so that one kind of cookie can't pass for another even if a check were missing. */
function createSeal({ secrets, purpose, name, clock }: SealedCookieOptions) {
  const typ = `signet-${purpose}`;
  let derived: Promise<Uint8Array[]> | undefined;
  const deriveKeys = () => {
    derived ??= Promise.all(secrets.map((secret) => deriveKey(secret, purpose)));
    return derived;
  };
  return {
    seal: async (value: unknown, expiresAt: number): Promise<string> => {
      const [key] = await deriveKeys();
      if (!key) throw new TypeError("a seal needs a secret");
      return new CompactEncrypt(new TextEncoder().encode(JSON.stringify({ name, exp: expiresAt, value })))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ })
        .encrypt(key);
    },
    /** Undefined for a value that isn't ours, has another purpose or name, was changed, or has expired. */
    open: async (sealed: string): Promise<unknown> => {
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
