/** The images of the sign-in page by API v1. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { pngOf } from "../../../testing/fixtures/images.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";

type Images = Readonly<Record<string, { uri: string; width: number; height: number } | null>>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    const org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:organisation:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const images = async () => {
    const { body, headers } = await api.call("GET", "");
    return { images: body["images"] as Images, etag: headers.get("etag") };
  };
  const put = (kind: string, file: Buffer) =>
    api.call("PUT", `/images/${kind}`, { body: { content: file.toString("base64") } });

  test("each kind is set, served, replaced and removed, and the organisation's entity tag follows", async () => {
    const none = { logo: null, darkLogo: null, favicon: null, panel: null };
    const before = await images();
    assert.deepEqual(before.images, none);
    for (const [kind, side] of [
      ["logo", 64],
      ["darkLogo", 64],
      ["favicon", 32],
      ["panel", 400],
    ] as const) {
      assert.equal((await put(kind, pngOf(side, side))).status, 204, kind);
      const first = await images();
      assert.deepEqual([first.images[kind]?.width, first.images[kind]?.height], [side, side]);
      assert.notEqual(first.etag, before.etag);
      const served = await fetch(first.images[kind]?.uri ?? "");
      assert.deepEqual(Buffer.from(await served.arrayBuffer()), pngOf(side, side), kind);
      assert.equal((await put(kind, pngOf(side, side, 1))).status, 204);
      assert.notEqual((await images()).images[kind]?.uri, first.images[kind]?.uri);
      for (const _ of ["once", "again"])
        assert.equal((await api.call("DELETE", `/images/${kind}`)).status, 204);
      assert.deepEqual((await images()).images, none);
    }
  });

  test("another file, a side or a size out of bounds, and an unknown kind are refused", async () => {
    const wrong = [
      ["logo", Buffer.from("<svg/>")],
      ["logo", pngOf(8, 8)],
      ["logo", Buffer.concat([pngOf(64, 64), Buffer.alloc(64 * 1024)])],
      ["favicon", pngOf(1_024, 1_024)],
    ] as const;
    for (const [kind, content] of wrong) {
      const { status, body } = await put(kind, content);
      const [fault] = body["errors"] as { path: string }[];
      assert.deepEqual([status, fault?.path], [422, "/content"], JSON.stringify(body));
    }
    assert.equal((await put("banner", pngOf(64, 64))).status, 404);
    assert.equal((await put("panel", Buffer.alloc(600 * 1024))).status, 413);
    const patched = await api.call("PATCH", "", { body: { images: {} } });
    assert.equal(patched.status, 422);
  });
});
