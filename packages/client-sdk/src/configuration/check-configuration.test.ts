import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SignetError } from "../errors.ts";
import {
  bearer,
  COOKIE_SECRET,
  FEDERATION_SERVER,
  federated,
  legacy,
  ORGANISATION_ID,
  systemAccount,
} from "../testing/configurations.ts";
import { ledgerKey } from "../testing/test-ledger.ts";
import { AUDIENCE, CLIENT_ID, ISSUER } from "../testing/test-provider.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { properties } from "./properties.ts";
import type { ConfigurationProperties } from "./settings.ts";

const POOL_ID = "0197aaaa-0000-7000-8000-0000000000b1";
const SECRET_KEY = "sgn_sa_AAAA";
const thumbprint = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs";
const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const jwk = { kty: "EC", crv: "P-256", x: "x", y: "y" };
const pool = { sovereignSigningPoolId: POOL_ID };
const pinned = { ...pool, sovereignKeyThumbprints: [thumbprint] };
const privateJwk = { ...jwk, d: "d" };
const fapi = { securityProfile: "fapi2", oauthClientKey: privateJwk } as const;
const bothOfCertificate = {
  oauthClientCertificate: certificate.trim(),
  oauthClientCertificateKey: "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
};
const keys = { systemAccountPublicKey: CLIENT_ID, systemAccountSecretKey: SECRET_KEY };

/** A valid configuration, changes that invalidate it, and the expected reason. */
type InvalidConfiguration = readonly [base: ConfigurationProperties, changes: object, reason: RegExp];

const ledger = {
  ...{ requireLedgerProof: true, ledgerKey: ledgerKey("log.example", 1).text },
  ledgerWitnesses: [ledgerKey("w.example", 4).text],
};

