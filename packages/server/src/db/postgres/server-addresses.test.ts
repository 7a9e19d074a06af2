import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseServers, InvalidPostgresUrl, readServerAddresses } from "./server-addresses.ts";

test("reads one host, several, sockets and IPv6 as libpq does, and shows no credentials", () => {
  const cases: Readonly<Record<string, { urls: string[]; shown: string }>> = {
    "postgres://u:p@db.example/signet": {
      urls: ["postgres://u:p@db.example/signet"],
      shown: "db.example/signet",
    },
    "postgresql://u:p@a.example:5433,b.example/signet?connect_timeout=5": {
      urls: [
        "postgres://u:p@a.example:5433/signet?connect_timeout=5",
        "postgres://u:p@b.example/signet?connect_timeout=5",
      ],
      shown: "a.example:5433,b.example/signet",
    },
    "postgres://u:p@[::1]:5433,127.0.0.1/signet?target_session_attrs=read-write": {
      urls: ["postgres://u:p@[::1]:5433/signet", "postgres://u:p@127.0.0.1/signet"],
      shown: "[::1]:5433,127.0.0.1/signet",
    },
    // A comma and an @ of a password make no host of it.
    "postgres://u:p@a,b@db.example/signet": {
      urls: ["postgres://u:p@a,b@db.example/signet"],
      shown: "db.example/signet",
    },
    "postgres:///signet?host=/run/postgresql": {
      urls: ["postgres:///signet?host=%2Frun%2Fpostgresql"],
      shown: "/signet",
    },
  };
  for (const [text, { urls, shown }] of Object.entries(cases)) {
    const read = readServerAddresses(text);
    assert.deepEqual(
      read.urls.map((url) => decodeURIComponent(url)),
      urls.map((url) => decodeURIComponent(url)),
      text,
    );
    assert.equal(read.shown, shown);
    assert.doesNotMatch(read.shown, /u:p/);
  }
});

test("sslmode has libpq's meaning, and the driver is told so", () => {
  const parameters = (text: string) =>
    Object.fromEntries(
      new URL(readServerAddresses(`postgres://u@db.example/signet?${text}`).urls[0]).searchParams,
    );
  assert.deepEqual(parameters("sslmode=require"), { sslmode: "require", uselibpqcompat: "true" });
  assert.deepEqual(parameters("sslmode=verify-full&sslrootcert=/etc/ca.pem"), {
    sslmode: "verify-full",
    sslrootcert: "/etc/ca.pem",
    uselibpqcompat: "true",
  });
  assert.deepEqual(parameters("sslrootcert=system"), { sslmode: "verify-full", uselibpqcompat: "true" });
  assert.deepEqual(parameters("application_name=x"), { application_name: "x" });
});

test("what is wrong is one sentence without the password", () => {
  const cases = {
    "postgres://u:hunter2@a.example:x/signet": /^must be postgres:/,
    "postgres://u:hunter2@a.example,/signet": /^has a comma without a host beside it/,
    "postgres:u:hunter2": /^must be postgres:/,
    "postgres://u:hunter2@a/b?target_session_attrs=standby":
      /^target_session_attrs must be one of any, read-write, primary/,
    "postgres://u:hunter2@a/b?sslmode=maybe": /^sslmode must be one of disable, prefer/,
    "postgres://u:hunter2@a/b?sslmode=verify-ca": /^sslmode=verify-ca needs sslrootcert/,
  };
  for (const [text, message] of Object.entries(cases))
    assert.throws(
      () => readServerAddresses(text),
      (error: Error) =>
        error instanceof InvalidPostgresUrl &&
        message.test(error.message) &&
        !error.message.includes("hunter2"),
      text,
    );
});

test("moves on once from a server that many connections found away, and round to the first", () => {
  const servers = chooseServers("postgres://a,b,c/signet");
  const [first, second] = ["postgres://a/signet", "postgres://b/signet"];
  assert.deepEqual([servers.count, servers.current()], [3, first]);
  for (let time = 0; time < 5; time++) servers.moveOn(first);
  assert.equal(servers.current(), second);
  servers.moveOn(second);
  servers.moveOn(servers.current());
  assert.equal(servers.current(), first);
});
