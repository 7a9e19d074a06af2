/** The configuration: read from the environment here and nowhere else, checked whole, every fault named at once. */
import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { type MailSender, parseSender, parseSmtpUrl, type SmtpSettings } from "./core/mail/smtp-settings.ts";
import { isAllowEntry } from "./core/outbound/address-rules.ts";
import { defaultConcurrency } from "./core/passwords/password-hasher.ts";
import {
  defaultRateLimits,
  type RateLimit,
  type RateLimitName,
  type RateLimits,
} from "./core/rate-limits/rate-limits.ts";

export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; every URL that the service emits begins with it. */
  readonly baseUrl: string;
  readonly dataDir: string;
  /** `sqlite:<path>` or `postgres://…` */
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** 32 bytes; undefined: a key file in the data folder. */
  readonly masterKey: Buffer | undefined;
  readonly logLevel: string;
  readonly trustedProxies: readonly string[];
  readonly rateLimits: RateLimits;
  /** Password hashes under way at once; more than two ask for a larger UV_THREADPOOL_SIZE. */
  readonly passwordConcurrency: number;
  /** Hosts and networks that may be called although they are not public, e.g. an application's own network. */
  readonly outboundAllow: readonly string[];
  /** A signing key older than this gets a successor; 0 turns it off. */
  readonly keyRotationDays: number;
  /** Undefined: no mail is sent. */
  readonly mail: { readonly smtp: SmtpSettings; readonly sender: MailSender } | undefined;
}

export class InvalidConfig extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.name = "InvalidConfig";
    this.faults = faults;
  }
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** @throws InvalidConfig naming every fault, never a value that may be a secret */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const faults: string[] = [];
  const port = wholeNumber(env, "PORT", 8080, 1, 65_535, faults);
  const dataDir = resolve(text(env, "SIGNET_DATA_DIR") ?? "./data");
  const logLevel = text(env, "LOG_LEVEL") ?? "info";
  if (!LOG_LEVELS.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}`);
  const config: Config = {
    port,
    host: text(env, "HOST") ?? "localhost",
    baseUrl: baseUrl(env, port, faults),
    dataDir,
    databaseUrl: databaseUrl(env, dataDir, faults),
    databasePoolSize: wholeNumber(env, "SIGNET_DATABASE_POOL", 10, 1, 500, faults),
    masterKey: masterKey(env, faults),
    logLevel,
    trustedProxies: trustedProxies(env, faults),
    rateLimits: rateLimits(env, faults),
    passwordConcurrency: wholeNumber(env, "SIGNET_PASSWORD_CONCURRENCY", defaultConcurrency(), 1, 64, faults),
    outboundAllow: outboundAllow(env, faults),
    keyRotationDays: wholeNumber(env, "SIGNET_KEY_ROTATION_DAYS", 90, 0, 3_650, faults),
    mail: mail(env, faults),
  };
  if (faults.length > 0) throw new InvalidConfig(faults);
  return config;
}

type Env = Readonly<Record<string, string | undefined>>;

function text(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

function wholeNumber(
  env: Env,
  name: string,
  fallback: number,
  least: number,
  most: number,
  faults: string[],
): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  faults.push(`${name} must be a whole number from ${least} to ${most}`);
  return fallback;
}

function baseUrl(env: Env, port: number, faults: string[]): string {
  const value = text(env, "SIGNET_BASE_URL");
  if (value === undefined) return `http://localhost:${port}`;
  const url = URL.parse(value);
  const plain =
    url &&
    url.pathname === "/" &&
    !url.username &&
    !url.password &&
    !value.includes("?") &&
    !value.includes("#");
  const loopback = url && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (!url || !plain || (url.protocol !== "https:" && url.protocol !== "http:")) {
    faults.push("SIGNET_BASE_URL must be a web address without path, query, fragment or credentials");
  } else if (url.protocol === "http:" && !loopback) {
    // OpenID Connect Discovery §3: the issuer uses https. Cookies and tokens would travel in clear otherwise.
    faults.push("SIGNET_BASE_URL must be https, except on localhost");
  }
  return (url?.href ?? value).replace(/\/+$/, "");
}

