/**
 * `DATABASE_URL` as libpq reads it (PostgreSQL, "Connection URIs"): several hosts, of which one takes writes, and TLS by
 * `sslmode`. `pg` knows neither.
 */

/** What libpq can ask of a server; this service needs one that takes writes. */
const ATTRIBUTES = ["any", "read-write", "primary"];
/** Of a replica. Which one it is, is looked at anyway. */
export const REPLICA_ATTRIBUTES = ["any", "read-only", "standby", "prefer-standby"];
const FILES = ["sslrootcert", "sslcert", "sslkey"];
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** Its message says what is wrong, and has no part of the address: a password may be in any. */
export class InvalidPostgresUrl extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidPostgresUrl";
  }
}

export interface ServerAddresses {
  /** For `pg`: one host each, in the order in which they are tried. At least one. */
  readonly urls: readonly [string, ...string[]];
  /** Files that its parameters name, by parameter: of certificates and keys for TLS. */
  readonly files: Readonly<Record<string, string>>;
  /** Encrypted without asking whose server it is: `sslmode` is `require` or `prefer`, without `sslrootcert`. */
  readonly isUnverified: boolean;
  /** `host:port,host:port/database`, without credentials. */
  readonly shown: string;
}

/**
 * @param attributes that `target_session_attrs` may name
 * @throws InvalidPostgresUrl
 */
export function readServerAddresses(text: string, attributes = ATTRIBUTES): ServerAddresses {
  // To the last @, as in any URL: what comes before it is never taken for a host.
  const [, credentials = "", hostList = "", rest = ""] =
    /^postgres(?:ql)?:\/\/((?:[^/?]*@)?)([^@/?]*)(.*)$/s.exec(text) ?? [];
  const hosts = hostList.split(",");
  if (hosts.length > 1 && hosts.includes(""))
    throw new InvalidPostgresUrl("has a comma without a host beside it");
  const urls = hosts.map((host) => URL.parse(`postgres://${credentials}${host}${rest}`));
  if (!/^postgres(?:ql)?:\/\//.test(text) || urls.some((url) => url === null))
    throw new InvalidPostgresUrl(
      "must be postgres://user:password@host:port/database; several hosts by commas",
    );
  const [first, ...others] = urls.flatMap((url) => (url ? [forDriver(url, attributes)] : []));
  if (!first) throw new InvalidPostgresUrl("names no host");
  return {
    urls: [first.href, ...others.map(({ href }) => href)],
    files: Object.fromEntries(FILES.flatMap((name) => filesNamed(first, name))),
    isUnverified: isUnverified(first),
    shown: `${[first, ...others].map(({ host }) => host).join(",")}${first.pathname}`,
  };
}

const isUnverified = ({ searchParams }: URL): boolean =>
  ["prefer", "require"].includes(searchParams.get("sslmode") ?? "") && !searchParams.has("sslrootcert");

function filesNamed({ searchParams }: URL, name: string): Array<[string, string]> {
  const path = searchParams.get(name);
  return path === null ? [] : [[name, path]];
}

/** @throws InvalidPostgresUrl */
function forDriver(url: URL, attributes: readonly string[]): URL {
  const { searchParams } = url;
  const attribute = searchParams.get("target_session_attrs");
  if (attribute !== null && !attributes.includes(attribute))
    throw new InvalidPostgresUrl(
      `target_session_attrs must be one of ${attributes.join(", ")}: this service ${attributes === ATTRIBUTES ? "writes" : "only reads there"}`,
    );
  searchParams.delete("target_session_attrs");
  const mode = searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new InvalidPostgresUrl(`sslmode must be one of ${SSL_MODES.join(", ")}`);
  if (mode === "verify-ca" && !searchParams.has("sslrootcert"))
    throw new InvalidPostgresUrl("sslmode=verify-ca needs sslrootcert, the file of the CA's certificates");
  if (searchParams.get("sslrootcert") === "system") {
    searchParams.delete("sslrootcert");
    searchParams.set("sslmode", "verify-full");
  }
  // Without it `pg` takes `require` for `verify-full`, and says that this will change.
  if (searchParams.has("sslmode")) searchParams.set("uselibpqcompat", "true");
  return url;
}

/** Which of several servers is used now, for all connections of a process. */
export interface ServerChoice {
  /** An address for `pg`. */
  current(): string;
  /** That server could not be reached, or takes no writes: the next one is tried. Nothing happens if another is used already. */
  moveOn(from: string): void;
  readonly count: number;
}

export function chooseServers(text: string, attributes = ATTRIBUTES): ServerChoice {
  const { urls } = readServerAddresses(text, attributes);
  let at = 0;
  const current = () => urls[at] ?? urls[0];
  return {
    current,
    moveOn: (from) => {
      if (from === current()) at = (at + 1) % urls.length;
    },
    count: urls.length,
  };
}
