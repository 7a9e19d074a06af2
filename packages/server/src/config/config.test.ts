import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { test } from "node:test";
import { defaultRateLimits } from "../core/rate-limits/rate-limits.ts";
import { InvalidConfig, readConfig, sizeThreadPool } from "./config.ts";

const key = Buffer.alloc(32, 7);

/** The faults that are named, in one text. */
function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof InvalidConfig);
    return error.faults.join("\n");
  }
  return "";
}

test("defaults to localhost:8080 with SQLite in ./data", () => {
  const { passwordConcurrency, ...config } = readConfig({});
  assert.equal(passwordConcurrency, Math.max(1, availableParallelism() - 1));
  assert.deepEqual(config, {
    origins: {},
    port: 8080,
    host: "localhost",
    baseUrl: "http://localhost:8080",
    isBaseUrlSet: false,
    dataDir: resolve("data"),
    databaseUrl: `sqlite:${resolve("data", "signet.db")}`,
    databaseListenUrl: undefined,
    databaseReplicaUrl: undefined,
    databasePoolSize: 10,
    slowQueryMs: undefined,
    metrics: undefined,
    auditStream: undefined,
    tracing: undefined,
    masterKey: undefined,
    serviceManager: undefined,
    masterKeyWrapping: undefined,
    previousMasterKeys: [],
    logLevel: "info",
    logFormat: "json",
    trustedProxies: [],
    rateLimits: defaultRateLimits,
    outboundAllow: [],
    dnsServers: [],
    workers: 1,
    drainSeconds: 5,
    keyRotationDays: 90,
    mail: undefined,
    mtls: undefined,
    certificateProxy: undefined,
    mtlsBaseUrl: undefined,
  });
});

test("email needs a server and a sender, and its faults reveal no password", () => {
  const env = {
    SMTP_URL: "smtps://ada:s%3Acret@mail.example",
    SIGNET_MAIL_FROM: "Acme <no-reply@acme.example>",
  };
  const { mail } = readConfig(env);
  assert.deepEqual(mail?.sender, { name: "Acme", address: "no-reply@acme.example" });
  assert.deepEqual(mail?.smtp.credentials, { user: "ada", password: "s:cret" });
  assert.equal(readConfig({ SIGNET_MAIL_FROM: "no-reply@acme.example" }).mail, undefined);
  assert.match(faultsOf({ SMTP_URL: env.SMTP_URL }), /^SIGNET_MAIL_FROM must be set with SMTP_URL/);
  assert.match(faultsOf({ ...env, SIGNET_MAIL_FROM: "nobody" }), /^SIGNET_MAIL_FROM must be ADDRESS/);
  const faults = faultsOf({ ...env, SMTP_URL: "http://ada:s%3Acret@mail.example" });
  assert.match(faults, /^SMTP_URL must be smtp:/);
  assert.doesNotMatch(faults, /cret/);
});

test("validates the outbound allow list, and accepts key rotation turned off", () => {
  const config = readConfig({
    SIGNET_OUTBOUND_ALLOW: " hooks.internal, 10.0.0.0/8 ,::1",
    SIGNET_KEY_ROTATION_DAYS: "0",
  });
  assert.deepEqual(config.outboundAllow, ["hooks.internal", "10.0.0.0/8", "::1"]);
  assert.equal(config.keyRotationDays, 0);
  const faults = (env: Record<string, string>) => {
    assert.throws(() => readConfig(env), InvalidConfig);
  };
  faults({ SIGNET_OUTBOUND_ALLOW: "https://hooks.internal" });
  faults({ SIGNET_OUTBOUND_ALLOW: "10.0.0.0/40" });
  faults({ SIGNET_KEY_ROTATION_DAYS: "-1" });
});

