/** An encrypted cookie, split into chunks if necessary: sessions and pending sign-ins. */
import { SignetError } from "../errors.ts";
import { cookieName, parseCookies, setCookie } from "./cookie-header.ts";
import { createSeal } from "./cookie-seal.ts";

/** Browsers accept 4096 bytes of name, value and attributes. */
const CHUNK_LENGTH = 3_800;
/**
 * Of all chunks. Servers reject requests with more than 16 KiB of headers (Node's limit), which would lock the user out until
 * the cookie expires. Leaves room for pending sign-ins and other headers.
 */
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
  /**
   * `Set-Cookie` values. With the request, leftover chunks of a longer value are deleted too.
   *
   * @throws SignetError `provider_answer` if the value is too long for browsers and servers
   */
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
          "The provider's response is too large to be stored in cookies.",
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
