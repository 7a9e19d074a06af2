import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SignetConfiguration } from "./configuration/settings.ts";
import { createFilter } from "./create-filter.ts";
import { filterTypes } from "./filter.ts";
import { bearer, federated, legacy, systemAccount } from "./testing/configurations.ts";
import { CLIENT_ID, createTestProvider } from "./testing/test-provider.ts";

const accountKeys = { systemAccountPublicKey: CLIENT_ID, systemAccountSecretKey: "sgn_sa_AAAA" };
const configurations: readonly SignetConfiguration[] = [
  federated,
  legacy,
  bearer,
  { ...systemAccount, ...accountKeys },
  { filterType: "None" },
];

describe("createFilter", () => {
  it("creates a filter of every type without fetching anything", () => {
    const fetch = () => assert.fail("nothing is fetched before the first request");
    const made = configurations.map((configuration) => createFilter(configuration, { fetch }).filterType);
    assert.deepEqual(new Set(made), new Set(filterTypes));
    assert.equal(made.length, filterTypes.length);
  });

  it("lets nobody in without credentials, except with None or isOptional", async () => {
    const kinds = async (isOptional: boolean) =>
      Promise.all(
        configurations.map(async (configuration) => {
          const { fetch } = await createTestProvider();
          const filter = createFilter({ ...configuration, isOptional }, { fetch });
          const result = await filter.authenticate(new Request("https://app.example/private"));
          if (result.kind !== "answer") return result.kind;
          assert.ok([302, 303, 401].includes(result.response.status), String(result.response.status));
          return result.kind;
        }),
      );
    assert.deepEqual(await kinds(true), Array(5).fill("anonymous"));
    assert.deepEqual(await kinds(false), [...Array(4).fill("answer"), "anonymous"]);
  });

  it("rejects requests even if the application's log fails", async () => {
    let told = 0;
    const onError = () => {
      told++;
      throw new Error("log away");
    };
    for (const configuration of configurations.slice(0, 4)) {
      const { fetch } = await createTestProvider();
      const filter = createFilter(configuration, { fetch, onError });
      const result = await filter.authenticate(new Request("https://app.example/signet/callback?state=x"));
      assert.equal(result.kind, "answer", filter.filterType);
    }
    assert.equal(told, 4);
  });

  it("does not compile without the properties that its type needs, and says at run time which are missing", () => {
    const { cookieSecrets: _secrets, ...noSecrets } = federated;
    const { oauthOrganisationId: _organisation, ...noOrganisation } = federated;
    const { oauthAudience: _audience, ...noAudience } = bearer;
    const { applicationId: _application, ...noApplication } = legacy;
    // @ts-expect-error cookieSecrets
    rejects(() => createFilter(noSecrets), /cookieSecrets.*SIGNET_COOKIE_SECRETS/);
    // @ts-expect-error oauthOrganisationId
    rejects(() => createFilter(noOrganisation), /oauthOrganisationId.*SIGNET_OAUTH_ORGANISATION_ID/);
    // @ts-expect-error oauthAudience
    rejects(() => createFilter(noAudience), /oauthAudience.*SIGNET_OAUTH_AUDIENCE/);
    // @ts-expect-error applicationId
    rejects(() => createFilter(noApplication), /applicationId.*SIGNET_APPLICATION_ID/);
    // @ts-expect-error federationServer and applicationId
    rejects(() => createFilter({ filterType: "SystemAccountExternal" }), /SIGNET_FEDERATION_SERVER/);
    // @ts-expect-error filterType
    rejects(() => createFilter({ federationServer: "https://id.example" }), /SIGNET_FILTER_TYPE/);
  });

  it("rejects an unknown type like any other problem", () => {
    for (const filterType of ["none", "constructor", undefined])
      assert.throws(() => createFilter({ filterType } as unknown as SignetConfiguration), {
        code: "configuration",
      });
  });
});

function rejects(make: () => unknown, message: RegExp): void {
  assert.throws(make, { code: "configuration", message });
}