test("reads name servers with their ports, and refuses what is no address", () => {
  const { dnsServers } = readConfig({
    SIGNET_DNS_SERVERS: "192.0.2.53, 127.0.0.1:5353,[2001:db8::53]:54,[::1]",
  });
  assert.deepEqual(dnsServers, ["192.0.2.53:53", "127.0.0.1:5353", "[2001:db8::53]:54", "[::1]:53"]);
  for (const value of [
    "dns.example",
    "192.0.2.53:0",
    "192.0.2.53:65536",
    "::1",
    "[192.0.2.1]:53",
    "1.2.3:53",
  ])
    assert.throws(() => readConfig({ SIGNET_DNS_SERVERS: value }), /SIGNET_DNS_SERVERS: "/);
});

test("the mTLS listener has its own port, certificate, key and base URL", () => {
  const env = {
    PORT: "8080",
    HOST: "0.0.0.0",
    SIGNET_BASE_URL: "https://id.example",
    SIGNET_MTLS_PORT: "8443",
    SIGNET_MTLS_CERT_FILE: "/tls/chain.pem",
    SIGNET_MTLS_KEY_FILE: "/tls/key.pem",
  };
  const { mtls, mtlsBaseUrl, certificateProxy } = readConfig(env);
  const files = { certificateFile: "/tls/chain.pem", keyFile: "/tls/key.pem" };
  assert.deepEqual(mtls, { port: 8443, host: "0.0.0.0", ...files });
  assert.equal(mtlsBaseUrl, "https://id.example:8443");
  assert.equal(certificateProxy, undefined);
  const named = { ...env, SIGNET_MTLS_BASE_URL: "https://mtls.id.example/", SIGNET_MTLS_HOST: "10.0.0.1" };
  assert.equal(readConfig(named).mtlsBaseUrl, "https://mtls.id.example");
  assert.equal(readConfig(named).mtls?.host, "10.0.0.1");
  assert.match(faultsOf({ ...named, SIGNET_MTLS_BASE_URL: "http://mtls.id.example" }), /must be https/);
  assert.match(faultsOf({ ...env, SIGNET_MTLS_KEY_FILE: "" }), /^SIGNET_MTLS_KEY_FILE must be set/);
  assert.match(
    faultsOf({ SIGNET_MTLS_PORT: "8443" }),
    /^SIGNET_MTLS_CERT_FILE and SIGNET_MTLS_KEY_FILE must/,
  );
  assert.match(faultsOf({ ...env, SIGNET_MTLS_PORT: "8080" }), /must differ/);
});

test("the proxy listener needs trusted proxies unless it is on loopback", () => {
  const local = readConfig({ SIGNET_PROXY_PORT: "8081" });
  const trusted = ["127.0.0.0/8", "::1"];
  assert.deepEqual(local.certificateProxy, { port: 8081, host: "127.0.0.1", format: "rfc9440", trusted });
  assert.equal(local.mtlsBaseUrl, undefined);
  const open = { SIGNET_PROXY_PORT: "8081", SIGNET_PROXY_HOST: "0.0.0.0" };
  assert.match(faultsOf(open), /^TRUSTED_PROXIES must name the proxies/);
  const named = readConfig({ ...open, TRUSTED_PROXIES: "10.0.0.1", SIGNET_PROXY_CERT_FORMAT: "nginx" });
  assert.deepEqual(named.certificateProxy?.trusted, ["10.0.0.1"]);
  assert.equal(named.certificateProxy?.format, "nginx");
  assert.match(faultsOf({ SIGNET_PROXY_CERT_FORMAT: "pem" }), /must be rfc9440 or nginx/);
  assert.match(faultsOf({ SIGNET_PROXY_PORT: "8080" }), /must differ/);
});

test("treats empty and blank settings as unset", () => {
  const env = {
    PORT: "",
    HOST: " ",
    SIGNET_BASE_URL: "",
    DATABASE_URL: "",
    SIGNET_MASTER_KEY: "",
    TRUSTED_PROXIES: " , ",
  };
  assert.deepEqual({ ...readConfig(env), origins: {} }, readConfig({}));
});

test("reports all faults together", () => {
  const faults = faultsOf({
    PORT: "80x",
    SIGNET_BASE_URL: "ftp://id.example",
    DATABASE_URL: "mysql://db.example/signet",
    SIGNET_DATABASE_POOL: "0",
    SIGNET_PASSWORD_CONCURRENCY: "many",
    SIGNET_MASTER_KEY: "short",
    LOG_LEVEL: "loud",
    LOG_FORMAT: "xml",
    TRUSTED_PROXIES: "10.0.0.0/33, proxy.example",
    SIGNET_RATE_LIMITS: "password-account=0/900, cake=1/1",
  });
  for (const name of [
    "PORT",
    "SIGNET_BASE_URL",
    "DATABASE_URL",
    "SIGNET_DATABASE_POOL",
    "SIGNET_PASSWORD_CONCURRENCY",
    "SIGNET_MASTER_KEY",
    "LOG_LEVEL",
    "LOG_FORMAT",
    '"10.0.0.0/33"',
    '"proxy.example"',
    '"password-account=0/900"',
    '"cake=1/1"',
  ]) {
    assert.ok(faults.includes(name), name);
  }
});

test("a fault never reveals a value that may be secret", () => {
  const env = {
    SIGNET_MASTER_KEY: "not-thirty-two-bytes",
    DATABASE_URL: "mysql://signet:hunter2@db.example/signet",
    SIGNET_BASE_URL: "https://admin:hunter2@id.example",
  };
  assert.throws(
    () => readConfig(env),
    (error: Error) => !/hunter2|not-thirty-two/.test(error.message) && /3 faults/.test(error.message),
  );
});

test("a port is an integer from 1 to 65535", () => {
  assert.equal(readConfig({ PORT: "65535" }).baseUrl, "http://localhost:65535");
  for (const PORT of ["0", "65536", "-1", "80.5", "1e3", "0x50"])
    assert.match(faultsOf({ PORT }), /PORT/, PORT);
});

test("the base URL is https, or http on loopback, without a trailing slash", () => {
  const baseOf = (SIGNET_BASE_URL: string) => readConfig({ SIGNET_BASE_URL }).baseUrl;
  assert.equal(baseOf("https://id.example/"), "https://id.example");
  assert.equal(baseOf("https://ID.example:443/"), "https://id.example");
  for (const url of ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"])
    assert.equal(baseOf(url), url);
  for (const url of [
    "http://id.example",
    "https://id.example/login",
    "https://id.example/?a=b",
    "https://id.example/?",
    "https://id.example/#a",
    "https://user@id.example",
    "javascript:alert(1)",
    "id.example",
  ]) {
    assert.match(faultsOf({ SIGNET_BASE_URL: url }), /SIGNET_BASE_URL/, url);
  }
});

test("the database is PostgreSQL or a SQLite file", () => {
  for (const url of [
    "postgres://u:p@db.example/signet",
    "postgresql://db.example/signet",
    "sqlite:/tmp/x.db",
  ])
    assert.equal(readConfig({ DATABASE_URL: url }).databaseUrl, url);
  const several = "postgres://u:p@a.example,b.example:5433/signet?target_session_attrs=read-write";
  assert.equal(readConfig({ DATABASE_URL: several }).databaseUrl, several);
  assert.match(
    faultsOf({ DATABASE_URL: "postgres://u:p@a.example,/signet" }),
    /^DATABASE_URL has a comma without/,
  );
  assert.match(
    faultsOf({ DATABASE_URL: "postgres://db.example/signet?sslmode=verify-full&sslrootcert=/none/ca.pem" }),
    /^DATABASE_URL sslrootcert: \/none\/ca\.pem does not exist$/,
  );
  const listening = { DATABASE_URL: several, SIGNET_DATABASE_LISTEN_URL: "postgres://u:p@a.example/signet" };
  assert.equal(readConfig(listening).databaseListenUrl, listening.SIGNET_DATABASE_LISTEN_URL);
  assert.match(
    faultsOf({ SIGNET_DATABASE_LISTEN_URL: listening.SIGNET_DATABASE_LISTEN_URL }),
    /^SIGNET_DATABASE_LISTEN_URL goes with a DATABASE_URL of PostgreSQL/,
  );
  const standby = "postgres://u:p@b.example,c.example/signet?target_session_attrs=standby";
  const replicated = { DATABASE_URL: several, SIGNET_DATABASE_REPLICA_URL: standby };
  assert.equal(readConfig(replicated).databaseReplicaUrl, standby);
  assert.match(
    faultsOf({ SIGNET_DATABASE_REPLICA_URL: standby }),
    /^SIGNET_DATABASE_REPLICA_URL goes with a DATABASE_URL of PostgreSQL$/,
  );
  for (const [url, fault] of [
    ["db.example", /^SIGNET_DATABASE_REPLICA_URL must be postgres:\/\//],
    ["postgres://u:p@b.example/signet?target_session_attrs=primary", /only reads there$/],
    ["postgres://u:p@b.example/signet?sslmode=maybe", /^SIGNET_DATABASE_REPLICA_URL sslmode must be/],
    ["postgres://b.example/signet?sslrootcert=/none/ca.pem", /sslrootcert: \/none\/ca\.pem does not exist$/],
  ] as const)
    assert.match(faultsOf({ ...replicated, SIGNET_DATABASE_REPLICA_URL: url }), fault, url);
  assert.equal(readConfig({ SIGNET_DATA_DIR: "/srv/signet" }).databaseUrl, "sqlite:/srv/signet/signet.db");
  for (const DATABASE_URL of ["sqlite:", "postgres:/db", "db.example"])
    assert.match(faultsOf({ DATABASE_URL }), /DATABASE_URL/, DATABASE_URL);
});

test("the master key is 32 bytes in hex or either base64", () => {
  const keyOf = (SIGNET_MASTER_KEY: string) => readConfig({ SIGNET_MASTER_KEY }).masterKey;
  const high = Buffer.alloc(32, 0xfb);
  for (const bytes of [key, high]) {
    for (const encoding of ["hex", "base64url", "base64"] as const)
      assert.deepEqual(keyOf(bytes.toString(encoding)), bytes, encoding);
  }
  for (const wrong of [key.toString("hex").slice(2), `${key.toString("base64url")}AA`, "!".repeat(43)])
    assert.match(faultsOf({ SIGNET_MASTER_KEY: wrong }), /SIGNET_MASTER_KEY/);
});

test("trusted proxies are IP addresses and networks", () => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: "10.0.0.0/8, ::1,fd00::/8 ,192.0.2.7" });
  assert.deepEqual(trustedProxies, ["10.0.0.0/8", "::1", "fd00::/8", "192.0.2.7"]);
  for (const wrong of ["10.0.0.0/0", "10.0.0.0/8/8", "::1/129", "0.0.0.0/", "loopback"])
    assert.match(faultsOf({ TRUSTED_PROXIES: wrong }), /TRUSTED_PROXIES/, wrong);
});

