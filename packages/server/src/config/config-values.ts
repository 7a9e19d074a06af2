/** How single settings are read from the environment: blank is not set, and a fault names the setting, never its value. */
import { isIP } from "node:net";
import { resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

export function text(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

export interface Bounds {
  readonly fallback: number;
  readonly least: number;
  readonly most: number;
}

export function wholeNumber(
  env: Env,
  name: string,
  { fallback, least, most }: Bounds,
  faults: string[],
): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  faults.push(`${name} must be a whole number from ${least} to ${most}`);
  return fallback;
}

/** A web address that paths are put behind, without its trailing slash. @param value what stands there when it is not set */
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
    faults.push(`${name} must be a web address without path, query, fragment or credentials`);
  return (url?.href ?? value).replace(/\/+$/, "");
}

export const path = (env: Env, name: string): string | undefined => {
  const value = text(env, name);
  return value === undefined ? undefined : resolve(value);
};

/** Entries separated by commas. */
export const entries = (env: Env, name: string): string[] =>
  (text(env, name) ?? "").split(",").flatMap((entry) => entry.trim() || []);

/** Addresses and networks; a network of all addresses is none. */
export function networks(env: Env, name: string, faults: string[]): string[] {
  const read = entries(env, name);
  for (const entry of read) {
    const [address = "", bits, ...rest] = entry.split("/");
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const fineBits =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most);
    if (!version || !fineBits || rest.length > 0)
      faults.push(`${name}: "${entry}" is not an address or network`);
  }
  return read;
}
