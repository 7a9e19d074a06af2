import assert from "node:assert/strict";
import { test } from "node:test";
import { SignetError } from "../errors.ts";
import { type ServiceConfiguration, serviceSettings } from "./service-settings.ts";

const good: ServiceConfiguration = {
  federationServer: "https://id.example/",
  systemAccountPublicKey: "0198C7A3-1111-7222-8333-444455556666",
  systemAccountSecretKey: "sgn_sa_secret",
};
const faults = (configuration: ServiceConfiguration, isSigned = true): number => {
  try {
    serviceSettings(configuration, { isSigned });
    return 0;
  } catch (error) {
    assert.ok(error instanceof SignetError && error.code === "configuration");
    assert.doesNotMatch(error.message, /sgn_sa_/);
    return error.reasons.length;
  }
};

test("valid settings, and all problems at once", () => {
  assert.deepEqual(serviceSettings(good, { isSigned: true }), {
    federationServer: "https://id.example",
    environment: "production",
    systemAccount: { publicKey: "0198c7a3-1111-7222-8333-444455556666", secretKey: "sgn_sa_secret" },
  });
  const { federationServer, systemAccountPublicKey, systemAccountSecretKey } = good;
  const server = federationServer === undefined ? {} : { federationServer };
  assert.equal(faults({}), 3);
  assert.equal(faults({}, false), 1);
  assert.equal(faults(server), 2);
  assert.equal(faults(server, false), 0);
  assert.equal(
    faults({ ...server, ...(systemAccountPublicKey ? { systemAccountPublicKey } : {}) }, false),
    1,
  );
  assert.equal(
    faults({ ...server, ...(systemAccountSecretKey ? { systemAccountSecretKey } : {}) }, false),
    1,
  );
  assert.equal(faults({ ...good, systemAccountPublicKey: "sgn_sa_secret" }), 1);
  assert.equal(faults({ ...good, federationServer: "http://id.example" }), 1);
  assert.equal(faults({ ...good, federationServer: "http://id.example", environment: "development" }), 0);
  assert.equal(faults({ ...good, federationServer: "http://127.0.0.1:8080" }), 0);
});
