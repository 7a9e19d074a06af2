/** An API of several organisations: each token is verified by the keys of its own organisation, if that one is accepted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkConfiguration } from "../configuration/check-configuration.ts";
import { configurationFromEnvironment } from "../configuration/environment.ts";
import type { AcceptedOrganisations, ConfigurationProperties } from "../configuration/settings.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import {
  addSecondOrganisation,
  FIRST,
  SECOND,
  SECOND_ISSUER,
  SERVER,
} from "../testing/second-organisation.ts";
import { AUDIENCE, CLIENT_ID, createTestProvider, ISSUER, PERM_ID } from "../testing/test-provider.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer.ts";

async function api(
  organisations: AcceptedOrganisations,
  more: ConfigurationProperties = {},
  options: OAuthUserBearerOptions = {},
) {
  const provider = await createTestProvider();
  const key = await addSecondOrganisation(provider);
  const configuration = {
    ...{ federationServer: SERVER, clientId: CLIENT_ID, audience: AUDIENCE, organisations },
    ...more,
  };
  const { fetch, clock } = provider;
  const filter = oauthUserBearer(configuration, { fetch, clock, ...options });
  const ask = (token: string): Promise<FilterResult> =>
    filter.authenticate(
      new Request("https://api.example/", { headers: { authorization: `Bearer ${token}` } }),
    );
  const second = (claims: Record<string, unknown> = {}) =>
    provider.accessToken({ key, claims: { iss: SECOND_ISSUER, ...claims } });
  return { provider, key, filter, ask, second };
}

async function refused(
  result: Promise<FilterResult>,
  code: SignetErrorCode,
  status = 401,
): Promise<SignetError> {
  const settled = await result;
  assert.equal(settled.kind, "answer", JSON.stringify(settled));
  const { error, response } = settled as FilterResult & { kind: "answer" };
  assert.ok(error instanceof SignetError);
  assert.deepEqual([error.code, response.status], [code, status], error.message);
  return error;
}

async function accepted(result: Promise<FilterResult>) {
  const settled = await result;
  assert.equal(settled.kind, "authenticated", JSON.stringify(settled));
  return (settled as FilterResult & { kind: "authenticated" }).principal;
}

test("with `any`, tokens of every organisation are verified by its own keys, and say whose they are", async () => {
  const { provider, ask, second } = await api("any");
  assert.equal((await accepted(ask(await provider.accessToken()))).organisationId, FIRST);
  const principal = await accepted(ask(await second()));
  assert.deepEqual([principal.organisationId, principal.user?.organisationId], [SECOND, SECOND]);
  assert.equal(principal.user?.permId, PERM_ID);
  const service = await accepted(ask(await second({ sub: CLIENT_ID })));
  assert.deepEqual([service.kind, service.organisationId], ["service", SECOND]);
});

test("a token of an organisation that is not listed is refused, in a sentence that names the setting; nothing is fetched", async () => {
  const { provider, ask, second } = await api([FIRST.toUpperCase()]);
  await accepted(ask(await provider.accessToken()));
  const error = await refused(ask(await second()), "token_organisation");
  assert.match(error.message, new RegExp(`${SECOND} is not among organisations \\(SIGNET_ORGANISATIONS\\)`));
  assert.ok(!error.description.includes("SIGNET_"), "the caller learns no settings");
  assert.ok(!provider.calls.some((call) => call.includes(SECOND)), provider.calls.join());
});

test("a function decides with every request; what it throws lets nobody in", async () => {
  let answer: () => unknown = () => true;
  const asked: string[] = [];
  const { ask, second } = await api(async (id) => {
    asked.push(id);
    return answer() as boolean;
  });
  await accepted(ask(await second()));
  for (const no of [false, undefined, 1, "yes", { id: SECOND }]) {
    answer = () => no;
    await refused(ask(await second()), "token_organisation");
  }
  answer = () => {
    throw new Error("database away");
  };
  const error = await refused(ask(await second()), "provider_unreachable", 503);
  assert.match(error.message, /organisations/);
  assert.deepEqual([...new Set(asked)], [SECOND]);
});

describe("a token is refused whose issuer", () => {
  const issuers: readonly (readonly [string, string])[] = [
    ["is of another service", `https://evil.example/oauth/${SECOND}`],
    ["begins like the service", `${SERVER}.evil.example/oauth/${SECOND}`],
    ["has a user", `https://id.example@evil.example/oauth/${SECOND}`],
    ["has another path", `${SERVER}/oauth/${SECOND}/`],
    ["is a pool's", `${SECOND_ISSUER}/sovereign/pools/${FIRST}`],
    ["climbs", `${SERVER}/oauth/../oauth/${SECOND}`],
    ["is the common entry", `${SERVER}/oauth/common`],
    ["is in capitals", `${SERVER}/oauth/${SECOND.toUpperCase()}`],
    ["has a query", `${SECOND_ISSUER}?`],
    ["is empty", ""],
  ];
  for (const [what, iss] of issuers)
    test(`${what}: ${iss}`, async () => {
      const { provider, ask, second } = await api("any");
      await refused(ask(await second({ iss })), "token_issuer");
      assert.deepEqual(provider.calls, [], "nothing is fetched");
    });
  test("is missing, or no text", async () => {
    const { ask, second } = await api("any");
    for (const iss of [undefined, 7, [SECOND_ISSUER]])
      await refused(ask(await second({ iss })), "token_issuer");
  });
});

test("one organisation's keys don't sign for another, whichever way round", async () => {
  const { provider, key, ask } = await api("any");
  await refused(ask(await provider.accessToken({ claims: { iss: SECOND_ISSUER } })), "token_signature");
  await refused(ask(await provider.accessToken({ key, claims: { iss: ISSUER } })), "token_signature");
});

test("an issuer speaks for its own organisation alone: another `org_id` is refused, its own is fine", async () => {
  const { ask, second } = await api("any");
  await refused(ask(await second({ org_id: FIRST })), "token_claim");
  assert.equal((await accepted(ask(await second({ org_id: SECOND })))).organisationId, SECOND);
});

test("the document of an organisation must name that organisation", async () => {
  const { provider, ask, second } = await api("any");
  provider.answers.set(`${SECOND_ISSUER}/.well-known/openid-configuration`, () =>
    Response.json(provider.metadata),
  );
  await refused(ask(await second()), "provider_answer", 502);
});

test("what each organisation publishes is fetched once, and made-up organisations don't push it out", async () => {
  const { provider, ask, second } = await api("any");
  await accepted(ask(await second()));
  const made = (n: number) => `${SERVER}/oauth/${SECOND.slice(0, -4)}${String(n).padStart(4, "0")}`;
  for (let n = 100; n < 320; n++) await refused(ask(await second({ iss: made(n) })), "provider_refused", 502);
  const before = provider.calls.length;
  await accepted(ask(await second()));
  assert.deepEqual(
    provider.calls.slice(before).filter((call) => /jwks|openid-conf/.test(call)),
    [],
  );
});

test("introspection and userinfo are the organisation's own", async () => {
  const { provider, ask, second } = await api("any", {
    introspectTokens: true,
    clientSecret: "sgn_cs_1",
  });
  provider.answers.set(`${SECOND_ISSUER}/introspect`, () =>
    Response.json({ active: true, iss: SECOND_ISSUER }),
  );
  await accepted(ask(await second()));
  const own = provider.calls.filter((call) => /introspect|userinfo/.test(call));
  assert.deepEqual(own, [`POST ${SECOND_ISSUER}/introspect`, `GET ${SECOND_ISSUER}/userinfo`]);
  provider.answers.set(`${SECOND_ISSUER}/introspect`, () => Response.json({ active: false }));
  await refused(ask(await second()), "token_inactive");
});

test("the API's metadata names the listed organisations, and none with `any`", async () => {
  const described = async (organisations: AcceptedOrganisations) => {
    const { filter } = await api(organisations, {}, { resourceMetadata: true });
    const result = await filter.authenticate(new Request(`${AUDIENCE}/.well-known/oauth-protected-resource`));
    assert.equal(result.kind, "answer");
    return ((await result.response.json()) as Record<string, unknown>)["authorization_servers"];
  };
  assert.deepEqual(await described([FIRST, SECOND]), [ISSUER, SECOND_ISSUER]);
  assert.equal(await described("any"), undefined);
});

describe("the setting", () => {
  const base = {
    filterType: "OAuthUserBearer",
    federationServer: SERVER,
    clientId: CLIENT_ID,
    audience: AUDIENCE,
  } as const;
  const reasonsOf = (more: object): string => {
    try {
      checkConfiguration({ ...base, ...more });
    } catch (error) {
      if (error instanceof SignetError) return error.reasons.join(" ");
    }
    return "";
  };
  test("contradicts what names one organisation, and filters without tokens", () => {
    assert.match(reasonsOf({ organisations: "any", issuer: ISSUER }), /organisations and issuer exclude/);
    assert.match(
      reasonsOf({ organisations: "any", organisationId: FIRST }),
      /organisations and organisationId exclude/,
    );
    assert.match(
      reasonsOf({ organisations: "any", sovereignSigningPoolId: FIRST, sovereignAllowUnpinned: true }),
      /organisations and sovereign/,
    );
    assert.match(
      reasonsOf({ filterType: "SystemAccountExternal", organisations: "any" }),
      /only for the OAuth/,
    );
    assert.match(reasonsOf({ federationServer: undefined, organisations: "any" }), /needs federationServer/);
  });
  test("is `any`, ids or a function", () => {
    assert.match(reasonsOf({ organisations: [] }), /is empty/);
    for (const wrong of ["all", SECOND, 1, {}, [1]])
      assert.match(reasonsOf({ organisations: wrong }), /organisations must be/);
    assert.match(reasonsOf({ organisations: ["acme"] }), /must be `any`, a list of PublicIds/);
    assert.match(reasonsOf({ organisations: Array.from({ length: 10_001 }, () => FIRST) }), /use a function/);
    assert.equal(reasonsOf({ organisations: [FIRST] }), "");
  });
  test("is read from the environment", () => {
    const read = (value: string) =>
      configurationFromEnvironment({ SIGNET_ORGANISATIONS: value }).organisations;
    assert.equal(read("any"), "any");
    assert.deepEqual(read(`${FIRST}, ${SECOND}`), [FIRST, SECOND]);
  });
});
