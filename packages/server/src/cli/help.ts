/** `--help`: commands, their options and the environment variables. */
import type { clientSettingNames } from "../config/client-settings.ts";
import { type SettingName, secretSettings, secretsOfTracing, twinOf } from "../config/setting-names.ts";
import { type Command, type Option, optionsOf, usageOf } from "./command.ts";

export function commandHelp(command: Command): string {
  const options = Object.entries(optionsOf(command)).map(
    ([name, option]) => [`--${name}${placeholder(option)}`, option.help] as const,
  );
  return [
    `signet ${command.name}: ${command.summary}`,
    "",
    `Usage: signet ${command.name} ${usageOf(command)}`,
    "",
    "Options",
    ...columns([...options, ["--help", "show this help"]]),
    ...section(
      "Examples",
      (command.examples ?? []).map((example) => `  ${example}`),
    ),
    ...(command.name === "start" ? environmentSection() : []),
  ].join("\n");
}

const placeholder = ({ value }: Option): string => (value === undefined ? "" : ` ${value}`);

const titles: Readonly<Record<string, string>> = {
  start: "Server",
  migrate: "Server",
  doctor: "Server",
  config: "Server",
  org: "Organisations",
  login: "Sign-in to a server",
  logout: "Sign-in to a server",
  user: "Users",
  group: "Groups and roles",
  role: "Groups and roles",
  app: "Applications (OAuth clients)",
  secret: "Client secrets",
  account: "System accounts (signed API calls)",
  "master-key": "Server",
  backup: "Server",
  restore: "Server",
  keys: "Signing keys",
  pool: "Signing pools and agents",
  agent: "Signing pools and agents",
  device: "Devices",
  "device-ca": "Devices",
  "device-policy": "Devices",
  "device-roots": "Devices",
  "ek-allow": "Devices",
  "shared-application": "Applications",
  "initial-access-token": "Applications (OAuth clients)",
  "portal-link": "Connections",
  "sign-up": "Users",
  webhook: "Webhooks",
  scope: "Scopes and consent",
  consent: "Scopes and consent",
  preauth: "Scopes and consent",
  audit: "Audit log",
};

const firstWord = ({ name }: Command): string => name.split(" ")[0] ?? name;
const groupTitle = (command: Command): string => titles[firstWord(command)] ?? "More";

/** @param topic first word of a group of commands, e.g. `org`: listed first, with their full usage */
export function generalHelp(commands: readonly Command[], topic?: string): string {
  const asked = commands.filter((command) => firstWord(command) === topic);
  const others = commands.filter((command) => !asked.includes(command));
  const groups = Map.groupBy(others, groupTitle);
  return [
    ...(asked.length > 0
      ? topicSection(asked)
      : ["Signet: identity and authorization service for multiple organisations", ""]),
    ...(asked.length > 0 ? ["", "Other commands"] : ["Usage: signet COMMAND [options]"]),
    ...[...groups].flatMap(([title, members]) => [
      "",
      title,
      ...columns(members.map(({ name, summary }) => [name, summary])),
    ]),
    "",
    "Run signet COMMAND --help for options and examples. Add --json to print one JSON document instead of text.",
    "Run signet --version for the version.",
    "Exit codes: 0 success, 1 failed (the reason is on standard error), 2 invalid command line, or a difference with config diff or --dry-run.",
    ...section("Getting started", [
      "  signet start --demo                             start a server with demo users and applications",
      '  signet org create --name "Acme"',
      "  signet user create --org ID --email ada@acme.example --role administrator",
      "  signet app create --org ID --name Shop --type confidential --redirect-uri https://shop.example/callback",
      "  signet doctor                                   check the installation before going live",
    ]),
    ...(asked.length > 0 ? [] : environmentSection()),
  ].join("\n");
}

function topicSection(commands: readonly Command[]): string[] {
  const [first] = commands;
  const examples = commands.flatMap((command) => command.examples ?? []);
  return [
    first ? groupTitle(first) : "",
    ...commands.flatMap((command) => [
      `  signet ${command.name} ${usageOf(command)}`,
      `      ${command.summary}`,
    ]),
    ...section(
      "Examples",
      examples.map((example) => `  ${example}`),
    ),
  ];
}

