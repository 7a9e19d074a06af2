import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { imagePath } from "../../core/organisations/image-kinds.ts";
import { changeImages, type NewImage, readImage } from "../../core/organisations/images.ts";
import { changeOrganisationSettings, setOrganisationStatus } from "../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { pngOf } from "../../testing/fixtures/images.ts";
import { visit } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const image = (kind: "logo" | "panel" | "favicon", side: number, mark = 0) =>
  readImage(kind, pngOf(side, side, mark)) as NewImage;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  const logo = image("logo", 64);
  const darkLogo = image("logo", 64, 1);
  const favicon = image("favicon", 32);
  const panel = image("panel", 640);
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    const change = { orgId: org.organisation.id, actor: "test", settings: {} };
    await changeImages(running.service, { logo, darkLogo, favicon, panel }, change);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${running.baseUrl}${path}`, { headers });
  const pathOf = (of: NewImage, at = org) => imagePath(at.organisation.id, of);

  test("an image is sent as what it is, is kept for good, and runs nothing", async () => {
    const answer = await ask(pathOf(logo));
    assert.equal(answer.status, 200);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), logo.bytes);
    const { headers } = answer;
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none';.* sandbox$/);
    const again = await ask(pathOf(logo), { "if-none-match": headers.get("etag") ?? "" });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
  });

  test("what is another organisation's, unknown or malformed is not found", async () => {
    for (const path of [
      pathOf(logo, other),
      pathOf({ ...logo, digest: "A".repeat(43) }),
      pathOf({ ...logo, digest: "x" }),
      pathOf({ ...logo, digest: `..%2F${logo.digest}` }),
      pathOf(logo).replace(org.organisation.id, crypto.randomUUID()),
    ])
      assert.ok([400, 404].includes((await ask(path)).status), path);
    const key = { orgId: org.organisation.id, actor: "test" };
    await setOrganisationStatus(running.service, { ...key, disabled: true });
    assert.equal((await ask(pathOf(logo))).status, 404);
    await setOrganisationStatus(running.service, { ...key, disabled: false });
  });

  test("visitors are not sent what was removed, and the database is read once for all of them", async () => {
    const more = image("panel", 800, 7);
    const change = { orgId: other.organisation.id, actor: "test", settings: {} };
    await changeImages(running.service, { panel: more }, change);
    const path = pathOf(more, other);
    for (let visitor = 0; visitor < 3; visitor++) assert.equal((await ask(path)).status, 200);
    await running.service.database.query
      .updateTable("organisation_image")
      .set({ content: "" })
      .where("digest", "=", more.digest)
      .execute();
    assert.equal((await (await ask(path)).arrayBuffer()).byteLength, more.bytes.length);
    await changeImages(running.service, { panel: null }, change);
    assert.equal((await ask(path)).status, 404);
  });

  test("the sign-in page shows them: by scheme, in the tab, and beside it on a wide screen", async () => {
    const { body } = await visit(testBrowser(), org);
    assert.ok(body.includes(`<source srcset="${pathOf(darkLogo)}" media="(prefers-color-scheme: dark)">`));
    assert.ok(body.includes(`<img class="mark large" src="${pathOf(logo)}" alt="" width="48" height="48">`));
    assert.ok(body.includes(`<link rel="icon" href="${pathOf(favicon)}">`));
    assert.ok(
      body.includes(`@media(min-width:64rem){.side-image{background-image:url("${pathOf(panel)}")}}`),
    );
    assert.match(body, /<body class="narrow with-image">/);
    const plain = (await visit(testBrowser(), other)).body;
    assert.doesNotMatch(plain, /<picture|side-image|\/images\//);
  });

  test("a logo in a data: URL has an address as well", async () => {
    const file = pngOf(32, 32);
    const logoUri = `data:image/png;base64,${file.toString("base64")}`;
    const change = { orgId: other.organisation.id, actor: "test", settings: { branding: { logoUri } } };
    await changeOrganisationSettings(running.service, change);
    const { body } = await visit(testBrowser(), other);
    assert.ok(!body.includes("data:image/png"));
    const [, path = ""] = /<img class="mark large" src="([^"]+)"/.exec(body) ?? [];
    assert.deepEqual(Buffer.from(await (await ask(path)).arrayBuffer()), file);
  });
});
