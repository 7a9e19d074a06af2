/** `signet config show`: what is in force, and where each setting comes from. */
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { type SettingName, settingNames } from "../../config/setting-names.ts";
import type { StreamTarget } from "../../core/audit/stream/destination.ts";
import { MASTER_KEY_FILE } from "../../core/encryption/folder-keys.ts";
import type { MailSender, SmtpSettings } from "../../core/mail/smtp-settings.ts";
import type { RateLimit } from "../../core/rate-limits/rate-limits.ts";
import { type Call, type Command, jsonOption } from "../command.ts";
import { asServed } from "../installation.ts";
import { printResult, table } from "../output.ts";

const MASKED = "********";

/** The value in force, as the variable would have it; undefined: off. Secrets are masked. */
const inForce: Readonly<Record<SettingName, (config: Config) => string | number | undefined>> = {
  PORT: ({ port }) => port,
  HOST: ({ host }) => host,
  SIGNET_BASE_URL: ({ baseUrl }) => baseUrl,
  SIGNET_DATA_DIR: ({ dataDir }) => dataDir,
  DATABASE_URL: ({ databaseUrl }) => withoutPassword(databaseUrl),
  SIGNET_DATABASE_LISTEN_URL: ({ databaseListenUrl: url }) => url && withoutPassword(url),
  SIGNET_DATABASE_REPLICA_URL: ({ databaseReplicaUrl: url }) => url && withoutPassword(url),
  SIGNET_DATABASE_POOL: ({ databasePoolSize }) => databasePoolSize,
  SIGNET_SLOW_QUERY_MS: ({ slowQueryMs }) => slowQueryMs,
  SIGNET_AUDIT_STREAM: ({ auditStream }) => auditStream && streamText(auditStream),
  SIGNET_METRICS_PORT: ({ metrics }) => metrics?.port,
  SIGNET_METRICS_HOST: ({ metrics }) => metrics?.host,
  SIGNET_METRICS_ORGANISATIONS: ({ metrics }) => (metrics?.hasOrganisations ? "top20" : undefined),
  SIGNET_MASTER_KEY: ({ masterKey, dataDir }) => (masterKey ? MASKED : join(dataDir, MASTER_KEY_FILE)),
  SIGNET_MASTER_KEY_PREVIOUS: ({ previousMasterKeys }) => list(previousMasterKeys.map(() => MASKED)),
  SIGNET_MASTER_KEY_PKCS11: ({ masterKeyWrapping: at }) =>
    at && `pkcs11:token=${at.token};object=${at.object}?module-path=${at.module}&pin-source=${at.pinFile}`,
  SIGNET_PASSWORD_CONCURRENCY: ({ passwordConcurrency }) => passwordConcurrency,
  SMTP_URL: ({ mail }) => mail && smtpAddress(mail.smtp),
  SIGNET_MAIL_FROM: ({ mail }) => mail && senderText(mail.sender),
  SIGNET_KEY_ROTATION_DAYS: ({ keyRotationDays }) => keyRotationDays,
  SIGNET_DRAIN_SECONDS: ({ drainSeconds }) => drainSeconds,
  SIGNET_WORKERS: ({ workers }) => workers,
  SIGNET_OUTBOUND_ALLOW: ({ outboundAllow }) => list(outboundAllow),
  SIGNET_DNS_SERVERS: ({ dnsServers }) => list(dnsServers),
  LOG_LEVEL: ({ logLevel }) => logLevel,
  LOG_FORMAT: ({ logFormat }) => logFormat,
  OTEL_EXPORTER_OTLP_ENDPOINT: ({ tracing }) => tracing && new URL(tracing.endpoint).origin,
  TRUSTED_PROXIES: ({ trustedProxies }) => list(trustedProxies),
  SIGNET_MTLS_PORT: ({ mtls }) => mtls?.port,
  SIGNET_MTLS_HOST: ({ mtls }) => mtls?.host,
  SIGNET_MTLS_CERT_FILE: ({ mtls }) => mtls?.certificateFile,
  SIGNET_MTLS_KEY_FILE: ({ mtls }) => mtls?.keyFile,
  SIGNET_MTLS_BASE_URL: ({ mtlsBaseUrl }) => mtlsBaseUrl,
  SIGNET_PROXY_PORT: ({ certificateProxy }) => certificateProxy?.port,
  SIGNET_PROXY_HOST: ({ certificateProxy }) => certificateProxy?.host,
  SIGNET_PROXY_CERT_FORMAT: ({ certificateProxy }) => certificateProxy?.format,
  SIGNET_RATE_LIMITS: ({ rateLimits }) => list(Object.values(rateLimits).map(rateLimitText)),
};

const list = (items: readonly string[]): string | undefined => items.join(",") || undefined;

const rateLimitText = ({ name, count, windowSeconds }: RateLimit): string =>
  `${name}=${count}/${windowSeconds}`;

/** The path of a receiver may be a secret too. */
const streamText = (target: StreamTarget): string => {
  if (target.kind === "https") return `${new URL(target.url).origin}/${MASKED}`;
  return target.kind === "file" ? `file:${target.path}` : target.kind;
};

const senderText = ({ name, address }: MailSender): string =>
  name === undefined ? address : `${name} <${address}>`;

function smtpAddress({ isSecure, host, port, credentials }: SmtpSettings): string {
  const user = credentials ? `${encodeURIComponent(credentials.user)}:${MASKED}@` : "";
  return `${isSecure ? "smtps" : "smtp"}://${user}${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** PostgreSQL takes the password as a parameter too (libpq, "Connection URIs"). */
function withoutPassword(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl;
  return (
    databaseUrl
      // To the last @ of the hosts: one in a password need not be encoded.
      .replace(/^([a-z]+:\/\/[^:@/?]*):[^/?]*@/, `$1:${MASKED}@`)
      .replace(/([?&])([^=&]*)=[^&]*/g, (parameter, sign: string, name: string) =>
        /pass/i.test(decoded(name)) ? `${sign}${name}=${MASKED}` : parameter,
      )
  );
}

/** As the driver reads a parameter's name. */
const decoded = (name: string): string => new URLSearchParams(`${name}=`).keys().next().value ?? name;

/** By name: the value in force, null for what is off, and `environment`, `default` or the path of the file that has it. */
const document = (config: Config) =>
  Object.fromEntries(
    settingNames.map((name) => [
      name,
      { value: inForce[name](config) ?? null, source: config.origins[name] ?? "default" },
    ]),
  );

async function show(call: Call): Promise<number> {
  const { config } = await asServed(call.config);
  const shown = document(config);
  const rows = Object.entries(shown).map(([name, { value, source }]) => [name, String(value ?? "-"), source]);
  return printResult(call, shown, () => table(["SETTING", "VALUE", "FROM"], rows));
}

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    summary: "show every setting in force and where it comes from; secrets are masked",
    usage: "[--json]",
    options: jsonOption,
    examples: ["signet config show"],
    run: show,
  },
];