test("overrides named rate limits only", () => {
  const { rateLimits } = readConfig({ SIGNET_RATE_LIMITS: "password-account=3/60" });
  assert.deepEqual(rateLimits["password-account"], { name: "password-account", count: 3, windowSeconds: 60 });
  assert.deepEqual(rateLimits["password-address"], defaultRateLimits["password-address"]);
});

test("sizes the thread pool by processors plus one, unless the operator sets it", () => {
  const env: Record<string, string | undefined> = {};
  sizeThreadPool(env);
  assert.equal(env["UV_THREADPOOL_SIZE"], String(Math.max(2, availableParallelism()) + 1));
  const chosen = { UV_THREADPOOL_SIZE: "12" };
  sizeThreadPool(chosen);
  assert.equal(chosen.UV_THREADPOOL_SIZE, "12");
});

test("previous master keys: one or several, in any separation, four at most", () => {
  const keysOf = (SIGNET_MASTER_KEY_PREVIOUS: string) =>
    readConfig({ SIGNET_MASTER_KEY_PREVIOUS }).previousMasterKeys;
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  assert.deepEqual(keysOf(one.toString("hex")), [one]);
  assert.deepEqual(keysOf(`${two.toString("base64url")}, ${one.toString("hex")}\n`), [two, one]);
  for (const wrong of ["nonsense", `${one.toString("hex")},x`, Array(5).fill(one.toString("hex")).join(",")])
    assert.match(faultsOf({ SIGNET_MASTER_KEY_PREVIOUS: wrong }), /SIGNET_MASTER_KEY_PREVIOUS/);
});
