/** `--help`: what there is, how it is typed, and what can be set from outside. */
import type { Command, Option } from "./command.ts";

export function helpOf(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, option]) => [`--${name}${placeholderOf(option)}`, option.help] as const,
  );
  return [
    `signet ${command.name}: ${command.summary}`,
    "",
    `Usage: signet ${command.name} ${command.usage}`,
    "",
    "Options",
    ...columns([...options, ["--help", "show this"]]),
    ...section(
      "Examples",
      (command.examples ?? []).map((example) => `  ${example}`),
    ),
    ...(command.name === "start" ? environmentSection() : []),
  ].join("\n");
}

const placeholderOf = ({ type, value }: Option): string => (type === "boolean" ? "" : ` ${value ?? "VALUE"}`);

const titles: Readonly<Record<string, string>> = {
  start: "Server",
  migrate: "Server",
  doctor: "Server",
  org: "Organisations",
  user: "Users",
  app: "Applications (OAuth clients)",
  secret: "Client secrets",
  account: "System accounts (programs that call the JSON interfaces)",
  keys: "Signing keys",
  device: "Devices",
  "device-ca": "Devices",
  "device-policy": "Devices",
  "device-roots": "Devices",
  "ek-allow": "Devices",
  scope: "Scopes and consent",
  consent: "Scopes and consent",
  preauth: "Scopes and consent",
  audit: "Audit log",
};

const firstWord = ({ name }: Command): string => name.split(" ")[0] ?? name;
const titleOf = (command: Command): string => titles[firstWord(command)] ?? "More";

/** @param topic the first word of some commands, e.g. `org`: they come first, with all that can be typed behind them */
export function helpOfAll(commands: readonly Command[], topic?: string): string {
  const asked = commands.filter((command) => firstWord(command) === topic);
  const others = commands.filter((command) => !asked.includes(command));
  const groups = Map.groupBy(others, titleOf);
  return [
    ...(asked.length > 0
      ? topicSection(asked)
      : ["Signet: sign-in and authorization for many organisations", ""]),
    ...(asked.length > 0 ? ["", "Other commands"] : ["Usage: signet COMMAND [options]"]),
    ...[...groups].flatMap(([title, members]) => [
      "",
      title,
      ...columns(members.map(({ name, summary }) => [name, summary])),
    ]),
    "",
    "signet COMMAND --help shows a command's options and examples. --json makes any of them answer with one",
    "JSON document. Exit code 0: done; 1: refused or failed, with the reason; 2: typed wrong.",
    ...section("To begin", [
      "  signet start --demo                             a server with people and applications to try",
      '  signet org create --name "Acme"',
      "  signet user create --org ID --email ada@acme.example --role administrator",
      "  signet app create --org ID --name Shop --type confidential --redirect-uri https://shop.example/callback",
      "  signet doctor                                   what is missing before others use it",
    ]),
    ...(asked.length > 0 ? [] : environmentSection()),
  ].join("\n");
}

function topicSection(commands: readonly Command[]): string[] {
  const [first] = commands;
  const examples = commands.flatMap((command) => command.examples ?? []);
  return [
    first ? titleOf(first) : "",
    ...commands.flatMap(({ name, usage, summary }) => [`  signet ${name} ${usage}`, `      ${summary}`]),
    ...section(
      "Examples",
      examples.map((example) => `  ${example}`),
    ),
  ];
}

const environment: ReadonlyArray<readonly [string, string]> = [
  ["PORT", "8080"],
  ["HOST", "where to listen: localhost; 0.0.0.0 for every address"],
  ["SIGNET_BASE_URL", "the address that people and applications use, https (default: http://localhost:PORT)"],
  ["SIGNET_DATA_DIR", "folder of the database file and the key file: ./data"],
  ["DATABASE_URL", "postgres://user:password@host/database; unset: SQLite in the data folder"],
  ["SIGNET_DATABASE_POOL", "most PostgreSQL connections of a process: 10"],
  [
    "SIGNET_MASTER_KEY",
    "32 bytes in base64url or hex, the same on every node; unset: a key file in the data folder",
  ],
  [
    "SIGNET_PASSWORD_CONCURRENCY",
    "passwords checked at once: one fewer than there are processors, at most 2",
  ],
  ["SMTP_URL", "smtp://user:password@host:587 or smtps://…; unset: no mail is sent"],
  ["SIGNET_MAIL_FROM", "the address that mails come from, or NAME <ADDRESS>; needed with SMTP_URL"],
  ["SIGNET_KEY_ROTATION_DAYS", "age at which a signing key is replaced by itself: 90; 0: never"],
  [
    "SIGNET_OUTBOUND_ALLOW",
    "hosts, addresses and networks that may be called although they are not public, separated by commas",
  ],
  ["LOG_LEVEL", "trace, debug, info (default), warn, error, fatal or silent"],
  ["TRUSTED_PROXIES", "addresses or networks whose X-Forwarded-For is believed, separated by commas"],
  ["SIGNET_MTLS_PORT", "where devices show their certificates by TLS; unset: nowhere"],
  ["SIGNET_MTLS_HOST", "where to listen for them (default: HOST)"],
  [
    "SIGNET_MTLS_CERT_FILE",
    "the server's own certificate there, with its chain, in PEM; needed with SIGNET_MTLS_PORT",
  ],
  ["SIGNET_MTLS_KEY_FILE", "its key, in PEM"],
  [
    "SIGNET_MTLS_BASE_URL",
    "the address that devices use there, https (default: SIGNET_BASE_URL's host and that port)",
  ],
  [
    "SIGNET_PROXY_PORT",
    "where proxies hand on the certificates that they were shown (Client-Cert); unset: nowhere",
  ],
  ["SIGNET_PROXY_HOST", "where to listen for them: 127.0.0.1; for any other, set TRUSTED_PROXIES too"],
  ["SIGNET_PROXY_CERT_FORMAT", "how they write it: rfc9440 (default), or nginx for $ssl_client_escaped_cert"],
  [
    "SIGNET_RATE_LIMITS",
    "name=count/seconds, separated by commas, e.g. password-account=10/900, second-factor-account=10/3600",
  ],
];

const environmentSection = (): string[] => section("Environment", columns(environment));

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", title, ...lines];

function columns(rows: ReadonlyArray<readonly [string, string]>): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