function databaseUrl(env: Env, dataDir: string, faults: string[]): string {
  const value = text(env, "DATABASE_URL");
  if (value === undefined) return `sqlite:${resolve(dataDir, "signet.db")}`;
  if (value.startsWith("sqlite:") && value.length > "sqlite:".length) return value;
  if (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)) return value;
  faults.push("DATABASE_URL must be postgres://… (unset: SQLite in the data folder)");
  return value;
}

function masterKey(env: Env, faults: string[]): Buffer | undefined {
  const value = text(env, "SIGNET_MASTER_KEY");
  if (value === undefined) return undefined;
  const bytes = /^[0-9a-f]{64}$/i.test(value) ? Buffer.from(value, "hex") : Buffer.from(value, "base64url");
  if (bytes.length === 32 && (/^[0-9a-f]{64}$/i.test(value) || /^[A-Za-z0-9_+/-]{43}=?$/.test(value)))
    return bytes;
  faults.push("SIGNET_MASTER_KEY must be 32 bytes, in base64url (43 characters) or hex (64)");
  return undefined;
}

function trustedProxies(env: Env, faults: string[]): string[] {
  const entries = (text(env, "TRUSTED_PROXIES") ?? "").split(",").flatMap((entry) => entry.trim() || []);
  for (const entry of entries) {
    const [address = "", bits, ...rest] = entry.split("/");
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const fineBits =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most);
    if (!version || !fineBits || rest.length > 0)
      faults.push(`TRUSTED_PROXIES: "${entry}" is not an address or network`);
  }
  return entries;
}

function outboundAllow(env: Env, faults: string[]): string[] {
  const entries = (text(env, "SIGNET_OUTBOUND_ALLOW") ?? "")
    .split(",")
    .flatMap((entry) => entry.trim() || []);
  for (const entry of entries) {
    if (!isAllowEntry(entry))
      faults.push(`SIGNET_OUTBOUND_ALLOW: "${entry}" is not a host name, an address or a network`);
  }
  return entries;
}

function mail(env: Env, faults: string[]): Config["mail"] {
  const url = text(env, "SMTP_URL");
  const from = text(env, "SIGNET_MAIL_FROM");
  const sender = from === undefined ? undefined : parseSender(from);
  if (from !== undefined && !sender) faults.push("SIGNET_MAIL_FROM must be ADDRESS or NAME <ADDRESS>");
  if (url === undefined) return undefined;
  if (from === undefined)
    faults.push("SIGNET_MAIL_FROM must be set with SMTP_URL: the address that mails come from");
  const smtp = parseSmtpUrl(url);
  if (typeof smtp === "string") faults.push(`SMTP_URL ${smtp}`);
  return typeof smtp === "string" || !sender ? undefined : { smtp, sender };
}

/** `name=count/seconds`, separated by commas; what is not named keeps its default. */
function rateLimits(env: Env, faults: string[]): RateLimits {
  const limits: Record<RateLimitName, RateLimit> = { ...defaultRateLimits };
  for (const entry of (text(env, "SIGNET_RATE_LIMITS") ?? "")
    .split(",")
    .flatMap((part) => part.trim() || [])) {
    const [, name = "", count = "", windowSeconds = ""] =
      /^([a-z-]+)=(\d{1,9})\/(\d{1,9})$/.exec(entry) ?? [];
    if (!Object.hasOwn(defaultRateLimits, name) || Number(count) < 1 || Number(windowSeconds) < 1) {
      faults.push(
        `SIGNET_RATE_LIMITS: "${entry}" must be <name>=<count>/<seconds>, the names are ${Object.keys(defaultRateLimits).join(", ")}`,
      );
      continue;
    }
    limits[name as RateLimitName] = { name, count: Number(count), windowSeconds: Number(windowSeconds) };
  }
  return limits;
}

/**
 * As many threads as processors for signatures and passwords: libuv's four would fight over two, and measured a sixth of
 * the token rate. One more waits for the disk. libuv reads the size at the first use of a thread, so this comes before
 * anything else.
 */
export function sizeThreadPool(env: Record<string, string | undefined> = process.env): void {
  env["UV_THREADPOOL_SIZE"] ??= String(Math.max(2, availableParallelism()) + 1);
}
