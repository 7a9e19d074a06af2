import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { pngOf } from "../../testing/fixtures/images.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { ImageKind } from "./image-kinds.ts";
import { findImage } from "./images.store.ts";
import { changeImages, imageRules, imagesOf, type NewImage, readImage } from "./images.ts";
import { findOrganisation } from "./organisations.store.ts";

const image = (kind: ImageKind, side: number, mark = 0): NewImage => {
  const read = readImage(kind, pngOf(side, side, mark));
  assert.ok(typeof read !== "string", String(read));
  return read;
};

test("a file is bounded in bytes and sides, and its kind says of which formats it may be", () => {
  for (const kind of ["logo", "darkLogo", "favicon", "panel"] as const) {
    const { maxBytes, sides } = imageRules[kind];
    assert.equal(typeof readImage(kind, pngOf(sides.least, sides.most)), "object");
    assert.equal(readImage(kind, pngOf(sides.least - 1, sides.most)), "image-sides");
    assert.equal(readImage(kind, pngOf(sides.least, sides.most + 1)), "image-sides");
    assert.equal(
      readImage(kind, Buffer.concat([pngOf(sides.least, sides.most), Buffer.alloc(maxBytes)])),
      "image-size",
    );
    assert.equal(readImage(kind, Buffer.from("<svg/>")), "image-form");
  }
  const jpeg = Buffer.from("ffd8ffc0001108002000400301220002110103110100", "hex");
  assert.equal(typeof readImage("logo", jpeg), "object");
  assert.equal(readImage("favicon", jpeg), "image-form");
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const change = (images: Parameters<typeof changeImages>[1], of = org) =>
    changeImages(running.service, images, { orgId: of.organisation.id, actor: "test", settings: {} });
  const stored = (one: NewImage, of = org) =>
    findImage(db(), { orgId: of.organisation.id, digest: one.digest });
  const settingsOf = async (of = org) => {
    const found = await findOrganisation(db(), of.organisation.id);
    assert.ok(found);
    return found.settings;
  };

  test("images are kept by their content, and deleted when nothing names them", async () => {
    const [logo, dark, icon] = [image("logo", 64), image("darkLogo", 64, 1), image("favicon", 32)];
    await change({ logo, darkLogo: dark, favicon: icon });
    const { digest, width, height } = logo;
    assert.deepEqual((await settingsOf()).images.logo, { digest, width, height });
    assert.deepEqual(await stored(logo), { type: "image/png", bytes: logo.bytes });
    assert.equal(await stored(logo, other), undefined, "another organisation's is not found");
    await change({ logo: image("logo", 48) });
    assert.equal(await stored(logo), undefined);
    assert.ok(await stored(dark), "what is not changed stays");
    await change({ darkLogo: logo, favicon: null });
    assert.deepEqual(Object.keys((await settingsOf()).images).sort(), ["darkLogo", "logo"]);
    assert.equal(await stored(icon), undefined);
    await change({ logo: null, darkLogo: null });
    assert.deepEqual((await settingsOf()).images, {});
    const rows = await db().selectFrom("organisation_image").selectAll().execute();
    assert.deepEqual(rows, []);
  });

  test("two kinds may have one content; each organisation has its own copy", async () => {
    const logo = image("logo", 64);
    await change({ logo, darkLogo: logo });
    await change({ logo }, other);
    await change({ logo: null });
    assert.ok(await stored(logo), "the dark one still names it");
    await change({ darkLogo: null });
    assert.equal(await stored(logo), undefined);
    assert.ok(await stored(logo, other));
  });

  test("a logo in a data: URL stays the logo until another one takes its place", async () => {
    const old = pngOf(32, 32);
    const logoUri = `data:image/png;base64,${old.toString("base64")}`;
    await changeImages(
      running.service,
      {},
      { orgId: org.organisation.id, actor: "test", settings: { branding: { logoUri } } },
    );
    const inline = imagesOf(await settingsOf()).logo;
    assert.deepEqual([inline?.width, inline?.height], [32, 32]);
    const logo = image("logo", 64);
    await change({ logo });
    assert.equal((await settingsOf()).branding.logoUri, undefined);
    assert.equal(imagesOf(await settingsOf()).logo?.digest, logo.digest);
  });
});
