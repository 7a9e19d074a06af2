/** What every token and message must have: a header for a key of this agent alone, and times that are now. */
import { quoted, Refusal } from "../agent/refusal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import { type DecodedToken, optionalTimeClaim, timeClaim } from "./decode-token.ts";

const headerMembers = ["alg", "kid", "typ", "x5c"];

/** Only alg, kid, typ and the key's own certificates: `jwk` or `jku` could name another key. @throws Refusal */
export function checkHeader({ header, use }: DecodedToken, typ: string, keys: readonly AgentKey[]): AgentKey {
  const unexpected = Object.keys(header).find((name) => !headerMembers.includes(name));
  if (unexpected !== undefined)
    throw new Refusal("header", `${use}: header member ${quoted(unexpected)} is not allowed`);
  const key = keys.find(({ kid }) => kid === header["kid"]);
  if (!key) throw new Refusal("header", `${use}: kid ${quoted(header["kid"])} is not a key of this agent`);
  if (header["alg"] !== key.alg)
    throw new Refusal("header", `${use}: alg ${quoted(header["alg"])} does not match the key's ${key.alg}`);
  if (header["typ"] !== typ)
    throw new Refusal("header", `${use}: typ ${quoted(header["typ"])} instead of ${typ}`);
  const { x5c } = header;
  const isOwn =
    Array.isArray(x5c) &&
    x5c.length === key.x5c?.length &&
    x5c.every((one, index) => one === key.x5c?.[index]);
  if (x5c !== undefined && !isOwn)
    throw new Refusal("header", `${use}: x5c is not the key's certificate chain`);
  return key;
}

/** Between the clocks of service and agent. */
const MAX_SKEW_SECONDS = 60;

/** @param now milliseconds. @throws Refusal; another agent may try, as it may be this machine's clock that is wrong */
export function checkIssuedNow(token: DecodedToken, now: number): number {
  const iat = timeClaim(token, "iat");
  const seconds = now / 1000;
  if (Math.abs(iat - seconds) > MAX_SKEW_SECONDS) {
    const difference = `${Math.round(iat - seconds)} s`;
    const message = `${token.use}: iat differs by ${difference} from this machine's clock`;
    throw new Refusal("iat", message, { retryable: true });
  }
  return iat;
}

/** @returns `exp`. @throws Refusal */
export function checkTimes(
  token: DecodedToken,
  { now, maxLifetime }: { readonly now: number; readonly maxLifetime: number },
): number {
  const { use } = token;
  const exp = timeClaim(token, "exp");
  const lifetime = exp - checkIssuedNow(token, now);
  if (lifetime <= 0 || lifetime > maxLifetime)
    throw new Refusal("lifetime", `${use}: lifetime of ${lifetime} s; at most ${maxLifetime} s allowed`);
  const future = Math.max(optionalTimeClaim(token, "nbf") ?? 0, optionalTimeClaim(token, "auth_time") ?? 0);
  if (future - now / 1000 > MAX_SKEW_SECONDS)
    throw new Refusal("iat", `${use}: nbf or auth_time is in the future`);
  return exp;
}
