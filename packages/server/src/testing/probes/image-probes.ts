/** The images of an organisation at another one. */
import assert from "node:assert/strict";
import { imagePath } from "../../core/organisations/image-kinds.ts";
import { changeImages, type NewImage, readImage } from "../../core/organisations/images.ts";
import type { Service } from "../../modules/open-service.ts";
import { pngOf } from "../fixtures/images.ts";
import type { TestOrganisation } from "../test-service.ts";

export const imageProbes = {
  "GET /oauth/:org/images/:digest": async ({
    service,
    a,
    b,
  }: {
    readonly service: Service;
    readonly a: TestOrganisation;
    readonly b: TestOrganisation;
  }) => {
    const logo = readImage("logo", pngOf(64, 64)) as NewImage;
    await changeImages(service, { logo }, { orgId: a.organisation.id, actor: "test", settings: {} });
    const ask = async ({ organisation }: TestOrganisation) =>
      (await fetch(new URL(imagePath(organisation.id, logo), a.issuer))).status;
    assert.deepEqual([await ask(a), await ask(b)], [200, 404]);
  },
};
