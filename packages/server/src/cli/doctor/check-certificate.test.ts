import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { type TestListeners, testListeners } from "../../testing/test-listeners.ts";
import { mtlsCertificateCheck } from "./check-certificate.ts";

const HOUR_MS = 3_600_000;

let listeners: TestListeners;
before(async () => {
  listeners = await testListeners();
});
after(() => listeners.remove());

async function check(more: Record<string, string> = {}, now = Date.now()) {
  const found = await mtlsCertificateCheck(readConfig({ ...listeners.env, ...more }), now);
  return found.map(({ level, message }) => `${level} ${message}`).join();
}

test("skips the certificate check without an mTLS listener", async () => {
  assert.deepEqual(await mtlsCertificateCheck(readConfig({}), Date.now()), []);
});

test("checks expiry and host name of the certificate", async () => {
  assert.match(await check(), /^warn expires on \d{4}-\d\d-\d\d$/, "the test's is good for a day");
  assert.match(await check({}, Date.now() - 20 * 24 * HOUR_MS), /^ok covers 127\.0\.0\.1, expires on /);
  assert.match(await check({}, Date.now() + 25 * HOUR_MS), /^fail expired on /);
  const elsewhere = { SIGNET_MTLS_BASE_URL: "https://devices.example" };
  assert.equal(await check(elsewhere), "fail doesn't cover devices.example, the host that devices use");
});

test("fails on a key of another certificate and on a missing file", async () => {
  const other = await testListeners();
  const key = { SIGNET_MTLS_KEY_FILE: String(other.env["SIGNET_MTLS_KEY_FILE"]) };
  assert.match(await check(key), /^fail .*mismatch/);
  await writeFile(String(other.env["SIGNET_MTLS_CERT_FILE"]), "nonsense");
  assert.match(await check({ SIGNET_MTLS_CERT_FILE: String(other.env["SIGNET_MTLS_CERT_FILE"]) }), /^fail /);
  await rm(key.SIGNET_MTLS_KEY_FILE);
  assert.match(await check(key), /^fail .*(ENOENT|no such file)/i);
  await other.remove();
});