const environment: Readonly<Record<SettingName, string>> = {
  PORT: "port to listen on (default 8080)",
  HOST: "address to listen on (default localhost); 0.0.0.0 for all interfaces",
  SIGNET_BASE_URL: "public HTTPS URL of the service (default http://localhost:PORT)",
  SIGNET_DATA_DIR: "folder for the SQLite database and the master key file (default ./data)",
  DATABASE_URL:
    "postgres://user:password@host/database, several hosts by commas (default: SQLite in the data folder)",
  SIGNET_DATABASE_LISTEN_URL:
    "direct address of the same database for notifications, where DATABASE_URL is a pooler in transaction mode",
  SIGNET_DATABASE_REPLICA_URL:
    "postgres://… of a streaming replica, for console lists, searches of the audit log and exports",
  SIGNET_DATABASE_POOL: "maximum PostgreSQL connections per process (default 10)",
  SIGNET_SLOW_QUERY_MS: "statements that take so long are logged with their function (default: none is)",
  SIGNET_AUDIT_STREAM: "stdout, file:/path or https://…: where every audit event is sent (default: nowhere)",
  SIGNET_METRICS_PORT: "port for Prometheus, which reads /metrics there (default: off)",
  SIGNET_METRICS_HOST: "address to listen on for it (default 127.0.0.1)",
  SIGNET_METRICS_ORGANISATIONS: "top20: metrics name the 20 busiest organisations too (default: none)",
  SIGNET_MASTER_KEY:
    "32 bytes in base64url or hex, identical on every node (default: key file in the data folder)",
  SIGNET_MASTER_KEY_PREVIOUS:
    "master keys that are still accepted after a rotation, newest first, separated by commas (default: none)",
  SIGNET_MASTER_KEY_PKCS11:
    "PKCS#11 URI of the HSM's AES key that wraps the master keys (default: they are kept in clear)",
  SIGNET_PASSWORD_CONCURRENCY: "concurrent password checks (default: processor count minus one, at most 2)",
  SMTP_URL: "smtp://user:password@host:587 or smtps://… (default: no email is sent)",
  SIGNET_MAIL_FROM: "sender address, or NAME <ADDRESS>; required with SMTP_URL",
  SIGNET_KEY_ROTATION_DAYS:
    "days until a signing key is rotated automatically (default 90); 0 disables rotation",
  SIGNET_DRAIN_SECONDS: "seconds that the listeners stay open after SIGTERM (default 5, at most 300)",
  SIGNET_WORKERS:
    "processes that serve together on this machine (default 1, at most 64); more than 1 need PostgreSQL",
  SIGNET_OUTBOUND_ALLOW:
    "non-public hosts, addresses and networks that outbound requests may reach, comma-separated",
  SIGNET_DNS_SERVERS:
    "servers for names that others registered and for proofs of domains, ADDRESS:PORT, comma-separated",
  LOG_LEVEL: "trace, debug, info (default), warn, error, fatal or silent",
  LOG_FORMAT: "json (default), or pretty for people at a terminal",
  OTEL_EXPORTER_OTLP_ENDPOINT: "collector of traces by OTLP over HTTP (default: none)",
  TRUSTED_PROXIES: "addresses or networks whose X-Forwarded-For header is trusted, comma-separated",
  SIGNET_MTLS_PORT: "port for mutual TLS with device certificates (default: off)",
  SIGNET_MTLS_HOST: "address to listen on for mutual TLS (default: HOST)",
  SIGNET_MTLS_CERT_FILE:
    "server certificate for mutual TLS with its chain, PEM; required with SIGNET_MTLS_PORT",
  SIGNET_MTLS_KEY_FILE: "private key of that certificate, PEM",
  SIGNET_MTLS_BASE_URL: "HTTPS URL that devices use (default: host of SIGNET_BASE_URL with SIGNET_MTLS_PORT)",
  SIGNET_PROXY_PORT: "port for proxies that forward client certificates in a header (default: off)",
  SIGNET_PROXY_HOST:
    "address to listen on for these proxies (default 127.0.0.1); any other requires TRUSTED_PROXIES",
  SIGNET_PROXY_CERT_FORMAT: "header format: rfc9440 (default), or nginx for $ssl_client_escaped_cert",
  SIGNET_RATE_LIMITS:
    "name=count/seconds, comma-separated, e.g. password-account=10/900, second-factor-account=10/3600",
};

const clientEnvironment: Readonly<Record<(typeof clientSettingNames)[number], string>> = {
  SIGNET_SERVER: "base URL of the server that commands call, in place of --server",
  SIGNET_TOKEN: "access token for it, such as a pipeline's; signet login needs none",
  SIGNET_TOKEN_FILE: "file that has the access token",
};

const environmentSection = (): string[] => [
  ...section("Environment", columns(Object.entries(environment))),
  ...section("Environment of commands on a server (--server)", columns(Object.entries(clientEnvironment))),
  ...section(
    "Settings in files",
    columns(
      [...secretSettings, ...secretsOfTracing].map((name) => [
        twinOf(name),
        `file that has the value of ${name}`,
      ]),
    ),
  ),
];

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", title, ...lines];

function columns(rows: ReadonlyArray<readonly [string, string]>): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
