import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceManager } from "./service-manager.ts";

const socket = { NOTIFY_SOCKET: "/run/systemd/notify", PATH: "/usr/bin" };

test("without a socket nobody is told", () => {
  assert.equal(serviceManager({ WATCHDOG_USEC: "30000000" }, 7), undefined);
  assert.equal(serviceManager({ NOTIFY_SOCKET: " " }, 7), undefined);
});

test("the program that tells it gets no secret of the environment", () => {
  const env = { ...socket, SIGNET_MASTER_KEY: "hunter2", DATABASE_URL: "postgres://u:hunter2@db/x" };
  assert.deepEqual(serviceManager(env, 7), { environment: socket, watchdogMs: undefined });
});

test("the watchdog's time counts for the process that it names alone", () => {
  const watchdogMs = (more: Record<string, string>) => serviceManager({ ...socket, ...more }, 7)?.watchdogMs;
  assert.equal(watchdogMs({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7" }), 30_000);
  assert.equal(watchdogMs({ WATCHDOG_USEC: "30000000" }), 30_000);
  assert.equal(watchdogMs({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "8" }), undefined);
  for (const faulty of ["0", "-5", "soon", "1.5"])
    assert.equal(watchdogMs({ WATCHDOG_USEC: faulty }), undefined, faulty);
});
