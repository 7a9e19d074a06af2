/**
 * The configuration: read from the environment here and nowhere else, validated as a whole, with all faults reported
 * together.
 */
import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { StreamTarget } from "../core/audit/stream/destination.ts";
import { MAX_KEYS } from "../core/encryption/key-ring.ts";
import type { Pkcs11Location } from "../core/encryption/pkcs11-wrapping.ts";
import { readStoredKey } from "../core/encryption/stored-key.ts";
import { type MailSender, parseSender, parseSmtpUrl, type SmtpSettings } from "../core/mail/smtp-settings.ts";
import { isAllowEntry } from "../core/outbound/address-rules.ts";
import { defaultConcurrency } from "../core/passwords/password-hasher.ts";
import {
  defaultRateLimits,
  type RateLimit,
  type RateLimitName,
  type RateLimits,
} from "../core/rate-limits/rate-limits.ts";
import {
  InvalidPostgresUrl,
  REPLICA_ATTRIBUTES,
  readServerAddresses,
} from "../db/postgres/server-addresses.ts";
import type { TracingSettings } from "../telemetry/tracing.ts";
import { auditStream } from "./audit-stream.ts";
import { type ClientSettings, readClientSettings } from "./client-settings.ts";
import { type Env, entries, networks, text, webAddress, wholeNumber } from "./config-values.ts";
import { type CertificateListeners, certificateListeners } from "./listener-settings.ts";
import { type MetricsSettings, metricsSettings } from "./metrics-settings.ts";
import { readPkcs11Uri } from "./pkcs11-uri.ts";
import { type ServiceManager, serviceManager } from "./service-manager.ts";
import { faultOfFile, originsOf, withSettingFiles } from "./setting-files.ts";
import { faultsOfNames, type SettingName } from "./setting-names.ts";
import { tracingSettings } from "./tracing-settings.ts";

