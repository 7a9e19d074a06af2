import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication, setApplicationStatus } from "../core/applications/applications.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { sendRaw } from "../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const ORIGIN = "https://spa.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let spaId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    const spa = await createApplication(running.service, {
      orgId: org.organisation.id,
      name: "Single page",
      clientType: "spa",
      settings: { redirectUris: [`${ORIGIN}/callback`, "http://localhost:5173/callback"] },
      actor: "test",
    });
    spaId = spa.id;
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const OPEN = ["token", "revoke", "userinfo"];
  const preflight = (endpoint: string, origin: string, issuer = org.issuer) =>
    sendRaw(`${issuer}/${endpoint}`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    });
  const allowed = ({ headers }: { headers: Headers }) => headers.get("access-control-allow-origin");
  const UNREGISTERED_ORIGINS = [
    "https://evil.example",
    "http://spa.example",
    "https://spa.example:444",
    "https://spa.example.evil.example",
    "https://sub.spa.example",
    "https://SPA.example",
    `${ORIGIN}/`,
    "http://localhost:5174",
    "null",
    `https://${"a".repeat(400)}.example`,
  ];

  test("allows a client's origin with OAuth's headers and without credentials", async () => {
    for (const endpoint of OPEN) {
      for (const origin of [ORIGIN, "http://localhost:5173"]) {
        const answer = await preflight(endpoint, origin);
        assert.equal(answer.status, 204);
        assert.equal(allowed(answer), origin, endpoint);
        assert.equal(answer.headers.get("access-control-allow-methods"), "GET, POST");
        assert.equal(answer.headers.get("access-control-allow-headers"), "Authorization, Content-Type, DPoP");
        assert.equal(answer.headers.get("access-control-max-age"), "600");
        assert.equal(answer.headers.get("vary"), "Origin");
        assert.equal(answer.headers.get("access-control-allow-credentials"), null);
      }
    }
  });

  test("reveals nothing to other origins, in preflight and response", async () => {
    for (const endpoint of OPEN) {
      for (const origin of UNREGISTERED_ORIGINS) {
        const asked = await preflight(endpoint, origin);
        assert.equal(asked.status, 204);
        for (const name of [
          "access-control-allow-origin",
          "access-control-allow-methods",
          "access-control-allow-headers",
        ])
          assert.equal(asked.headers.get(name), null, `${endpoint} ${origin}`);
        const answer = await sendRaw(`${org.issuer}/${endpoint}`, { method: "POST", headers: { origin } });
        assert.equal(allowed(answer), null, `${endpoint} ${origin}`);
      }
    }
  });

  test("an origin counts in its own organisation only", async () => {
    for (const endpoint of OPEN) {
      assert.equal(allowed(await preflight(endpoint, ORIGIN, other.issuer)), null);
      assert.equal(
        allowed(await preflight(endpoint, "https://app.example", other.issuer)),
        "https://app.example",
      );
    }
    const upper = org.issuer.replace(org.organisation.id, org.organisation.id.toUpperCase());
    assert.equal(allowed(await preflight("token", ORIGIN, upper)), ORIGIN);
    const unknown = org.issuer.replace(org.organisation.id, "0197b0a0-0000-7000-8000-000000000000");
    assert.equal(allowed(await preflight("token", ORIGIN, unknown)), null);
  });

  test("responses are readable too, including errors of every kind", async () => {
    const form = "application/x-www-form-urlencoded";
    const bodies: [string, string][] = [
      [form, ""],
      [form, "grant_type=%zz"],
      ["application/json", "{}"],
      [form, `x=${"a".repeat(70_000)}`],
    ];
    for (const [type, body] of bodies) {
      const headers = { origin: ORIGIN, "content-type": type };
      const answer = await sendRaw(`${org.issuer}/token`, { method: "POST", headers, body });
      assert.ok(answer.status >= 400);
      assert.equal(allowed(answer), ORIGIN);
      assert.equal(answer.headers.get("vary"), "Origin");
    }
    const userinfo = await sendRaw(`${org.issuer}/userinfo`, { headers: { origin: ORIGIN } });
    assert.equal(allowed(userinfo), ORIGIN);
    assert.equal(
      userinfo.headers.get("access-control-expose-headers"),
      "WWW-Authenticate, Retry-After, DPoP-Nonce",
    );
  });

  test("introspection and pages allow no origin", async () => {
    for (const endpoint of ["introspect", "authorize", "login", "consent", "end_session"]) {
      for (const method of ["OPTIONS", "GET", "POST"]) {
        const answer = await sendRaw(`${org.issuer}/${endpoint}`, { method, headers: { origin: ORIGIN } });
        assert.equal(allowed(answer), null, `${method} ${endpoint}`);
      }
    }
  });

  test("a disabled application's origin is not allowed", async () => {
    const application = { orgId: org.organisation.id, id: spaId, actor: "test" };
    await setApplicationStatus(running.service, { ...application, disabled: true });
    assert.equal(allowed(await preflight("token", ORIGIN)), null);
    await setApplicationStatus(running.service, { ...application, disabled: false });
    assert.equal(allowed(await preflight("token", ORIGIN)), ORIGIN);
  });
});
