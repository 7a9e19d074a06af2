import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { faultsOfNames, secretSettings, settingNames, twinOf } from "./setting-names.ts";

test("refuses a misspelt setting and names the nearest one, without its value", () => {
  const cases = {
    SIGNET_DRAIN_SECOND: "did you mean SIGNET_DRAIN_SECONDS?",
    SIGNET_MASTERKEY: "did you mean SIGNET_MASTER_KEY?",
    SIGNET_MASTER_KEY_FIEL: "did you mean SIGNET_MASTER_KEY_FILE?",
    SIGNET_LOG_LEVEL: "unset it (signet start --help lists all)",
    SIGNET_X: "unset it (signet start --help lists all)",
  };
  for (const [name, advice] of Object.entries(cases))
    assert.deepEqual(faultsOfNames({ [name]: "hunter2" }), [`${name} is no setting of Signet: ${advice}`]);
  assert.throws(
    () => readConfig({ SIGNET_DRAIN_SECOND: "9", PORT: "x" }),
    /has 2 faults:[\s\S]*DRAIN_SECOND is[\s\S]*PORT/,
  );
});

test("an empty one counts as unset", () => {
  assert.deepEqual(faultsOfNames({ SIGNET_DRAIN_SECOND: " ", SIGNET_X: undefined }), []);
});

test("accepts every setting and its twin, and the variables of others", () => {
  const names = [
    ...settingNames,
    ...secretSettings.map(twinOf),
    ...["HOME", "PATH", "NODE_OPTIONS", "DATABASE_URLS", "MY_SIGNET_THING"],
    ...["SIGNET_OAUTH_CLIENT_SECRET", "SIGNET_COOKIE_SECRETS", "SIGNET_ENROLLMENT_CODE", "SIGNET_TEST_SEED"],
  ];
  assert.deepEqual(faultsOfNames(Object.fromEntries(names.map((name) => [name, "1"]))), []);
});

test("accepts what Kubernetes sets in every pod beside a Service named signet", () => {
  const links = {
    SIGNET_SERVICE_HOST: "10.0.0.11",
    SIGNET_SERVICE_PORT: "8080",
    SIGNET_SERVICE_PORT_HTTP: "8080",
    SIGNET_PORT: "tcp://10.0.0.11:8080",
    SIGNET_PORT_8080_TCP: "tcp://10.0.0.11:8080",
    SIGNET_PORT_8080_TCP_PROTO: "tcp",
    SIGNET_PORT_8080_TCP_PORT: "8080",
    SIGNET_PORT_8080_TCP_ADDR: "10.0.0.11",
    SIGNET_MTLS_SERVICE_HOST: "10.0.0.12",
  };
  assert.deepEqual(faultsOfNames(links), []);
  assert.equal(faultsOfNames({ SIGNET_PORT: "8080" }).length, 1, "a misspelt PORT");
});