export interface Config extends CertificateListeners {
  /** Of the settings that are set: `environment`, or the path of the file. */
  readonly origins: Readonly<Partial<Record<SettingName, string>>>;
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; every URL that Signet emits begins with it. */
  readonly baseUrl: string;
  /** By SIGNET_BASE_URL or PORT; otherwise commands take the address of the server that uses the same data folder. */
  readonly isBaseUrlSet: boolean;
  readonly dataDir: string;
  /** `sqlite:<path>` or `postgres://…` */
  readonly databaseUrl: string;
  /** Where notifications are heard, if `databaseUrl` leads to a pooler that loses them. */
  readonly databaseListenUrl: string | undefined;
  /** A streaming replica, for what may be old by a second. */
  readonly databaseReplicaUrl: string | undefined;
  readonly databasePoolSize: number;
  /** A statement that takes so long is logged; undefined: none. */
  readonly slowQueryMs: number | undefined;
  /** 32 bytes; undefined: a key file in the data directory. */
  readonly masterKey: Buffer | undefined;
  /** The HSM's key that wraps the master keys. */
  readonly masterKeyWrapping: Pkcs11Location | undefined;
  /** Master keys that still open and verify, newest first. */
  readonly previousMasterKeys: readonly Buffer[];
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  readonly trustedProxies: readonly string[];
  readonly rateLimits: RateLimits;
  /** Concurrent password hashes; more than two need a larger UV_THREADPOOL_SIZE. */
  readonly passwordConcurrency: number;
  /** Hosts and networks that outbound requests may reach although they are not public. */
  readonly outboundAllow: readonly string[];
  /** `address:port` of the servers that are asked for names which others registered; none: the machine's. */
  readonly dnsServers: readonly string[];
  /** A signing key of this age is rotated; 0 turns rotation off. */
  readonly keyRotationDays: number;
  /** Processes that serve on this machine, from 1. */
  readonly workers: number;
  /** How long the listeners stay open after SIGTERM. */
  readonly drainSeconds: number;
  readonly metrics: MetricsSettings | undefined;
  readonly tracing: TracingSettings | undefined;
  readonly auditStream: StreamTarget | undefined;
  /** Undefined: no email is sent. */
  readonly mail: { readonly smtp: SmtpSettings; readonly sender: MailSender } | undefined;
  /** Undefined: nobody waits to hear that the server is ready. */
  readonly serviceManager: ServiceManager | undefined;
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

export type LogFormat = "json" | "pretty";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** @throws InvalidConfig naming every fault, never a value that may be a secret */
export function readConfig(environment: Env = process.env): Config {
  const faults = faultsOfNames(environment);
  const env = withSettingFiles(environment, faults);
  const port = wholeNumber(env, "PORT", { fallback: 8080, min: 1, max: 65_535 }, faults);
  const dataDir = resolve(text(env, "SIGNET_DATA_DIR") ?? "./data");
  const logLevel = text(env, "LOG_LEVEL") ?? "info";
  if (!LOG_LEVELS.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}`);
  const base = {
    port,
    host: text(env, "HOST") ?? "localhost",
    baseUrl: baseUrl(env, port, faults),
    isBaseUrlSet: text(env, "SIGNET_BASE_URL") !== undefined || text(env, "PORT") !== undefined,
    trustedProxies: networks(env, "TRUSTED_PROXIES", faults),
  };
  const listeners = certificateListeners(env, base, faults);
  const ports = [port, listeners.mtls?.port ?? 0, listeners.certificateProxy?.port ?? 0];
  const pool = { fallback: 10, min: 1, max: 500 };
  const hashes = { fallback: defaultConcurrency(), min: 1, max: 64 };
  const config: Config = {
    origins: originsOf(environment),
    ...base,
    dataDir,
    databaseUrl: databaseUrl(env, dataDir, faults),
    databaseListenUrl: furtherDatabase(env, "SIGNET_DATABASE_LISTEN_URL", faults),
    databaseReplicaUrl: furtherDatabase(env, "SIGNET_DATABASE_REPLICA_URL", faults, REPLICA_ATTRIBUTES),
    databasePoolSize: wholeNumber(env, "SIGNET_DATABASE_POOL", pool, faults),
    slowQueryMs: slowQueryMs(env, faults),
    masterKey: masterKey(env, faults),
    masterKeyWrapping: masterKeyWrapping(env, faults),
    previousMasterKeys: previousMasterKeys(env, faults),
    logLevel,
    logFormat: logFormat(env, faults),
    rateLimits: rateLimits(env, faults),
    passwordConcurrency: wholeNumber(env, "SIGNET_PASSWORD_CONCURRENCY", hashes, faults),
    outboundAllow: outboundAllow(env, faults),
    dnsServers: dnsServers(env, faults),
    workers: workers(env, faults),
    drainSeconds: wholeNumber(env, "SIGNET_DRAIN_SECONDS", { fallback: 5, min: 0, max: 300 }, faults),
    keyRotationDays: wholeNumber(
      env,
      "SIGNET_KEY_ROTATION_DAYS",
      { fallback: 90, min: 0, max: 3_650 },
      faults,
    ),
    mail: mail(env, faults),
    serviceManager: serviceManager(env, process.pid),
    metrics: metricsSettings(env, ports, faults),
    auditStream: auditStream(env, faults),
    tracing: tracingSettings(env, faults),
    ...listeners,
  };
  if (faults.length > 0) throw new InvalidConfig(faults);
  return config;
}

function baseUrl(env: Env, port: number, faults: string[]): string {
  const name = "SIGNET_BASE_URL";
  const value = webAddress(env, name, faults);
  if (value === undefined) return `http://localhost:${port}`;
  const url = URL.parse(value);
  const isLoopback = url && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  // OpenID Connect Discovery §3: issuers use https. Cookies and tokens would otherwise travel in clear.
  if (url?.protocol === "http:" && !isLoopback) faults.push(`${name} must be https, except on localhost`);
  return value;
}

function databaseUrl(env: Env, dataDir: string, faults: string[]): string {
  const value = text(env, "DATABASE_URL");
  if (value === undefined) return `sqlite:${resolve(dataDir, "signet.db")}`;
  if (value.startsWith("sqlite:") && value.length > "sqlite:".length) return value;
  if (!/^postgres(ql)?:/.test(value))
    faults.push("DATABASE_URL must be postgres://… (unset: SQLite in the data directory)");
  else checkAddress("DATABASE_URL", value, faults);
  return value;
}

function checkAddress(name: string, value: string, faults: string[], attributes?: string[]): void {
  try {
    for (const [parameter, path] of Object.entries(readServerAddresses(value, attributes).files)) {
      const fault = faultOfFile(path);
      if (fault !== undefined) faults.push(`${name} ${parameter}: ${fault}`);
    }
  } catch (error) {
    if (!(error instanceof InvalidPostgresUrl)) throw error;
    faults.push(`${name} ${error.message}`);
  }
}

/** Another address, of the same database or of its replica. */
function furtherDatabase(
  env: Env,
  name: SettingName,
  faults: string[],
  attributes?: string[],
): string | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  checkAddress(name, value, faults, attributes);
  if (!/^postgres/.test(text(env, "DATABASE_URL") ?? ""))
    faults.push(`${name} goes with a DATABASE_URL of PostgreSQL`);
  return value;
}

function slowQueryMs(env: Env, faults: string[]): number | undefined {
  const name = "SIGNET_SLOW_QUERY_MS";
  if (text(env, name) === undefined) return undefined;
  return wholeNumber(env, name, { fallback: 0, min: 0, max: 3_600_000 }, faults);
}

