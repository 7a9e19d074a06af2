/** The field's names beside the specification's: the same configuration, and two values of one thing are refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apiClient } from "../api/index.ts";
import { createFilter, middleware } from "../create-filter.ts";
import { clientCredentials } from "../grants/token-source.ts";
import {
  bearer,
  COOKIE_SECRET,
  FEDERATION_SERVER,
  federated,
  ORGANISATION_ID,
} from "../testing/configurations.ts";
import { AUDIENCE, CLIENT_ID, createTestProvider, ISSUER } from "../testing/test-provider.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { configurationFromEnvironment } from "./environment.ts";
import type { ConfigurationProperties, FilterOptions } from "./settings.ts";

const inTheFieldsNames = {
  filterType: "OAuthFederated",
  federationServer: FEDERATION_SERVER,
  organisationId: ORGANISATION_ID,
  clientId: CLIENT_ID,
  clientSecret: "sgn_cs_1",
  scope: "openid email",
  baseUrl: "https://app.example",
  cookieSecrets: [COOKIE_SECRET],
} satisfies FilterOptions;

const inTheSpecifications = {
  ...federated,
  oauthClientSecret: "sgn_cs_1",
  oauthScopes: "openid email",
} satisfies FilterOptions;

describe("the field's names", () => {
  test("mean what the specification's names mean", () => {
    assert.deepEqual(checkConfiguration(inTheFieldsNames), checkConfiguration(inTheSpecifications));
    const { oauthAudience: audience, ...rest } = bearer;
    assert.deepEqual(checkConfiguration({ ...rest, audience }), checkConfiguration(bearer));
  });

  test("make a filter by the issuer and the client id alone", () => {
    const { baseUrl, cookieSecrets, clientId } = inTheFieldsNames;
    const filter = middleware({
      filterType: "OAuthFederated",
      issuer: ISSUER,
      clientId,
      baseUrl,
      cookieSecrets,
    });
    assert.equal(filter.filterType, "OAuthFederated");
    assert.equal(middleware, createFilter);
    const api = middleware({ filterType: "OAuthUserBearer", issuer: ISSUER, audience: AUDIENCE });
    assert.equal(api.filterType, "OAuthUserBearer");
  });

  test("are fine beside the specification's with the same value", () => {
    const both = { ...inTheSpecifications, ...inTheFieldsNames, issuer: ISSUER };
    assert.equal(checkConfiguration(both).issuer, ISSUER);
    assert.equal(checkConfiguration(both).clientId, CLIENT_ID);
  });

  const contradictions: readonly (readonly [ConfigurationProperties, string, string])[] = [
    [{ clientId: ORGANISATION_ID }, "clientId (SIGNET_CLIENT_ID)", "applicationId (SIGNET_APPLICATION_ID)"],
    [
      { clientSecret: "sgn_cs_2" },
      "clientSecret (SIGNET_CLIENT_SECRET)",
      "oauthClientSecret (SIGNET_OAUTH_CLIENT_SECRET)",
    ],
    [{ scope: "openid" }, "scope (SIGNET_SCOPE)", "oauthScopes (SIGNET_OAUTH_SCOPES)"],
    [
      { organisationId: CLIENT_ID },
      "organisationId (SIGNET_ORGANISATION_ID)",
      "oauthOrganisationId (SIGNET_OAUTH_ORGANISATION_ID)",
    ],
    [{ issuer: ISSUER.replace("id.example", "id2.example") }, "SIGNET_ISSUER", "SIGNET_FEDERATION_SERVER"],
    [{ issuer: ISSUER.replace(/1$/, "2") }, "SIGNET_ISSUER", "SIGNET_OAUTH_ORGANISATION_ID"],
  ];
  for (const [change, ...names] of contradictions)
    test(`are refused with another value: ${Object.keys(change)}`, () => {
      const make = () => checkConfiguration({ ...inTheSpecifications, ...change });
      assert.throws(make, ({ code, reasons }) => {
        assert.equal(code, "configuration");
        assert.equal(reasons.length, 1, reasons.join("\n"));
        for (const name of names) assert.ok(reasons[0].includes(name), reasons[0]);
        return true;
      });
    });

  test("are those in which a problem is told to who has written them", () => {
    const told = (change: ConfigurationProperties) => {
      try {
        checkConfiguration({ ...inTheFieldsNames, ...change });
      } catch (error) {
        return String(error);
      }
      return assert.fail("accepted");
    };
    assert.match(told({ scope: "email" }), /: scope must include openid.*\[SIGNET_SCOPE\]/);
    assert.match(told({ organisationId: "acme" }), /: organisationId must be .*\[SIGNET_ORGANISATION_ID\]/);
  });

  test("come from the environment as well", () => {
    const env = { SIGNET_ISSUER: ISSUER, SIGNET_CLIENT_ID: CLIENT_ID, SIGNET_AUDIENCE: AUDIENCE };
    const read = configurationFromEnvironment({ ...env, SIGNET_FILTER_TYPE: "OAuthUserBearer" });
    assert.equal(checkConfiguration(read).audience, AUDIENCE);
    assert.equal(checkConfiguration(read).clientId, CLIENT_ID);
  });

  test("configure grants and the client of API v1", async () => {
    const provider = await createTestProvider();
    provider.tokenAnswer["access_token"] = "at-1";
    provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"];
    const { fetch, clock } = provider;
    const source = clientCredentials({ ...inTheFieldsNames, scope: "jobs:run" }, { fetch, clock });
    assert.equal(await source.token(), "at-1");
    const form = Object.fromEntries(provider.forms[0] ?? []);
    assert.deepEqual(
      [form["client_id"], form["client_secret"], form["scope"]],
      [CLIENT_ID, "sgn_cs_1", "jobs:run"],
    );
    assert.doesNotThrow(() => apiClient(inTheFieldsNames, { tokens: "at-1" }));
    const wrong = { ...inTheFieldsNames, oauthClientSecret: "other" };
    assert.throws(() => clientCredentials(wrong, { fetch, clock }), /clientSecret.*oauthClientSecret/);
  });

  test("do not compile when one that the type needs is missing", () => {
    const { clientId: _id, ...noClient } = inTheFieldsNames;
    const noAudience = { filterType: "OAuthUserBearer", issuer: ISSUER } as const;
    // @ts-expect-error clientId or applicationId
    rejects(() => middleware(noClient), /SIGNET_APPLICATION_ID/);
    // @ts-expect-error audience or oauthAudience
    rejects(() => middleware(noAudience), /SIGNET_OAUTH_AUDIENCE/);
  });
});

function rejects(make: () => unknown, message: RegExp): void {
  assert.throws(make, { code: "configuration", message });
}
