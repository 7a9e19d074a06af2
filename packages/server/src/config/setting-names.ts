/**
 * The names of all settings. A misspelt one would silently leave its default in force, so every other `SIGNET_…` variable is
 * refused.
 */
import { clientSettingNames } from "./client-settings.ts";
import { type Env, text } from "./config-values.ts";

/** Those whose value may hold a secret: each may be in a file instead, named by its twin `…_FILE`. */
export const secretSettings = [
  "DATABASE_URL",
  "SIGNET_DATABASE_LISTEN_URL",
  "SIGNET_DATABASE_REPLICA_URL",
  "SIGNET_MASTER_KEY",
  "SIGNET_MASTER_KEY_PREVIOUS",
  "SMTP_URL",
  "SIGNET_AUDIT_STREAM",
] as const;

/** OpenTelemetry's own: collectors take their keys in these. */
export const secretsOfTracing = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] as const;

export const settingNames = [
  "PORT",
  "HOST",
  "SIGNET_BASE_URL",
  "SIGNET_DATA_DIR",
  "DATABASE_URL",
  "SIGNET_DATABASE_LISTEN_URL",
  "SIGNET_DATABASE_REPLICA_URL",
  "SIGNET_DATABASE_POOL",
  "SIGNET_SLOW_QUERY_MS",
  "SIGNET_AUDIT_STREAM",
  "SIGNET_METRICS_PORT",
  "SIGNET_METRICS_HOST",
  "SIGNET_METRICS_ORGANISATIONS",
  "SIGNET_MASTER_KEY",
  "SIGNET_MASTER_KEY_PREVIOUS",
  "SIGNET_MASTER_KEY_PKCS11",
  "SIGNET_PASSWORD_CONCURRENCY",
  "SMTP_URL",
  "SIGNET_MAIL_FROM",
  "SIGNET_KEY_ROTATION_DAYS",
  "SIGNET_DRAIN_SECONDS",
  "SIGNET_WORKERS",
  "SIGNET_OUTBOUND_ALLOW",
  "SIGNET_DNS_SERVERS",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "TRUSTED_PROXIES",
  "SIGNET_MTLS_PORT",
  "SIGNET_MTLS_HOST",
  "SIGNET_MTLS_CERT_FILE",
  "SIGNET_MTLS_KEY_FILE",
  "SIGNET_MTLS_BASE_URL",
  "SIGNET_PROXY_PORT",
  "SIGNET_PROXY_HOST",
  "SIGNET_PROXY_CERT_FORMAT",
  "SIGNET_RATE_LIMITS",
] as const;
export type SettingName = (typeof settingNames)[number];

export const twinOf = (name: string): string => `${name}_FILE`;

/** Of the client SDK (docs/sdk/configuration.md), the device client and Signet's own tests, in the same shell. */
const OTHER_PROGRAMS =
  /^SIGNET_(?:(?:OAUTH|SOVEREIGN|SYSTEM_ACCOUNT|FEDERATION|COOKIE|INTROSPECT|REVALIDATE|ACCEPT|DEVICE|AGENT|TEST|INTEROP)_\w+|APPLICATION_ID|FILTER_TYPE|IS_OPTIONAL|ENVIRONMENT|BASE_PATH|AFTER_LOGOUT_PATH|ALLOW_UNTYPED_ACCESS_TOKENS|ENROLLMENT_CODE|SCREENSHOTS)$/;

/**
 * Kubernetes gives every pod such variables for each Service of its namespace (kubernetes.io, "Accessing the Service"): a Service
 * `signet` makes `SIGNET_SERVICE_HOST` and `SIGNET_PORT=tcp://…`.
 */
const isOfKubernetes = (name: string, value: string): boolean =>
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(name) ||
  /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
  (/_PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value));

/** What is wrong with the names of the variables: a sentence for each. */
export function faultsOfNames(env: Env): string[] {
  const known = [...settingNames, ...secretSettings.map(twinOf), ...clientSettingNames];
  return Object.keys(env).flatMap((name) => {
    const value = text(env, name);
    if (!name.startsWith("SIGNET_") || known.includes(name)) return [];
    if (value === undefined || OTHER_PROGRAMS.test(name) || isOfKubernetes(name, value)) return [];
    const nearest = nearestOf(name, known);
    const advice =
      nearest === undefined ? "unset it (signet start --help lists all)" : `did you mean ${nearest}?`;
    return [`${name} is no setting of Signet: ${advice}`];
  });
}

/** The name with the fewest different letters; undefined when a third of them or more differ. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const byDistance = known.map((one) => [one, editDistance(name, one)] as const);
  const [nearest, distance] = byDistance.reduce((best, one) => (one[1] < best[1] ? one : best));
  return distance * 3 < name.length - "SIGNET_".length ? nearest : undefined;
}

/** Levenshtein's: letters inserted, removed or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...to].entries())
      next.push(
        Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
