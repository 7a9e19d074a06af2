/** Errors of the system for the operator: what was tried, at which address, and the setting that names it. */
import type { Config } from "../config/config.ts";
import { databaseLocation, errorMessage } from "./output.ts";

type SystemError = Error & { code?: unknown; syscall?: unknown; path?: unknown; port?: unknown };

/** PostgreSQL: connection and authentication failed, no such database, starting up or shutting down. */
const CONNECTION_STATES = /^(?:08|28|3D|57P0)/;
/** Node's and OpenSSL's, of a server's certificate. */
const CERTIFICATE = /^ERR_TLS_|CERT|SIGNATURE$|^UNABLE_TO_|^DEPTH_ZERO/;
const NETWORK = ["connect", "getaddrinfo", "read", "write"];

export function explainError(error: unknown, config: Config): string {
  const message = errorMessage(error);
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  if (!(first instanceof Error)) return message;
  const { code, syscall, path } = first as SystemError;
  if (syscall === "listen")
    return `can't listen on ${config.host}:${config.port} (HOST, PORT) for ${config.baseUrl}: ${message}`;
  if (isOfDatabaseTls(config, first))
    return `can't use the database ${databaseLocation(config.databaseUrl)} (sslmode and sslrootcert of DATABASE_URL): ${message}`;
  if (isOfDatabase(config, code, syscall))
    return `can't use the database ${databaseLocation(config.databaseUrl)} (DATABASE_URL): ${message}`;
  if (typeof path === "string" && path.startsWith(config.dataDir))
    return `can't use the data folder ${config.dataDir} (SIGNET_DATA_DIR): ${message}`;
  if (code === "ERR_SQLITE_ERROR" && config.databaseUrl.startsWith("sqlite:"))
    return `${databaseLocation(config.databaseUrl)} (SIGNET_DATA_DIR, DATABASE_URL): ${message}`;
  return message;
}

const isOfDatabaseTls = ({ databaseUrl }: Config, { code, message }: SystemError): boolean =>
  !databaseUrl.startsWith("sqlite:") &&
  ((typeof code === "string" && CERTIFICATE.test(code)) || /does not support SSL/.test(message));

const isOfDatabase = ({ databaseUrl }: Config, code: unknown, syscall: unknown): boolean =>
  !databaseUrl.startsWith("sqlite:") &&
  (NETWORK.includes(String(syscall)) || (typeof code === "string" && CONNECTION_STATES.test(code)));
