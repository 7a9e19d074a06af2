// The largest record of each kind that can be kept comes through its form of the console as it is: what the API or a
// command has made, a person can change, however many letters and fields a browser needs to send it back.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findApplication } from "../core/applications/applications.store.ts";
import { createCustomScope } from "../core/scopes/custom-scopes.ts";
import { findCustomScope } from "../core/scopes/scopes.store.ts";
import { MAX_CLAIMS } from "../core/scopes/validation.ts";
import { changeMemberRecord } from "../core/users/member-record.ts";
import { findUser } from "../core/users/users.store.ts";
import { listNamedConsents } from "../features/admin-console/consents/consents.store.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../testing/probes/console-browser.ts";
import { makeClient, startTestService, type TestService } from "../testing/test-service.ts";

const count = <T>(most: number, make: (at: number) => T): T[] =>
  Array.from({ length: most }, (_, at) => make(at));
const actor = "test";

describe("largest records", () => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: "sqlite::memory:", passwords: quickPasswords });
    org = await administeredOrganisation(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });
  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;

  async function savedAsItIs(path: string): Promise<void> {
    const saved = await here.send(path);
    assert.equal(saved.status, 303, saved.body.slice(0, 2_000));
    assert.match(saved.location ?? "", /done=saved/);
  }

  test("edits a member with the maximum of groups and attributes", async () => {
    const { id } = org.user;
    const wide = { text: "å".repeat(15_900) };
    const long = { list: count(7_900, () => 0) };
    const groups = count(200, (at) => `${at} ${"æ".repeat(190)}`);
    for (const attributes of [wide, long]) {
      const record = { attributes, membership: { groups, attributes } };
      assert.ok(await changeMemberRecord(running.service, { orgId: orgId(), id, record, actor }));
      const was = await findUser(db(), orgId(), id);
      await savedAsItIs(`/users/${id}/edit`);
      assert.deepEqual(await findUser(db(), orgId(), id), was);
    }
  });

  test("rejects JSON that is nested too deeply and keeps what was typed", async () => {
    const deep = `{"a":${"[".repeat(4_000)}${"]".repeat(4_000)}}`;
    for (const member of ["attributes", "membershipAttributes"]) {
      const refused = await here.send(`/users/${org.user.id}/edit`, { [member]: deep });
      assert.equal(refused.status, 400);
      assert.match(refused.body, new RegExp(`href="#${member}"`));
      assert.equal(formOfPage(refused).get(member), deep);
    }
    const claim = {
      "claim-0-name": "deep",
      "claim-0-from": "static",
      "claim-0-what": "[".repeat(99) + "]".repeat(99),
    };
    const made = { name: "deep", displayName: "Deep", ...claim };
    assert.equal((await here.send("/scopes/new", made)).status, 400);
    const part = (value: string) => Buffer.from(value).toString("base64url");
    const token = `${part('{"alg":"ES256"}')}.${part(deep)}.${part("x")}`;
    const shown = await here.send("/quickstart/token-inspector", { token });
    assert.equal(shown.status, 200);
    assert.ok(shown.body.length < 100_000, String(shown.body.length));
  });

  test("edits a scope with the maximum of claims", async () => {
    const claims = count(MAX_CLAIMS, (at) => ({
      name: `claim_${at}`,
      source: "static" as const,
      value: { at, text: "ø".repeat(100) },
    }));
    const made = {
      orgId: orgId(),
      name: "wide",
      displayName: "Wide",
      description: "",
      sensitive: false,
      actor,
    };
    const { id } = await createCustomScope(running.service, { ...made, claims });
    await savedAsItIs(`/scopes/${id}/edit`);
    assert.deepEqual((await findCustomScope(db(), orgId(), id))?.claims, claims);
  });

  test("edits the largest application that the API can create, and grants all its scopes", async () => {
    const uris = (path: string, most: number) =>
      count(most, (at) => `https://app.example/${path}/${at}/${"x".repeat(300)}`);
    const { application } = await makeClient(running.service, org.organisation, {
      redirectUris: uris("callback", 50),
      postLogoutRedirectUris: uris("left", 50),
      allowedResources: uris("resource", 100),
      allowedScopes: ["openid", ...count(99, (at) => `scope:${at}`)],
    });
    const kept = () => findApplication(db(), orgId(), application.id);
    const { settings } = (await kept()) ?? assert.fail();
    for (const tab of ["/urls", "/tokens", "/access"])
      await savedAsItIs(`/applications/${application.id}${tab}`);
    const after = (await kept()) ?? assert.fail();
    assert.deepEqual(after.settings.redirectUris, settings.redirectUris);
    assert.deepEqual(after.settings.allowedResources, settings.allowedResources);
    assert.deepEqual(after.settings.allowedScopes.toSorted(), settings.allowedScopes.toSorted());
    const page = `/consents/new?application=${application.id}`;
    const all = new URLSearchParams(settings.allowedScopes.map((scope) => ["scopes", scope]));
    const { csrf = "", once = "" } = (await here.get(page)).hidden;
    for (const [name, value] of Object.entries({
      csrf,
      once,
      application: application.id,
      forWhom: "organisation",
    }))
      all.set(name, value);
    const granted = await here.post("/consents/new", all);
    assert.equal(granted.status, 303, granted.body.slice(0, 2_000));
    const [consent] = await listNamedConsents(db(), orgId(), { isRevoked: false, limit: 1 });
    assert.equal(consent?.scopes.length, 100);
  });
});
