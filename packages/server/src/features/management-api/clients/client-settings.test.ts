/** The settings of a client: all of an application's are there, and only defined scopes can be set. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { defineScopes } from "../../../testing/fixtures/scopes.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("management API: settings of clients", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let admin: TestAccount;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh() });
      org = await makeOrganisation(running.service);
      admin = await makeSystemAccount(running.service, org, { administrator: true });
      await defineScopes(running.service, org.organisation.id, "payroll");
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const call = (path: string, asked: ApiRequest = {}) =>
      callApi(`${running.baseUrl}/legacy/api/oauth/clients${path}`, admin, asked);
    const put = (id: string, body: unknown) => call(`/${id}`, { method: "PUT", body });
    const create = async (more: object = {}) => {
      const { status, body, text } = await call("", {
        body: { name: "Shop", clientType: "confidential", ...more },
      });
      assert.equal(status, 201, text);
      return { id: String(body["clientId"]), body };
    };
    const paths = (body: Record<string, unknown>) =>
      (body["errors"] as { path: string }[]).map(({ path }) => path);

    /** api-v1.md: of API v1, the command line and the configuration file alone. */
    const elsewhere = ["groupsClaim", "groupsClaimValue"];

    test("every setting of an application but the consent's other half has a member", async () => {
      const { id } = await create();
      const record = (await call(`/${id}`)).body;
      const application = await findApplication(running.service.database.query, org.organisation.id, id);
      const members = Object.keys(record).map((member) => member[0]?.toLowerCase() + member.slice(1));
      const settings = Object.keys(application?.settings ?? {});
      assert.deepEqual(
        settings.filter((setting) => !members.includes(setting)),
        elsewhere,
      );
      const wrong = { ...record, refreshTokenGraceSeconds: 61, refreshTokenAbsoluteLifetimeSeconds: 1 };
      const answer = await put(id, wrong);
      assert.equal(answer.status, 422);
      assert.deepEqual(paths(answer.body).sort(), [
        "/refreshTokenAbsoluteLifetimeSeconds",
        "/refreshTokenGraceSeconds",
      ]);
    });

    test("an undefined scope is 422 with its name, at POST, PUT and for a pre-authorization", async () => {
      const { id, body } = await create({ allowedScopes: ["openid", "payroll"] });
      const wanted = { allowedScopes: ["openid", "payrol"] };
      const answers = [
        await call("", { body: { name: "Shop", clientType: "confidential", ...wanted } }),
        await put(id, { ...body, ...wanted }),
      ];
      for (const answer of answers) {
        assert.equal(answer.status, 422, answer.text);
        assert.deepEqual(paths(answer.body), ["/allowedScopes/1"]);
        assert.match(answer.text, /payrol is not a scope/);
      }
      const ahead = { clientId: id, scopes: ["openid", "payrol"] };
      const url = `${running.baseUrl}/legacy/api/oauth/preauthorizations`;
      const refused = await callApi(url, admin, { body: ahead });
      assert.equal(refused.status, 422, refused.text);
      assert.match(refused.text, /payrol/);
      assert.equal((await callApi(url, admin, { body: { ...ahead, scopes: ["payroll"] } })).status, 201);
    });
  });
});
