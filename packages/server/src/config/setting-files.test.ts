import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { InvalidConfig, readConfig } from "./config.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-settings-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof InvalidConfig);
    return [...error.faults];
  }
  return [];
}

test("reads each setting that may hold a secret from the file of its twin", () => {
  const key = Buffer.alloc(32, 7);
  const config = readConfig({
    DATABASE_URL_FILE: file("database", "postgres://u:p@db.example/signet\n"),
    SIGNET_MASTER_KEY_FILE: file("key", `${key.toString("base64url")}\n`),
    SMTP_URL_FILE: file("smtp", "smtps://ada:secret@mail.example"),
    SIGNET_MAIL_FROM: "no-reply@acme.example",
  });
  assert.equal(config.databaseUrl, "postgres://u:p@db.example/signet");
  assert.deepEqual(config.masterKey, key);
  assert.equal(config.mail?.smtp.credentials?.password, "secret");
  assert.deepEqual(config.origins, {
    DATABASE_URL: join(folder, "database"),
    SIGNET_MASTER_KEY: join(folder, "key"),
    SMTP_URL: join(folder, "smtp"),
    SIGNET_MAIL_FROM: "environment",
  });
});

test("reads the headers of a collector of traces from files too: of one name, the one for traces", () => {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  const all = file("headers", "api-key=a%20b%3D, x-tenant = one\n");
  const OTEL_EXPORTER_OTLP_HEADERS_FILE = all;
  const read = readConfig({
    ...traced,
    OTEL_EXPORTER_OTLP_HEADERS_FILE,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-tenant=two",
  });
  assert.deepEqual(read.tracing?.headers, { "api-key": "a b=", "x-tenant": "two" });
  const ofEnvironment = readConfig({ ...traced, OTEL_EXPORTER_OTLP_HEADERS: "api-key=a" });
  assert.equal(ofEnvironment.tracing?.headers, undefined, "the SDK's own work");
  assert.deepEqual(
    faultsOf({ ...traced, OTEL_EXPORTER_OTLP_HEADERS_FILE, OTEL_EXPORTER_OTLP_HEADERS: "api-key=a" }),
    ["OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_HEADERS_FILE are both set: keep one of them"],
  );
  for (const content of ["secret", "a=%E0%A4%A"])
    assert.deepEqual(faultsOf({ ...traced, OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: file("bad", content) }), [
      "OTEL_EXPORTER_OTLP_TRACES_HEADERS must be name=value, comma-separated, values percent-encoded",
    ]);
});

test("checks what a file holds as if the variable held it, without showing it", () => {
  const faults = faultsOf({ SIGNET_MASTER_KEY_FILE: file("short", "hunter2") });
  assert.match(faults.join(), /^SIGNET_MASTER_KEY must be 32 bytes/);
  assert.doesNotMatch(faults.join(), /hunter2/);
});

test("a variable together with its twin is refused", () => {
  const env = { SMTP_URL: "smtp://localhost", SMTP_URL_FILE: file("both", "smtp://localhost") };
  assert.deepEqual(faultsOf({ ...env, SIGNET_MAIL_FROM: "a@acme.example" }), [
    "SMTP_URL and SMTP_URL_FILE are both set: keep one of them",
  ]);
  assert.deepEqual(faultsOf({ ...env, SMTP_URL: " ", SIGNET_MAIL_FROM: "a@acme.example" }), []);
});

test("an unreadable file is one sentence with the variable, the file and the reason, at once", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const large = file("large", "x");
  truncateSync(large, 65 * 1024);
  const cases = {
    [join(folder, "missing")]: "does not exist",
    [folder]: "is not a file",
    [pipe]: "is not a file",
    [large]: "is larger than 64 KiB",
    [file("empty", " \n")]: "is empty",
  };
  for (const [path, reason] of Object.entries(cases))
    assert.deepEqual(faultsOf({ SIGNET_MASTER_KEY_FILE: path }), [
      `SIGNET_MASTER_KEY_FILE: ${path} ${reason}`,
    ]);
});

test("a file that others can replace is refused, through a symbolic link too", () => {
  const key = Buffer.alloc(32, 7).toString("hex");
  const writable = file("writable", key);
  chmodSync(writable, 0o666);
  assert.match(
    faultsOf({ SIGNET_MASTER_KEY_FILE: writable }).join(),
    /^SIGNET_MASTER_KEY_FILE: others can write to/,
  );
  const open = join(folder, "open");
  mkdirSync(open);
  writeFileSync(join(open, "key"), key, { mode: 0o600 });
  chmodSync(open, 0o777);
  const link = join(folder, "link");
  symlinkSync(join(open, "key"), link);
  for (const path of [join(open, "key"), link])
    assert.match(faultsOf({ SIGNET_MASTER_KEY_FILE: path }).join(), /others can write to .*open: chmod go-w/);
  chmodSync(open, 0o755);
  for (const path of [join(open, "key"), link])
    assert.deepEqual(faultsOf({ SIGNET_MASTER_KEY_FILE: path }), []);
});
