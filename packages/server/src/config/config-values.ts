/** Reads single settings from the environment: blank means unset, and a fault names the setting, never its value. */
import { isIP } from "node:net";
import { resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

export function text(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

export interface Bounds {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

export function wholeNumber(
  env: Env,
  name: string,
  { fallback, min, max }: Bounds,
  faults: string[],
): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  faults.push(`${name} must be an integer from ${min} to ${max}`);
  return fallback;
}

/** A base URL without its trailing slash. */
export function webAddress(env: Env, name: string, faults: string[]): string | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isPlain =
    url &&
    url.pathname === "/" &&
    !url.username &&
    !url.password &&
    !value.includes("?") &&
    !value.includes("#");
  if (!url || !isPlain || (url.protocol !== "https:" && url.protocol !== "http:"))
    faults.push(`${name} must be an http or https URL without path, query, fragment or credentials`);
  return (url?.href ?? value).replace(/\/+$/, "");
}

export const path = (env: Env, name: string): string | undefined => {
  const value = text(env, name);
  return value === undefined ? undefined : resolve(value);
};

export const entries = (env: Env, name: string): string[] =>
  (text(env, name) ?? "").split(",").flatMap((entry) => entry.trim() || []);

/** IP addresses and networks; a prefix length of 0 is rejected. */
export function networks(env: Env, name: string, faults: string[]): string[] {
  const read = entries(env, name);
  for (const entry of read) {
    const [address = "", bits, ...rest] = entry.split("/");
    const version = isIP(address);
    const maxBits = version === 4 ? 32 : 128;
    const hasValidBits =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= maxBits);
    if (!version || !hasValidBits || rest.length > 0)
      faults.push(`${name}: "${entry}" is not an address or network`);
  }
  return read;
}
