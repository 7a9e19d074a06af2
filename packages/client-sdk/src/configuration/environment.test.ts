import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COOKIE_SECRET, FEDERATION_SERVER, ORGANISATION_ID } from "../testing/configurations.ts";
import { CLIENT_ID } from "../testing/test-provider.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { configurationFromEnvironment } from "./environment.ts";

const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
const publicKey = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----";
const jwk = { kty: "EC", crv: "P-256", x: "x", y: "y" };

describe("configurationFromEnvironment", () => {
  it("reads the specification's properties by name", () => {
    const configuration = configurationFromEnvironment({
      PATH: "/bin",
      SIGNET_FILTER_TYPE: "OAuthFederated",
      SIGNET_FEDERATION_SERVER: FEDERATION_SERVER,
      SIGNET_APPLICATION_ID: CLIENT_ID,
      SIGNET_OAUTH_ORGANISATION_ID: ORGANISATION_ID,
      SIGNET_OAUTH_SCOPES: "openid email",
      SIGNET_IS_OPTIONAL: "true",
      SIGNET_BASE_URL: "https://app.example",
      SIGNET_COOKIE_SECRETS: `${COOKIE_SECRET}, ${COOKIE_SECRET}`,
      SIGNET_REVALIDATE_AFTER_SECONDS: "30",
      SIGNET_OAUTH_CLIENT_SECRET: "",
      // Of something else that has the prefix.
      SIGNET_LOG_LEVEL: "debug",
    });
    assert.deepEqual(configuration, {
      filterType: "OAuthFederated",
      federationServer: FEDERATION_SERVER,
      applicationId: CLIENT_ID,
      oauthOrganisationId: ORGANISATION_ID,
      oauthScopes: "openid email",
      isOptional: true,
      baseUrl: "https://app.example",
      cookieSecrets: [COOKIE_SECRET, COOKIE_SECRET],
      revalidateAfterSeconds: 30,
    });
    checkConfiguration(configuration);
  });

  it("reads lists of certificates, thumbprints and keys", () => {
    const read = (name: string, value: string) =>
      Object.values(configurationFromEnvironment({ [`SIGNET_SOVEREIGN_${name}`]: value }))[0];
    const two = `${certificate}\n${certificate}\n`;
    assert.deepEqual(read("TRUSTED_ROOT_CERTIFICATES", two), [certificate, certificate]);
    assert.deepEqual(read("TRUSTED_ROOT_CERTIFICATES", two.replaceAll("\n", "\\n")), [
      certificate,
      certificate,
    ]);
    assert.deepEqual(read("KEY_THUMBPRINTS", "a,b"), ["a", "b"]);
    assert.deepEqual(read("PUBLIC_KEYS", publicKey), [publicKey]);
    assert.deepEqual(read("PUBLIC_KEYS", JSON.stringify(jwk)), [jwk]);
    assert.deepEqual(read("PUBLIC_KEYS", JSON.stringify([jwk, jwk])), [jwk, jwk]);
    assert.deepEqual(read("PUBLIC_KEYS", JSON.stringify({ keys: [jwk] })), [jwk]);
  });

  it("reads the client's key and certificate", () => {
    const key = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----";
    const read = configurationFromEnvironment({
      SIGNET_SECURITY_PROFILE: "fapi2",
      SIGNET_OAUTH_CLIENT_KEY: JSON.stringify({ ...jwk, d: "d" }),
      SIGNET_OAUTH_CLIENT_CERTIFICATE: `${certificate}\n${certificate}`.replaceAll("\n", "\\n"),
      SIGNET_OAUTH_CLIENT_CERTIFICATE_KEY: `${key}\n`,
    });
    assert.deepEqual(read, {
      securityProfile: "fapi2",
      oauthClientKey: { ...jwk, d: "d" },
      oauthClientCertificate: `${certificate}\n${certificate}`,
      oauthClientCertificateKey: key,
    });
    assert.throws(() => configurationFromEnvironment({ SIGNET_OAUTH_CLIENT_KEY: "{" }), /a JWK in JSON/);
    assert.throws(
      () => configurationFromEnvironment({ SIGNET_SECURITY_PROFIL: "fapi2" }),
      /SECURITY_PROFILE/,
    );
  });

  it("accepts another prefix for several filters", () => {
    const env = { API_FILTER_TYPE: "None", SIGNET_FILTER_TYPE: "OAuthFederated" };
    assert.deepEqual(configurationFromEnvironment(env, "API_"), { filterType: "None" });
  });

  it("rejects misspelt variables, because a check would not be made", () => {
    const env = {
      SIGNET_OAUTH_AUDIENCES: "x",
      SIGNET_SOVEREIGN_PUBLIC_KEY: "x",
      SIGNET_SYSTEM_ACCOUNT_KEY: "x",
      SIGNET_INTROSPECT_TOKEN: "true",
    };
    assert.throws(
      () => configurationFromEnvironment(env),
      ({ code, reasons }) => {
        assert.equal(code, "configuration");
        for (const [index, name] of Object.keys(env).entries())
          assert.ok(
            reasons[index].startsWith(`${name} is not a known property. Did you mean SIGNET_`),
            reasons[index],
          );
        assert.match(reasons.at(-1), /SIGNET_INTROSPECT_TOKENS\?$/);
        return true;
      },
    );
  });

  it("rejects unreadable values without showing them", () => {
    const env = {
      SIGNET_IS_OPTIONAL: "yes-secret",
      SIGNET_REVALIDATE_AFTER_SECONDS: "1m-secret",
      SIGNET_SOVEREIGN_TRUSTED_ROOT_CERTIFICATES: `${certificate} and secret`,
      SIGNET_SOVEREIGN_PUBLIC_KEYS: "{secret",
    };
    assert.throws(
      () => configurationFromEnvironment(env),
      ({ code, reasons }) => {
        assert.equal(code, "configuration");
        assert.equal(reasons.length, 4);
        assert.doesNotMatch(reasons.join(), /secret/);
        return true;
      },
    );
  });
});
