import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setOrganisationStatus } from "../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let plain: TestService;
  let demo: TestService;
  let shown: TestOrganisation;
  let hidden: TestOrganisation;
  before(async () => {
    plain = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    await makeOrganisation(plain.service, "Secretive");
    demo = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      demo: async (service) => {
        shown = await makeOrganisation(service, "Shown");
        hidden = await makeOrganisation(service, "Hidden");
        const { id } = shown.organisation;
        return {
          organisationIds: [id],
          orgId: id,
          clientId: shown.native.id,
          credentialsFile: "data/demo.json",
        };
      },
    });
  });
  after(async () => {
    await plain.close();
    await demo.close();
  });

  const page = async ({ baseUrl }: TestService) => (await fetch(`${baseUrl}/`)).text();

  test("outside demo mode the page lists no organisations and the demo routes return 404", async () => {
    const body = await page(plain);
    assert.match(body, /Signet is running/);
    assert.doesNotMatch(body, /Secretive|demo|href="\/(?!assets|docs(?:\/console)?")|oauth\//i);
    for (const path of ["/demo/try", "/demo/callback"])
      assert.equal((await fetch(plain.baseUrl + path)).status, 404, path);
  });

  test("in demo mode the page lists the demo organisations, working discovery links and the credentials file", async () => {
    const body = await page(demo);
    assert.ok(body.includes("Shown") && body.includes("data/demo.json") && body.includes('href="/demo/try"'));
    assert.ok(!body.includes("Hidden") && !body.includes(hidden.organisation.id));
    assert.doesNotMatch(body, /sgn_|plum tractor/);
    const [, discovery = ""] = /href="([^"]*openid-configuration)"/.exec(body) ?? [];
    const document = (await (await fetch(discovery)).json()) as { issuer: string };
    assert.equal(document.issuer, shown.issuer);
  });

  test("omits a disabled organisation", async () => {
    const key = { orgId: shown.organisation.id, actor: "test" };
    await setOrganisationStatus(demo.service, { ...key, disabled: true });
    assert.ok(!(await page(demo)).includes("Shown"));
    await setOrganisationStatus(demo.service, { ...key, disabled: false });
    assert.ok((await page(demo)).includes("Shown"));
  });
});
