import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { createApplication, setApplicationStatus } from "../../../core/applications/applications.ts";
import { seconds } from "../../../core/clock.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makePool } from "../../../testing/fixtures/agent.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ALGS = ["ES256", "RS256", "PS256", "EdDSA"] as const;
type Alg = (typeof ALGS)[number];

/** A key of the client: what it signs with, and what it registers. */
async function clientKey(alg: Alg, kid = `${alg}-key`) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}
type ClientKey = Awaited<ReturnType<typeof clientKey>>;

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  let es256: ClientKey;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, env: { SIGNET_OUTBOUND_ALLOW: "localhost" } });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    es256 = await clientKey("ES256");
    client = await jwtClient({ jwks: { keys: [es256.jwk] } });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
  });

  const jwtClient = (settings: Partial<ApplicationSettings>, at = org) =>
    makeClient(running.service, at.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      tokenEndpointAuthMethod: "private_key_jwt",
      ...settings,
    });
  const claims = (of = client): JWTPayload => ({
    iss: of.application.id,
    sub: of.application.id,
    aud: org.issuer,
    jti: randomUUID(),
    exp: seconds(clock()) + 60,
    iat: seconds(clock()),
  });
  const assertion = (payload: object, key = es256, header: Partial<JWTHeaderParameters> = {}) =>
    new SignJWT({ ...payload })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
      .sign(key.privateKey);
  const present = (
    jwt: string,
    more: Record<string, string> = {},
    url = `${org.issuer}/token`,
  ): Promise<Answer> =>
    postForm(url, {
      grant_type: "client_credentials",
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: jwt,
      ...more,
    });
  const refused = ({ status, body, headers }: Answer, about = "", error = "invalid_client") => {
    assert.deepEqual([status, body["error"]], [error === "invalid_client" ? 401 : 400, error], about);
    assert.equal(headers.get("cache-control"), "no-store");
  };
  const accepted = ({ status, body }: Answer, about = "") =>
    assert.equal(status, 200, `${about} ${JSON.stringify(body)}`);

  test("authenticates a client by an assertion of each algorithm", async () => {
    for (const alg of ALGS) {
      const key = await clientKey(alg);
      const own = await jwtClient({ jwks: { keys: [key.jwk] } });
      accepted(await present(await assertion(claims(own), key)), alg);
    }
  });

  test("accepts the pool's issuer as audience from clients of that pool only", async () => {
    const [pool, another] = [await makePool(running.service, org), await makePool(running.service, org)];
    const own = await jwtClient({ jwks: { keys: [es256.jwk] }, signingPoolId: pool.id });
    // Where no agent has to sign anything.
    const attempt = async (of: TestClient, aud: string) =>
      present(await assertion({ ...claims(of), aud }), { token: "x" }, `${org.issuer}/revoke`);
    const addressOf = (one: typeof pool) => signingPoolUrl(running.baseUrl, one);
    accepted(await attempt(own, addressOf(pool)));
    accepted(await attempt(own, org.issuer));
    refused(await attempt(own, addressOf(another)));
    refused(await attempt(client, addressOf(pool)));
  });

  test("accepts the issuer and the token endpoint as audience, and no list with another member", async () => {
    const token = `${org.issuer}/token`;
    for (const aud of [org.issuer, token, [org.issuer], [token, org.issuer]])
      accepted(await present(await assertion({ ...claims(), aud })), String(aud));
    const foreign = [
      other.issuer,
      running.baseUrl,
      `${org.issuer}/`,
      [org.issuer, "https://as.example"],
      [],
      "",
      [[org.issuer]],
      undefined,
    ];
    for (const aud of foreign)
      refused(await present(await assertion({ ...claims(), aud })), JSON.stringify(aud));
  });

  test("requires iss, sub, jti and exp, and the client's own iss and sub", async () => {
    const wrong = [
      { iss: org.web.application.id },
      { iss: undefined },
      { jti: undefined },
      { jti: "" },
      { jti: 7 },
      { jti: "x".repeat(256) },
      { exp: undefined },
      { exp: "soon" },
    ];
    for (const change of wrong)
      refused(await present(await assertion({ ...claims(), ...change })), JSON.stringify(change));
    refused(await present(await assertion({ ...claims(), sub: undefined })), "no sub");
    refused(await present(await assertion({ ...claims(), sub: org.web.application.id })), "another's sub");
  });

  test("rejects assertions that expired, start later, were issued in the future or live longer than an hour", async () => {
    const now = seconds(clock());
    const leeway = 30;
    accepted(await present(await assertion({ ...claims(), exp: now + 3_600 })), "an hour");
    accepted(
      await present(await assertion({ ...claims(), nbf: now + leeway, iat: now + leeway })),
      "clocks apart",
    );
    const wrong = [
      { exp: now + 3_600 + leeway + 1 },
      { exp: now },
      { nbf: now + leeway + 1 },
      { iat: now + leeway + 1 },
      { iat: "now" },
      { iat: now + 20, exp: now + 10 },
    ];
    for (const change of wrong)
      refused(await present(await assertion({ ...claims(), ...change })), JSON.stringify(change));
  });

  test("accepts an assertion once across all nodes", async () => {
    const jwt = await assertion(claims());
    accepted(await present(jwt));
    refused(await present(jwt), "again");
    refused(
      await present(jwt, {}, `${second.baseUrl}/oauth/${org.organisation.id}/token`),
      "on another node",
    );
    clock.advance(80_000);
    refused(await present(jwt), "within the leeway");
  });

  test("accepts one of twenty concurrent uses of an assertion", async () => {
    const jwt = await assertion(claims());
    const nodes = [org.issuer, `${second.baseUrl}/oauth/${org.organisation.id}`];
    const all = Array.from({ length: 20 }, (_, at) => present(jwt, {}, `${nodes[at % 2]}/token`));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 401).length, 19);
  });

  test("keeps jti values apart by client, and consumes none for a rejected assertion", async () => {
    const own = await jwtClient({ jwks: { keys: [es256.jwk] } });
    const jti = randomUUID();
    refused(await present(await assertion({ ...claims(), jti, aud: other.issuer })));
    accepted(await present(await assertion({ ...claims(), jti })));
    accepted(await present(await assertion({ ...claims(own), jti })));
  });

  test("responds with invalid_client to an assertion that names nobody or an unknown client", async () => {
    const odd = ["x", "..", "é", "A".repeat(9_000), "e30.e30.AA", "e30.eyJzdWIiOjd9.AA", "e30.W10.AA"];
    for (const more of [{}, { client_id: client.application.id }])
      for (const one of odd) refused(await present(one, more), one.slice(0, 40));
    for (const sub of [randomUUID(), "x"]) refused(await present(await assertion({ ...claims(), sub })), sub);
  });

  test("rejects unsigned, symmetric and foreign signatures, whatever the header says", async () => {
    const thief = await clientKey("ES256");
    const rsa = await clientKey("RS256");
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${encode({ alg: "none" })}.${encode(claims())}.`;
    refused(await present(unsigned), "none without a signature");
    refused(await present(`${unsigned}AA`), "none");
    // The secret of the confusion is the public key, or the client's own secret.
    for (const secret of [JSON.stringify(es256.jwk), client.secret]) {
      const hs = new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: es256.kid });
      refused(await present(await hs.sign(Buffer.from(secret.padEnd(32)))), "HS256");
    }
    refused(await present(await assertion(claims(), thief)), "another key under the right kid");
    refused(await present(await assertion(claims(), rsa, { kid: es256.kid })), "another algorithm");
    refused(await present(await assertion(claims(), thief, { jwk: thief.jwk })), "a key in the header");
    refused(await present(await assertion(claims(), es256, { kid: "unknown" })), "unknown kid");
    for (const offered of [{ jku: "https://a.example/" }, { x5u: "https://a.example/" }, { jwk: es256.jwk }])
      refused(await present(await assertion(claims(), es256, offered)), JSON.stringify(offered));
    const critical = new SignJWT(claims()).setProtectedHeader({
      alg: "ES256",
      kid: es256.kid,
      crit: ["x"],
      x: 1,
    });
    refused(await present(await critical.sign(es256.privateKey, { crit: { x: true } })), "crit");
    const [head = "", , signature = ""] = (await assertion(claims())).split(".");
    refused(await present(`${head}.${encode(claims())}.${signature}`), "another payload");
  });

  test("accepts the four supported algorithms only, whatever else the key can do", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const ed = generateKeyPairSync("ed25519");
    const keys = [publicKey, ed.publicKey].map((key, at) => ({
      ...key.export({ format: "jwk" }),
      kid: `${at}`,
    }));
    const own = await jwtClient({ jwks: { keys } });
    const signed = (alg: string) => {
      const [key, kid] = alg.startsWith("Ed") ? [ed.privateKey, "1"] : [privateKey, "0"];
      return new SignJWT(claims(own)).setProtectedHeader({ alg, kid }).sign(key);
    };
    for (const alg of ["RS256", "PS256", "EdDSA"]) accepted(await present(await signed(alg)), alg);
    for (const alg of ["RS384", "RS512", "PS384", "PS512", "Ed25519"])
      refused(await present(await signed(alg)), alg);
  });

  test("rejects a request object, a DPoP proof and other JWTs of the client as assertions", async () => {
    for (const typ of ["oauth-authz-req+jwt", "dpop+jwt", "at+jwt", "logout+jwt"])
      refused(await present(await assertion(claims(), es256, { typ })), typ);
    for (const typ of ["JWT", "client-authentication+jwt", "application/client-authentication+jwt"])
      accepted(await present(await assertion(claims(), es256, { typ })), typ);
  });

  test("responds to malformed claims under a valid signature with invalid_client, never 500", async () => {
    const now = seconds(clock());
    accepted(await present(await assertion({ ...claims(), exp: now + 60.0005 })), "a fraction (RFC 7519 §2)");
    for (const typ of [7, null, ["JWT"], {}])
      refused(await present(await assertion(claims(), es256, { typ: typ as never })), JSON.stringify(typ));
    for (const change of [{ exp: 1e308 }, { exp: -1e308 }, { nbf: "now" }, { iat: null }, { iat: 1e308 }])
      refused(await present(await assertion({ ...claims(), ...change })), JSON.stringify(change));
    for (const kid of [7, null, "__proto__", ""])
      refused(await present(await assertion(claims(), es256, { kid: kid as never })), JSON.stringify(kid));
  });

  test("selects the key by kid, or the only key of the algorithm when kid is missing", async () => {
    const [one, two, rsa] = [
      await clientKey("ES256", "a"),
      await clientKey("ES256", "b"),
      await clientKey("RS256"),
    ];
    const own = await jwtClient({ jwks: { keys: [one.jwk, two.jwk, rsa.jwk] } });
    for (const key of [one, two, rsa]) accepted(await present(await assertion(claims(own), key)), key.kid);
    refused(await present(await assertion(claims(own), one, { kid: "b" })), "the other's kid");
    const nameless = (key: ClientKey) =>
      new SignJWT(claims(own)).setProtectedHeader({ alg: key.alg }).sign(key.privateKey);
    accepted(await present(await nameless(rsa)), "the only RSA key");
    refused(await present(await nameless(one)), "which of two?");
  });

  test("rejects a secret from a private_key_jwt client, and an assertion from a client with a secret", async () => {
    refused(
      await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(client) }),
    );
    refused(
      await postForm(`${org.issuer}/token`, {
        grant_type: "client_credentials",
        client_id: client.application.id,
      }),
    );
    const keyed = await jwtClient({
      jwks: { keys: [es256.jwk] },
      tokenEndpointAuthMethod: "client_secret_post",
    });
    refused(await present(await assertion(claims(keyed))), "registered for a secret");
    accepted(
      await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(keyed) }),
    );
  });

  test("responds with invalid_request to two methods, incomplete assertions and other assertion types", async () => {
    const jwt = await assertion(claims());
    const { application, secret } = client;
    const invalid = async (form: Record<string, string>, headers: Record<string, string> = {}, about = "") =>
      refused(
        await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...form }, headers),
        about,
        "invalid_request",
      );
    const assertionForm = { client_assertion_type: ASSERTION_TYPE, client_assertion: jwt };
    const authorization = `Basic ${Buffer.from(`${application.id}:${secret}`).toString("base64")}`;
    await invalid({ ...assertionForm, client_secret: secret }, {}, "secret too");
    await invalid(assertionForm, { authorization }, "header too");
    await invalid({ client_assertion: jwt }, {}, "no type");
    await invalid({ client_assertion_type: ASSERTION_TYPE }, {}, "no assertion");
    const saml = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer";
    await invalid({ ...assertionForm, client_assertion_type: saml }, {}, "SAML");
    await invalid({ ...assertionForm, client_id: org.web.application.id }, {}, "another client_id");
    accepted(await present(jwt, { client_id: application.id }), "the same client_id");
  });

  test("rejects assertions of foreign and disabled clients", async () => {
    const foreign = await jwtClient({ jwks: { keys: [es256.jwk] } }, other);
    refused(await present(await assertion(claims(foreign))), "another organisation's");
    const own = await jwtClient({ jwks: { keys: [es256.jwk] } });
    const { orgId, id } = own.application;
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    refused(await present(await assertion(claims(own))), "disabled");
  });

  test("accepts assertions at revoke and introspect, each once", async () => {
    const { body } = await present(await assertion(claims()));
    const token = String(body["access_token"]);
    const [introspect, revoke] = [`${org.issuer}/introspect`, `${org.issuer}/revoke`];
    const jwt = await assertion(claims());
    const seen = await present(jwt, { token }, introspect);
    assert.deepEqual([seen.status, seen.body["active"]], [200, true]);
    refused(await present(jwt, { token }, introspect), "used before, for the same");
    refused(await present(jwt, { token }, revoke), "used before, for another");
    accepted(await present(await assertion(claims()), { token }, revoke));
    const after = await present(await assertion(claims()), { token }, introspect);
    assert.deepEqual(after.body, { active: false });
  });

  test("fetches jwks_uri through the outbound guard, again for an unknown kid, never from a forbidden address", async () => {
    const keys = [es256.jwk as object];
    const reads: string[] = [];
    const server: Server = createServer((request, response) => {
      reads.push(String(request.headers.host));
      response.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      const own = await jwtClient({ jwksUri: `http://localhost:${port}/jwks` });
      accepted(await present(await assertion(claims(own))));
      const next = await clientKey("PS256", "next");
      keys.push(next.jwk);
      refused(await present(await assertion(claims(own), next)), "within a minute of the last read");
      clock.advance(60_000);
      accepted(await present(await assertion(claims(own), next)));
      assert.equal(reads.length, 2);
      // The same listener by another name, which is not among those allowed.
      const inner = await jwtClient({ jwksUri: `http://127.0.0.1:${port}/jwks` });
      refused(await present(await assertion(claims(inner))), "not allowed");
      assert.equal(reads.length, 2);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("has usable public keys in either jwks or jwks_uri, or none", async () => {
    const make = (settings: Partial<ApplicationSettings>) =>
      createApplication(running.service, {
        orgId: org.organisation.id,
        name: "Keys",
        clientType: "confidential",
        settings: { tokenEndpointAuthMethod: "private_key_jwt", ...settings },
        actor: "test",
      });
    // Its workloads are trusted by records of their own.
    await make({});
    const both = { jwks: { keys: [es256.jwk] }, jwksUri: "https://a.example/jwks" };
    await assert.rejects(make(both), /jwksUri: jwks and jwksUri are mutually exclusive/);
    await assert.rejects(
      make({ jwks: { keys: [{ kty: "oct", k: "AAAA" }] } }),
      /jwks.keys\[0\]: must have public/,
    );
    for (const jwksUri of ["http://a.example/", "https://u:p@a.example/", "https://a.example/#x", "x"])
      await assert.rejects(make({ jwksUri }), /jwksUri: must be an https URL/, jwksUri);
  });
});