const invalidConfigurations: readonly InvalidConfiguration[] = [
  // Required by each filter.
  [federated, { filterType: undefined }, /^filterType is missing/],
  [federated, { filterType: "OauthFederated" }, /^filterType must be one of/],
  [federated, { federationServer: undefined }, /federationServer/],
  [federated, { applicationId: undefined }, /^applicationId is missing/],
  [federated, { oauthOrganisationId: undefined }, /oauthOrganisationId/],
  [federated, { baseUrl: undefined }, /baseUrl/],
  [federated, { cookieSecrets: undefined }, /cookieSecrets/],
  [federated, { cookieSecrets: [] }, /^cookieSecrets is empty/],
  [bearer, { oauthAudience: undefined }, /oauthAudience/],
  [bearer, { federationServer: undefined, oauthOrganisationId: undefined }, /federationServer, or issuer/],
  [legacy, { federationServer: undefined }, /federationServer/],
  [legacy, { cookieSecrets: undefined }, /cookieSecrets/],
  [legacy, { baseUrl: undefined }, /baseUrl/],
  [legacy, { applicationId: undefined }, /applicationId/],
  [systemAccount, { federationServer: undefined }, /federationServer/],
  [systemAccount, { applicationId: undefined }, /applicationId/],
  // Names and types.
  [federated, { oauthScope: "openid" }, /^oauthScope is not a known property/],
  [federated, { constructor: "x" }, /^constructor is not a known property/],
  [federated, { isOptional: "false" }, /^isOptional must be true or false/],
  [federated, { oauthScopes: ["openid"] }, /^oauthScopes must be a non-empty string/],
  [federated, { oauthClientSecret: " " }, /^oauthClientSecret must be a non-empty string/],
  [federated, { environment: "prod" }, /^environment must be one of/],
  [legacy, { revalidateAfterSeconds: -1 }, /^revalidateAfterSeconds must be/],
  [legacy, { revalidateAfterSeconds: 86_401 }, /^revalidateAfterSeconds must be/],
  [federated, { applicationId: "my-app" }, /^applicationId must be .* UUID/],
  [federated, { oauthOrganisationId: "my-org" }, /^oauthOrganisationId must be .* UUID/],
  [federated, { oauthOrganisationId: `${ORGANISATION_ID}/../x` }, /^oauthOrganisationId must be .* UUID/],
  [federated, { oauthClientId: ORGANISATION_ID }, /^oauthClientId must equal applicationId/],
  // URLs.
  [federated, { federationServer: "http://id.example" }, /^federationServer must be an https URL/],
  [federated, { federationServer: "id.example" }, /^federationServer must be an https URL/],
  [federated, { federationServer: "https://u:p@id.example" }, /^federationServer must be an https URL/],
  [federated, { federationServer: "https://id.example?x=1" }, /^federationServer must not have a query/],
  [federated, { baseUrl: "http://app.example" }, /^baseUrl must be an https URL/],
  [federated, { baseUrl: "https://app.example/path" }, /^baseUrl must be an origin/],
  [federated, { baseUrl: "https://App.example" }, /^baseUrl must be an origin/],
  [federated, { basePath: "signet" }, /^basePath/],
  [federated, { basePath: "/" }, /^basePath/],
  [federated, { basePath: "/signet/" }, /^basePath/],
  [federated, { basePath: "//evil.example" }, /^basePath/],
  [federated, { basePath: "/a/../b" }, /^basePath/],
  [federated, { basePath: "/a%2fb" }, /^basePath/],
  [federated, { afterLogoutPath: "https://evil.example" }, /^afterLogoutPath/],
  [federated, { afterLogoutPath: "//evil.example" }, /^afterLogoutPath/],
  [federated, { afterLogoutPath: "/\\evil.example" }, /^afterLogoutPath/],
  [federated, { afterLogoutPath: "/\t/evil.example" }, /^afterLogoutPath/],
  // Secrets.
  [federated, { cookieSecrets: ["secret"] }, /^cookieSecrets\[0\] must be at least 32 random bytes/],
  [
    federated,
    { cookieSecrets: [COOKIE_SECRET, "A".repeat(43)] },
    /^cookieSecrets\[1\] must be at least 32 random bytes/,
  ],
  [systemAccount, { systemAccountSecretKey: SECRET_KEY }, /must be set together/],
  [systemAccount, { systemAccountPublicKey: CLIENT_ID }, /must be set together/],
  [systemAccount, { ...keys, systemAccountPublicKey: SECRET_KEY }, /^systemAccountPublicKey must be a UUID/],
  // Combinations.
  [federated, { issuer: `${ISSUER}/` }, /^issuer and federationServer name different providers/],
  [legacy, { issuer: ISSUER }, /^issuer is for the OAuth filters/],
  [federated, { oauthScopes: "profile email" }, /openid/],
  [federated, { oauthScopes: 'openid "x"' }, /^oauthScopes must be/],
  [federated, { introspectTokens: true }, /^introspectTokens .* only for OAuthUserBearer/],
  [federated, { allowUntypedAccessTokens: true }, /allowUntypedAccessTokens are only for OAuthUserBearer/],
  [bearer, { introspectTokens: true }, /^introspectTokens needs oauthClientSecret/],
  [bearer, { allowUntypedAccessTokens: true, oauthAudience: CLIENT_ID }, /^allowUntypedAccessTokens needs/],
  // Security profile.
  [federated, { securityProfile: "fapi3" }, /^securityProfile must be one of/],
  [federated, { oauthClientKey: jwk }, /^oauthClientKey must be a private key/],
  [federated, { oauthClientKey: { ...jwk, d: "d", crv: "P-384" } }, /^oauthClientKey must have an alg/],
  [federated, { ...fapi, oauthClientKey: { ...privateJwk, alg: "RS256" } }, /^oauthClientKey must be for/],
  [federated, { oauthClientKey: { ...privateJwk, alg: "ML-DSA-65" } }, /ML-DSA signs tokens alone/],
  [federated, { ...fapi, oauthIdTokenAlg: "ML-DSA-65" }, /^oauthIdTokenAlg must be ES256, PS256 or EdDSA/],
  [federated, { ...fapi, oauthClientSecret: "s" }, /^securityProfile fapi2 has no client secrets/],
  [federated, { ...fapi, oauthIdTokenAlg: "RS256" }, /^oauthIdTokenAlg must be ES256, PS256 or EdDSA/],
  [federated, { ...fapi, ...bothOfCertificate }, /^securityProfile fapi2 uses oauthClientKey or/],
  [federated, { oauthClientCertificate: certificate.trim() }, /must be set together/],
  [
    federated,
    { ...fapi, oauthOrganisationId: undefined, organisations: "any" },
    /^securityProfile and organisations exclude/,
  ],
  [legacy, { securityProfile: "fapi2" }, /^securityProfile is for the OAuth filters/],
  // Sovereign trust.
  [bearer, pool, /^sovereignSigningPoolId alone .* production rejects it/],
  [bearer, { ...pool, sovereignAllowUnpinned: false }, /^sovereignSigningPoolId alone/],
  [bearer, { ...pinned, sovereignSigningPoolId: "pool" }, /^sovereignSigningPoolId must be a UUID/],
  [bearer, { sovereignRequiredKeyId: "k" }, /^sovereignRequiredKeyId and/],
  [bearer, { sovereignPublicKeys: [jwk], sovereignIssuerMode: "pool" }, /^sovereignIssuerMode needs/],
  [bearer, { sovereignTrustedRootCertificates: [certificate] }, /needs sovereignSigningPoolId/],
  [bearer, { ...pinned, sovereignPublicKeys: [jwk] }, /^Set only one of/],
  [bearer, { ...pinned, sovereignTrustedRootCertificates: [certificate] }, /^Set only one of/],
  [bearer, { ...pool, sovereignKeyThumbprints: [] }, /^sovereignKeyThumbprints is empty/],
  [bearer, { ...pool, sovereignKeyThumbprints: ["AA:BB"] }, /^sovereignKeyThumbprints must be/],
  [bearer, { ...pool, sovereignTrustedRootCertificates: ["MIIB"] }, /^sovereignTrustedRootCertificates must/],
  [
    bearer,
    { ...pool, sovereignTrustedRootCertificates: [certificate + certificate] },
    /one certificate per item/,
  ],
  [bearer, { ...pool, sovereignPublicKeys: [{ ...jwk, d: "d" }] }, /^sovereignPublicKeys must be public/],
  [bearer, { ...pool, sovereignPublicKeys: [{ kty: "oct", k: "k" }] }, /^sovereignPublicKeys must be public/],
  [bearer, { ...pool, sovereignPublicKeys: [certificate] }, /^sovereignPublicKeys must be public/],
  [bearer, { ...pool, sovereignPublicKeys: [7] }, /^sovereignPublicKeys must be a list/],
  [legacy, pinned, /UserFederated receives no tokens/],
  [systemAccount, pinned, /SystemAccountExternal receives no tokens/],
  // Ledger proofs.
  [bearer, { ...ledger, requireLedgerProof: "sync" }, /^requireLedgerProof must be true, false or/],
  [bearer, { ...ledger, requireLedgerProof: undefined }, /^ledgerKey, ledgerWitnesses: nothing is checked/],
  [federated, ledger, /^requireLedgerProof is only for OAuthUserBearer/],
  [
    bearer,
    { ...ledger, oauthOrganisationId: undefined, organisations: "any" },
    /^organisations and requireLedgerProof/,
  ],
  [bearer, { ...ledger, ledgerKey: undefined }, /^requireLedgerProof needs ledgerKey/],
  [bearer, { ...ledger, ledgerKey: ledger.ledgerWitnesses[0] }, /^ledgerKey must be a ledger's key/],
  [bearer, { ...ledger, ledgerKey: "log.example" }, /^ledgerKey must be a ledger's key/],
  [bearer, { ...ledger, ledgerWitnesses: [] }, /^requireLedgerProof needs ledgerWitnesses/],
  [bearer, { ...ledger, ledgerWitnesses: [ledger.ledgerKey] }, /^ledgerWitnesses must be witnesses' keys/],
  [
    bearer,
    { ...ledger, ledgerWitnesses: [...ledger.ledgerWitnesses, ...ledger.ledgerWitnesses] },
    /^ledgerWitnesses has a key twice/,
  ],
  [bearer, { ...ledger, ledgerQuorum: 2 }, /^ledgerQuorum must not be above/],
  [bearer, { ...ledger, ledgerQuorum: 0 }, /^ledgerQuorum must be a whole number/],
  [bearer, { ...ledger, ledgerUrl: "http://id.example/ledger" }, /^ledgerUrl must be an https URL/],
  [
    bearer,
    {
      ...{ ...ledger, issuer: "https://other.example" },
      ...{ federationServer: undefined, oauthOrganisationId: undefined },
    },
    /^requireLedgerProof needs ledgerUrl/,
  ],
];

describe("a configuration", () => {
  for (const [base, changes, reason] of invalidConfigurations) {
    it(`of ${base.filterType} is rejected with ${JSON.stringify(changes)}`, () => {
      const reasons = reasonsOf({ ...base, ...changes } as ConfigurationProperties);
      assert.ok(
        reasons.some((one) => reason.test(one)),
        reasons.join("\n"),
      );
    });
  }

  it("is rejected with all reasons at once", () => {
    const reasons = reasonsOf({
      ...federated,
      baseUrl: "app.example",
      oauthScopes: "email",
      cookieSecrets: ["x"],
    });
    assert.equal(reasons.length, 3, reasons.join("\n"));
  });

  it("never shows a secret in a reason", () => {
    const reasons = reasonsOf({
      ...federated,
      cookieSecrets: ["a-secret-too-short"],
      ...keys,
      systemAccountPublicKey: SECRET_KEY,
    });
    assert.doesNotMatch(reasons.join(), /a-secret-too-short|sgn_sa_/);
  });

  it("is rejected if it is not an object", () => {
    for (const nothing of [undefined, null, "OAuthFederated", 7])
      assert.throws(() => checkConfiguration(nothing as unknown as ConfigurationProperties), {
        code: "configuration",
      });
  });

  it("has safe defaults and normalised URLs", () => {
    const settings = checkConfiguration({
      ...federated,
      federationServer: `${FEDERATION_SERVER}/`,
      baseUrl: "https://app.example/",
      oauthOrganisationId: ORGANISATION_ID.toUpperCase(),
      applicationId: CLIENT_ID.toUpperCase(),
    });
    assert.deepEqual(settings, {
      filterType: "OAuthFederated",
      isOptional: false,
      environment: "production",
      federationServer: FEDERATION_SERVER,
      applicationId: CLIENT_ID,
      clientId: CLIENT_ID,
      issuer: ISSUER,
      tokenIssuer: ISSUER,
      idTokenAlg: "ES256",
      scopes: ["openid", "profile", "email"],
      baseUrl: "https://app.example",
      basePath: "/signet",
      afterLogoutPath: "/",
      cookieSecrets: [COOKIE_SECRET],
      revalidateAfterSeconds: 60,
      introspectTokens: false,
      allowUntypedAccessTokens: false,
    });
  });

  it("accepts any provider by its exact issuer", () => {
    const { federationServer, applicationId, oauthOrganisationId, ...rest } = bearer;
    const issuer = "https://accounts.example/";
    const settings = checkConfiguration({ ...rest, issuer, oauthClientId: "My-App" });
    assert.equal(settings.issuer, issuer);
    assert.equal(settings.clientId, "My-App");
    // A resource server without introspection needs no client id.
    assert.equal(checkConfiguration({ ...rest, issuer }).clientId, undefined);
    const { federationServer: _, applicationId: __, oauthOrganisationId: ___, ...login } = federated;
    assert.match(reasonsOf({ ...login, issuer }).join(), /needs oauthClientId, or clientId/);
    assert.match(reasonsOf(login).join(), /needs oauthClientId, or clientId/, "beside what else is missing");
  });

  it("expects the pool's issuer if there is a pool", () => {
    const settings = checkConfiguration({ ...bearer, ...pinned, sovereignRequiredKeyId: "k-7" });
    assert.equal(settings.issuer, ISSUER);
    assert.equal(settings.tokenIssuer, `${ISSUER}/sovereign/pools/${POOL_ID}`);
    assert.deepEqual(settings.sovereign, {
      poolId: POOL_ID,
      poolIssuer: `${ISSUER}/sovereign/pools/${POOL_ID}`,
      trustedRoots: [],
      thumbprints: [thumbprint],
      publicKeys: [],
      requiredKeyId: "k-7",
      allowUnpinned: false,
    });
    const { sovereign, tokenIssuer } = checkConfiguration({ ...bearer, sovereignPublicKeys: [jwk] });
    assert.deepEqual(sovereign?.publicKeys, [jwk]);
    assert.equal(tokenIssuer, ISSUER);
    const asOrganisation = checkConfiguration({ ...bearer, ...pinned, sovereignIssuerMode: "organisation" });
    assert.equal(asOrganisation.tokenIssuer, ISSUER);
    assert.equal(asOrganisation.sovereign?.poolIssuer, `${ISSUER}/sovereign/pools/${POOL_ID}`);
  });

  it("believes the organisation's ledger when all configured witnesses have cosigned", () => {
    const { ledger: settings } = checkConfiguration({ ...bearer, ...ledger });
    const { ledgerKey: key, ledgerWitnesses: witnesses } = ledger;
    const url = `${FEDERATION_SERVER}/ledger/${ORGANISATION_ID}`;
    assert.deepEqual(settings, { mode: "wait", url, key, witnesses, quorum: 1 });
    const own = { ...ledger, requireLedgerProof: "async", ledgerUrl: "https://log.example/a/" } as const;
    const other = checkConfiguration({ ...bearer, ...own }).ledger;
    assert.deepEqual([other?.mode, other?.url], ["async", "https://log.example/a"]);
    assert.equal(checkConfiguration({ ...bearer, ...ledger, requireLedgerProof: false }).ledger, undefined);
  });

  it("accepts an unpinned pool outside production, and in production only explicitly", () => {
    for (const environment of ["development", "staging"] as const)
      assert.ok(checkConfiguration({ ...bearer, ...pool, environment }).sovereign);
    assert.ok(
      checkConfiguration({ ...bearer, ...pool, sovereignAllowUnpinned: true }).sovereign?.allowUnpinned,
    );
  });

  it("allows plain http for localhost, and outside production for any host", () => {
    checkConfiguration({
      ...federated,
      federationServer: "http://localhost:8080",
      baseUrl: "http://127.0.0.1:1",
    });
    checkConfiguration({ ...federated, federationServer: "http://id.test", environment: "development" });
  });

  it("for the filter None needs nothing else, and tolerates properties of other filters", () => {
    assert.equal(checkConfiguration({ filterType: "None" }).filterType, "None");
    for (const other of [federated, bearer, legacy, systemAccount, { ...bearer, ...pinned }])
      assert.equal(checkConfiguration({ ...other, filterType: "None" }).filterType, "None");
  });

  it("has a type check for every property", () => {
    // The compiler sees that none is missing; here, that none is there that a configuration does not have.
    const known: Record<keyof ConfigurationProperties, unknown> = properties;
    assert.ok(Object.keys(known).includes("oauthAudience"));
    assert.equal(checkConfiguration({ ...bearer, oauthScopes: "notes  notes files" }).audience, AUDIENCE);
    assert.deepEqual(checkConfiguration({ ...bearer, oauthScopes: "notes  notes files" }).scopes, [
      "notes",
      "files",
    ]);
  });
});

function reasonsOf(configuration: ConfigurationProperties): readonly string[] {
  try {
    checkConfiguration(configuration);
  } catch (error) {
    assert.ok(error instanceof SignetError, String(error));
    assert.equal(error.code, "configuration");
    return error.reasons;
  }
  return assert.fail("the configuration was accepted");
}
