/** A cookie whose value only this application can read: sessions and sign-ins under way. */
import { SignetError } from "../errors.ts";
import { cookieName, cookiesOf, setCookie } from "./cookie-header.ts";
import { createSeal } from "./cookie-seal.ts";

/** Browsers keep 4096 bytes of name, value and attributes; more is cut in chunks. */
const CHUNK_LENGTH = 3_800;
/**
 * Of all chunks together. Servers refuse requests with more than 16 KiB of headers (Node's limit), whatever the cookie says: with
 * room for sign-ins under way and for what browsers send besides, or somebody is locked out until the cookie ends.
 */
const MAX_LENGTH = 12_000;
const MAX_CHUNKS = Math.ceil(MAX_LENGTH / CHUNK_LENGTH);

export interface SealedCookieOptions {
  /** Without `__Host-`, which is put before it on https. */
  readonly name: string;
  /** What the value is for: sealed values of one purpose do not open for another. */
  readonly purpose: string;
  /** Base64url of 32 bytes or more each: the first seals, the others still open. */
  readonly secrets: readonly string[];
  /** Whether the application is on https. */
  readonly isSecure: boolean;
  /** The end is sealed inside as well, as a browser need not keep to it. */
  readonly lifetimeSeconds: number;
  readonly clock: () => number;
}

export interface SealedCookie {
  /** As the browser knows it. */
  readonly name: string;
  /** The value; undefined when there is none, or none that is sealed by us for this cookie and still good. Never throws. */
  read(request: Request): Promise<unknown | undefined>;
  /**
   * `Set-Cookie` values. With the request, chunks that a longer value has left behind are deleted too.
   * Throws `SignetError` `provider_answer` when the value is longer than browsers and servers bear.
   */
  write(value: unknown, request?: Request): Promise<string[]>;
  /** `Set-Cookie` values that delete it: what the request has of it or, without a request, all that there may be. */
  clear(request?: Request): string[];
}

/** The first cookie says how many there are (`3~…`): one left over from a longer value is never read. */
export function createSealedCookie(options: SealedCookieOptions): SealedCookie {
  const { isSecure, lifetimeSeconds, clock } = options;
  const name = cookieName(options.name, isSecure);
  const seal = createSeal({ ...options, name });
  const chunkName = (index: number) => (index === 0 ? name : `${name}.${index}`);
  const indices = [...Array(MAX_CHUNKS).keys()];
  const deleted = (index: number) => setCookie(chunkName(index), "", isSecure, 0);
  const present = (request: Request) => {
    const cookies = cookiesOf(request);
    return indices.filter((index) => cookies.has(chunkName(index)));
  };
  return {
    name,
    read: async (request) => {
      const cookies = cookiesOf(request);
      const [, count, start] = /^([1-4])~(.*)$/.exec(cookies.get(name) ?? "") ?? [];
      if (count === undefined || start === undefined) return undefined;
      const others = indices.slice(1, Number(count)).map((index) => cookies.get(chunkName(index)) ?? "");
      return seal.open([start, ...others].join(""));
    },
    write: async (value, request) => {
      const sealed = await seal.seal(value, clock() + lifetimeSeconds * 1000);
      const chunks = sealed.match(new RegExp(`.{1,${CHUNK_LENGTH}}`, "g")) ?? [];
      if (sealed.length > MAX_LENGTH)
        throw new SignetError("provider_answer", "What the provider gave is too long to be kept in cookies.");
      const stale = request ? present(request).filter((index) => index >= chunks.length) : [];
      return [
        ...chunks.map((chunk, index) => {
          const content = index === 0 ? `${chunks.length}~${chunk}` : chunk;
          return setCookie(chunkName(index), content, isSecure, lifetimeSeconds);
        }),
        ...stale.map(deleted),
      ];
    },
    clear: (request) => (request ? present(request) : indices).map(deleted),
  };
}