function workers(env: Env, faults: string[]): number {
  const name = "SIGNET_WORKERS";
  const count = wholeNumber(env, name, { fallback: 1, min: 1, max: 64 }, faults);
  const isSqlite = !/^postgres/.test(text(env, "DATABASE_URL") ?? "");
  if (count > 1 && isSqlite)
    faults.push(`${name} above 1 needs PostgreSQL (DATABASE_URL): only one process can serve a SQLite file`);
  return count;
}

function masterKey(env: Env, faults: string[]): Buffer | undefined {
  const value = text(env, "SIGNET_MASTER_KEY");
  if (value === undefined) return undefined;
  const key = readStoredKey(value);
  if (!key) faults.push("SIGNET_MASTER_KEY must be 32 bytes, in base64url (43 characters) or hex (64)");
  return key;
}

/** Pretty is for people: programs that read logs want JSON. */
function logFormat(env: Env, faults: string[]): LogFormat {
  const value = text(env, "LOG_FORMAT") ?? "json";
  if (value === "json" || value === "pretty") return value;
  faults.push("LOG_FORMAT must be json or pretty");
  return "json";
}

function masterKeyWrapping(env: Env, faults: string[]): Pkcs11Location | undefined {
  const name = "SIGNET_MASTER_KEY_PKCS11";
  const value = text(env, name);
  const read = value === undefined ? undefined : readPkcs11Uri(value);
  if (typeof read !== "string") return read;
  faults.push(`${name} ${read}`);
  return undefined;
}

/** One or several, separated by commas or white space; a file has one on each line. */
function previousMasterKeys(env: Env, faults: string[]): Buffer[] {
  const name = "SIGNET_MASTER_KEY_PREVIOUS";
  const values = (text(env, name) ?? "").split(/[\s,]+/).filter((value) => value !== "");
  const keys = values.flatMap((value) => readStoredKey(value) ?? []);
  if (keys.length < values.length)
    faults.push(`${name} must be keys of 32 bytes each, in base64url (43 characters) or hex (64)`);
  if (keys.length >= MAX_KEYS) faults.push(`${name} may have ${MAX_KEYS - 1} keys at most`);
  return keys;
}

function outboundAllow(env: Env, faults: string[]): string[] {
  const allowed = entries(env, "SIGNET_OUTBOUND_ALLOW");
  for (const entry of allowed) {
    if (!isAllowEntry(entry))
      faults.push(`SIGNET_OUTBOUND_ALLOW: "${entry}" is not a host name, an address or a network`);
  }
  return allowed;
}

function dnsServers(env: Env, faults: string[]): string[] {
  return entries(env, "SIGNET_DNS_SERVERS").flatMap((entry) => {
    const [, v6, v4, port = "53"] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
    const isAddress = v6 === undefined ? isIP(v4 ?? "") === 4 : isIP(v6) === 6;
    if (isAddress && Number(port) >= 1 && Number(port) <= 65_535)
      return [`${v6 === undefined ? v4 : `[${v6}]`}:${port}`];
    faults.push(
      `SIGNET_DNS_SERVERS: "${entry}" is not an address with a port, such as 192.0.2.53:53 or [2001:db8::53]:53`,
    );
    return [];
  });
}

function mail(env: Env, faults: string[]): Config["mail"] {
  const url = text(env, "SMTP_URL");
  const from = text(env, "SIGNET_MAIL_FROM");
  const sender = from === undefined ? undefined : parseSender(from);
  if (from !== undefined && !sender) faults.push("SIGNET_MAIL_FROM must be ADDRESS or NAME <ADDRESS>");
  if (url === undefined) return undefined;
  if (from === undefined)
    faults.push("SIGNET_MAIL_FROM must be set with SMTP_URL: the sender address of all emails");
  const smtp = parseSmtpUrl(url);
  if (typeof smtp === "string") faults.push(`SMTP_URL ${smtp}`);
  return typeof smtp === "string" || !sender ? undefined : { smtp, sender };
}

/** `name=count/seconds`, separated by commas; other limits keep their defaults. */
function rateLimits(env: Env, faults: string[]): RateLimits {
  const limits: Record<RateLimitName, RateLimit> = { ...defaultRateLimits };
  for (const entry of entries(env, "SIGNET_RATE_LIMITS")) {
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
 * One thread per processor for signatures and password hashes, plus one for disk syncs: libuv's default of four
 * contends on two processors and reached a sixth of the token rate. libuv reads the size at first use, so this must
 * run first.
 */
export function sizeThreadPool(env: Record<string, string | undefined> = process.env): void {
  env["UV_THREADPOOL_SIZE"] ??= String(Math.max(2, availableParallelism()) + 1);
}

export const clientSettings = (): ClientSettings => readClientSettings(process.env);
