/** Bodies and addresses that a hostile caller writes: each is refused by name, or taken; none is a fault of ours. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

/** As JSON text: what has no form in JavaScript stays as it is. */
const odd = [
  '"\\u0000"',
  '"a\\u0000b@example.com"',
  '"\\ud800"',
  '"\\udc00x\\ud800"',
  "1e400",
  "-1",
  "1.5",
  "9007199254740993",
  "[]",
  '["\\u0000"]',
  '["\\ud800"]',
  "{}",
  '{"__proto__":{"x":1}}',
  "true",
  "null",
  '""',
  '"99999-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59-23:59"',
  '"urn:uuid:01998d6e-3c1a-7b4f-9a58-2f6d1c0e7b91"',
  '["__proto__","constructor"]',
];

/** What a database alone could trip over: PostgreSQL, the stricter one, is given everything. */
const oddText = odd.filter((value) => value.includes("\\u"));
const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";

describe("odd input", () => {
  forEachDatabase(({ name: database, fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    let administrator: TestAccount;
    before(async () => {
      running = await startTestService({
        databaseUrl: await fresh(),
        clock,
        passwords: quickPasswords,
        env: { ...MAIL_ENV },
      });
      org = await makeOrganisation(running.service);
      administrator = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(() => running.close());

    const bodies = (): Record<string, Record<string, unknown>> => {
      const clientId = org.batch.application.id;
      return {
        "POST /legacy/api/users/get": { email: org.user.email, ApplicationId: org.web.application.id },
        "POST /legacy/api/Authentication/User/Login": {
          Email: org.user.email,
          Password: "plum tractor ninety",
          TwoFactorCode: "1",
          ApplicationId: org.web.application.id,
        },
        "POST /legacy/api/Authentication/User/Register": {
          Email: "new@example.com",
          Password: "plum tractor ninety",
          Firstname: "A",
          Surname: "B",
          Phone: "123",
          ApplicationId: org.web.application.id,
        },
        "POST /legacy/api/Authentication/User/Roaming/Register": {
          Email: "new@example.com",
          PermId: org.user.id,
          HomeOrganisationId: org.user.id,
          ApplicationId: org.web.application.id,
        },
        "POST /legacy/api/Authentication/User/Logout": { Key: "sgn_sk_x", ApplicationId: "x" },
        "POST /legacy/api/oauth/scopes": {
          name: "payroll",
          displayName: "P",
          description: "d",
          claims: [{ name: "cost", source: "static", value: 1 }],
          sensitive: true,
        },
        "POST /legacy/api/oauth/clients": {
          name: "Shop",
          clientType: "confidential",
          description: "d",
          logoUri: "https://a.example/",
          homepageUri: "https://a.example/",
          redirectUris: ["https://a.example/"],
          postLogoutRedirectUris: ["https://a.example/"],
          returnUrls: ["https://a.example/"],
          grantTypes: ["authorization_code"],
          allowedScopes: ["openid"],
          tokenEndpointAuthMethod: "client_secret_basic",
          jwks: { keys: [] },
          jwksUri: "https://a.example/",
          audience: "a",
          backchannelLogoutUri: "https://a.example/",
          contacts: ["x"],
          requiredAcr: "x",
          allowedResources: ["https://a.example/"],
          AccessTokenLifetimeSeconds: 60,
          RefreshTokenLifetimeSeconds: 300,
        },
        [`POST /legacy/api/oauth/clients/${clientId}/rotate-secret`]: {
          label: "x",
          expiresAt: "2100-01-01T00:00:00Z",
          expireOthersInSeconds: 10,
        },
        [`POST /legacy/api/oauth/clients/${clientId}/revoke-old-secret`]: { secretId: clientId },
        "POST /legacy/api/oauth/consents/user": {
          clientId: org.web.application.id,
          userId: org.user.id,
          scopes: ["openid"],
        },
        "POST /legacy/api/oauth/consents/organisation": {
          clientId: org.web.application.id,
          scopes: ["openid"],
        },
        "POST /legacy/api/oauth/preauthorizations": {
          clientId: org.web.application.id,
          scopes: ["openid"],
        },
      };
    };

    test("responds to every odd value in every member with a typed error", async () => {
      const faults: string[] = [];
      for (const [operation, body] of Object.entries(bodies())) {
        const [method = "", path = ""] = operation.split(" ");
        for (const name of [...Object.keys(body), "__proto__", "constructor"]) {
          for (const value of database === "postgres" || isWhole ? odd : oddText) {
            const rest = Object.entries(body).filter(([other]) => other !== name);
            const members = [...rest.map(([other, is]) => `${JSON.stringify(other)}:${JSON.stringify(is)}`)];
            const text = `{${[...members, `${JSON.stringify(name)}:${value}`].join(",")}}`;
            const { status } = await callApi(`${running.baseUrl}${path}`, administrator, {
              method,
              body: text,
              strictAt: clock(),
            });
            const isUnknown = name === "__proto__" || name === "constructor";
            if (status >= 500 || (isUnknown && status < 400))
              faults.push(`${operation} ${name}=${value}: ${status}`);
          }
        }
      }
      assert.deepEqual(faults, []);
      assert.deepEqual(running.errors, []);
    });
  });
});
