/** Workloads as clients, by grant and by client assertion: real claim shapes, what is refused, replay on every node, keys. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { seconds } from "../../../../core/clock.ts";
import { type SentTrust, trustSettings } from "../../../../core/trusts/trust-schemas.ts";
import { changeTrust, createTrust } from "../../../../core/trusts/trusts.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  startWorkloadIssuer,
  type WorkloadIssuer,
  workloadClaims,
} from "../../../../testing/fakes/workload-issuer.ts";
import { callApiV1 } from "../../../../testing/fixtures/api-client.ts";
import { type Answer, credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer" as const;
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const { githubActions, gitlab, kubernetes, spiffe } = workloadClaims;
const ENV = { SIGNET_OUTBOUND_ALLOW: "localhost" };

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let issuer: WorkloadIssuer;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, env: ENV });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl, env: ENV });
    org = await makeOrganisation(running.service);
    issuer = await startWorkloadIssuer(clock);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
    await issuer.close();
  });

  const client = (settings: Partial<ApplicationSettings> = {}, at = org) =>
    makeClient(running.service, at.organisation, {
      ...{
        grantTypes: [GRANT],
        allowedScopes: ["jobs:run", "jobs:read"],
        allowedResources: ["https://a.example"],
      },
      ...settings,
    });
  const trust = (of: TestClient, sent: SentTrust = {}, at = org) => {
    const content = {
      issuer: issuer.issuer,
      clientId: of.application.id,
      subjectPattern: githubActions.sub,
      ...sent,
    };
    const deps = { ...running.service, baseUrl: running.baseUrl };
    const act = { orgId: at.organisation.id, actor: "test" };
    return createTrust(deps, { ...act, settings: trustSettings("workload", content) });
  };
  const trusted = async (sent: SentTrust = {}, settings: Partial<ApplicationSettings> = {}) => {
    const of = await client(settings);
    await trust(of, sent);
    return of;
  };
  const token = (more: object = {}) => issuer.sign({ ...githubActions, aud: org.issuer, ...more });
  const present = (
    of: TestClient,
    assertion: string,
    more = {},
    url = `${org.issuer}/token`,
  ): Promise<Answer> =>
    postForm(url, { grant_type: GRANT, client_id: of.application.id, assertion, ...more });
  const asClient = (of: TestClient, jwt: string, url = `${org.issuer}/token`, more = {}): Promise<Answer> =>
    postForm(url, {
      ...{ grant_type: "client_credentials", client_id: of.application.id },
      ...{ client_assertion_type: ASSERTION_TYPE, client_assertion: jwt, ...more },
    });
  const accepted = ({ status, body }: Answer, about = "") => {
    assert.equal(status, 200, `${about} ${JSON.stringify(body)}`);
    return payloadOf(body["access_token"]);
  };
  const refused = ({ status, body }: Answer, error = "invalid_grant", about = "") =>
    assert.deepEqual([status, body["error"]], [error === "invalid_client" ? 401 : 400, error], about);
  const KEYLESS = {
    tokenEndpointAuthMethod: "private_key_jwt",
    grantTypes: ["client_credentials", GRANT],
  } as const;

  test("a workload is the client, and the token names it", async () => {
    const of = await trusted();
    const answer = await present(of, await token(), {
      scope: "jobs:run other",
      resource: "https://a.example",
    });
    const claims = accepted(answer);
    assert.deepEqual(
      [claims["sub"], claims["client_id"], claims["scope"], claims["aud"], claims["workload"], claims["act"]],
      [
        of.application.id,
        of.application.id,
        "jobs:run",
        "https://a.example",
        { iss: issuer.issuer, sub: githubActions.sub },
        undefined,
      ],
    );
    assert.deepEqual(
      [answer.body["refresh_token"], answer.body["id_token"], answer.body["token_type"]],
      [undefined, undefined, "Bearer"],
    );
    const secret = await client();
    const described = await postForm(`${org.issuer}/introspect`, {
      ...{ token: String(answer.body["access_token"]), ...credentials(secret) },
    });
    assert.equal(described.body["active"], false, "another client");
  });

  test("the claim shapes of GitHub Actions, GitLab, Kubernetes and SPIFFE", async () => {
    const rows: Array<[claims: { readonly sub: string }, sent: SentTrust]> = [
      [
        githubActions,
        {
          subjectPattern: "repo:acme/site:ref:refs/heads/*",
          claims: { repository_id: "5678", ref_protected: "true" },
        },
      ],
      [
        gitlab,
        {
          subjectPattern: "project_path:acme/site:ref_type:branch:ref:*",
          claims: { ref_protected: "true", runner_id: 1 },
        },
      ],
      [
        { ...kubernetes, aud: [org.issuer], jti: undefined } as never,
        {
          ...{ subjectPattern: "system:serviceaccount:prod:api", singleUse: false },
          claims: { "/kubernetes.io/namespace": "prod", "/kubernetes.io/serviceaccount/name": "api" },
        },
      ],
      [
        { ...spiffe, jti: undefined } as never,
        { subjectPattern: "spiffe://acme.example/ns/prod/sa/*", singleUse: false },
      ],
    ];
    for (const [claims, sent] of rows) {
      const of = await trusted({ ...sent, issuer: "https://issuer.example", jwksUri: issuer.jwksUri });
      const jwt = await token({ iss: "https://issuer.example", ...claims });
      accepted(await present(of, jwt), claims.sub);
      if (sent.singleUse === false) accepted(await present(of, jwt), `${claims.sub} again`);
    }
  });

  test("whatever is not as the trust says is invalid_grant", async () => {
    const of = await trusted({
      claims: { ref_protected: "true", environment: "production" },
      maxLifetimeSeconds: 600,
    });
    const now = seconds(clock());
    const rows: object[] = [
      ...[
        { sub: "repo:acme/site:ref:refs/heads/dev" },
        { sub: "repo:acme/other:ref:refs/heads/main" },
        { sub: undefined },
      ],
      ...[
        { aud: "https://other.example" },
        { aud: undefined },
        { aud: [org.issuer, "https://other.example"] },
        { aud: [] },
      ],
      ...[
        { aud: `${org.issuer}/token` },
        { iss: "https://other.example" },
        { iss: org.issuer },
        { ref_protected: "false" },
      ],
      ...[
        { ref_protected: true },
        { environment: undefined },
        { exp: now },
        { exp: undefined },
        { iat: now + 31 },
      ],
      ...[
        { exp: now + 601 },
        { iat: now - 400, exp: now + 201 },
        { nbf: now + 31 },
        { jti: undefined },
        { jti: "" },
        { jti: 7 },
      ],
    ];
    for (const change of rows)
      refused(await present(of, await token(change)), "invalid_grant", JSON.stringify(change));
    const good = await token();
    for (const bad of ["x", `${good}x`, good.replace(/\.[^.]*$/, "."), "a.b.c", "x".repeat(20_000)])
      refused(await present(of, bad), "invalid_grant", bad.slice(0, 20));
    for (const typ of ["at+jwt", "dpop+jwt", "logout+jwt", "oauth-authz-req+jwt"])
      refused(
        await present(of, await issuer.sign({ ...githubActions, aud: org.issuer }, { typ })),
        "invalid_grant",
        typ,
      );
    const stranger = await startWorkloadIssuer(clock);
    refused(
      await present(of, await stranger.sign({ ...githubActions, aud: org.issuer, iss: issuer.issuer })),
    );
    await stranger.close();
    refused(await present(await client(), await token()), "invalid_grant", "a client without a trust");
    const other = await makeOrganisation(running.service, "Other");
    const foreign = await client({}, other);
    refused(
      await present(foreign, await token({ aud: other.issuer }), {}, `${other.issuer}/token`),
      "invalid_grant",
      "of another organisation",
    );
    refused(
      await postForm(`${org.issuer}/token`, { grant_type: GRANT, client_id: of.application.id }),
      "invalid_request",
    );
    accepted(await present(of, good));
    const not = await trusted({}, { grantTypes: ["client_credentials"] });
    refused(await present(not, await token()), "unauthorized_client");
  });

  test("a jti is good once, as grant or as client assertion, on whichever node", async () => {
    const of = await trusted({}, KEYLESS);
    const jwt = await token();
    const all = await Promise.all(
      [running, second, running, second, running].map(({ baseUrl }, index) => {
        const url = `${org.issuer.replace(running.baseUrl, baseUrl)}/token`;
        return index % 2 === 0 ? present(of, jwt, {}, url) : asClient(of, jwt, url);
      }),
    );
    assert.equal(
      all.filter(({ status }) => status === 200).length,
      1,
      JSON.stringify(all.map(({ body }) => body)),
    );
    refused(await present(of, jwt));
    refused(await asClient(of, jwt), "invalid_client");
    const jti = randomUUID();
    accepted(await asClient(of, await token({ jti })));
    refused(await present(of, await token({ jti })), "invalid_grant", "another token with its jti");
  });

  test("what is refused uses nothing up", async () => {
    const of = await trusted();
    const jwt = await token();
    refused(await present(of, jwt, { scope: "other" }), "invalid_scope");
    refused(await present(of, jwt, { resource: "https://b.example" }), "invalid_target");
    accepted(await present(of, jwt));
  });

  test("client_assertion of a workload authenticates private_key_jwt clients without keys, and no others", async () => {
    const of = await trusted({}, KEYLESS);
    const claims = accepted(await asClient(of, await token()));
    assert.deepEqual([claims["sub"], claims["workload"]], [of.application.id, undefined]);
    const introspected = await asClient(of, await token(), `${org.issuer}/introspect`, { token: "x" });
    assert.deepEqual([introspected.status, introspected.body], [200, { active: false }]);
    for (const change of [
      { sub: "repo:acme/site:ref:x" },
      { aud: "x" },
      { exp: 1 },
      { iss: of.application.id },
    ])
      refused(await asClient(of, await token(change)), "invalid_client", JSON.stringify(change));
    const withSecret = await trusted({}, { grantTypes: ["client_credentials"] });
    refused(await asClient(withSecret, await token()), "invalid_request");
    const withKeys = await trusted({}, { ...KEYLESS, jwks: { keys: [issuer.jwks.keys[0] ?? {}] } });
    refused(await asClient(withKeys, await token()), "invalid_request");
    // What a workload is trusted for is not known of a client that has not said who it is.
    const nameless = {
      grant_type: "client_credentials",
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await token(),
    };
    refused(await postForm(`${org.issuer}/token`, nameless), "invalid_client");
  });

  test("a client with FAPI takes a workload's assertion once, for this issuer as a text, and never by RS256", async () => {
    const strong = await startWorkloadIssuer(clock, "PS256");
    const settings: Partial<ApplicationSettings> = {
      tokenEndpointAuthMethod: "private_key_jwt",
      grantTypes: ["client_credentials"],
      securityProfile: "fapi2",
      dpopBoundAccessTokens: true,
    };
    const of = await trusted(
      { issuer: strong.issuer, singleUse: false, audience: "https://ci.example" },
      settings,
    );
    const introspect = async (jwt: string) => asClient(of, jwt, `${org.issuer}/introspect`, { token: "x" });
    const jwt = (more = {}) => strong.sign({ ...githubActions, aud: org.issuer, ...more });
    const once = await jwt();
    assert.equal((await introspect(once)).status, 200);
    refused(await introspect(once), "invalid_client", "again");
    for (const more of [{ aud: [org.issuer] }, { aud: "https://ci.example" }, { jti: undefined }])
      refused(await introspect(await jwt(more)), "invalid_client", JSON.stringify(more));
    await trust(of);
    refused(await introspect(await token()), "invalid_client", "RS256");
    await strong.close();
  });

  test("a trust that is disabled, changed or deleted holds at once", async () => {
    const of = await client();
    const { id, orgId } = await trust(of);
    accepted(await present(of, await token()));
    const deps = { ...running.service, baseUrl: running.baseUrl };
    const change = (to: object) => changeTrust(deps, { orgId, id, actor: "test", change: () => to });
    await change({ enabled: false });
    refused(await present(of, await token()));
    await change({ enabled: true, audience: "signet" });
    refused(await present(of, await token()));
    accepted(await present(of, await token({ aud: "signet" })));
  });

  test("keys come by discovery, once, and again when they are new; nothing is fetched for a token that no trust is for", async () => {
    const own = await startWorkloadIssuer(clock);
    const of = await trusted({ issuer: own.issuer });
    const jwt = (more = {}) => own.sign({ ...githubActions, aud: org.issuer, ...more });
    refused(await present(of, await jwt({ sub: "repo:x/y:z" })));
    refused(await present(of, await jwt({ aud: "x" })));
    assert.deepEqual(own.asked, []);
    for (let count = 0; count < 3; count++) accepted(await present(of, await jwt()));
    assert.deepEqual(own.asked, ["/.well-known/openid-configuration", "/keys"]);
    await own.rotate();
    refused(await present(of, await jwt()));
    assert.equal(own.asked.length, 2, "at most one fetch a minute");
    clock.advance(61_000);
    accepted(await present(of, await jwt()));
    assert.equal(own.asked.length, 3);
    await own.close();
    const lying = await startWorkloadIssuer(clock);
    for (const document of [
      { issuer: "https://other.example", jwks_uri: lying.jwksUri },
      { issuer: lying.issuer },
      [],
    ]) {
      lying.document = document as never;
      const victim = await trusted({ issuer: lying.issuer });
      refused(await present(victim, await lying.sign({ ...githubActions, aud: org.issuer })));
      clock.advance(61_000);
    }
    assert.ok(!lying.asked.includes("/keys"));
    await lying.close();
  });

  test("an address that the guard refuses is never asked, and the answer is the same", async () => {
    const of = await trusted({ issuer: "https://inside.example", jwksUri: "https://10.0.0.1/keys" });
    refused(await present(of, await token({ iss: "https://inside.example" })));
  });

  test("a workload's token opens the API as its client's does", async () => {
    const of = await trusted({}, { allowedScopes: ["signet:applications:read"] });
    const answer = await present(of, await token());
    const url = `${running.baseUrl}/api/v1/organisations/${org.organisation.id}/trusts`;
    const { status } = await callApiV1("GET", url, { accessToken: String(answer.body["access_token"]) });
    assert.equal(status, 200);
  });
});
