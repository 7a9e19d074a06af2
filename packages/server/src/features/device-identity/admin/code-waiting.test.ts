// The page of a new enrolment code: its install line, and the panel that follows the code.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { enrolledByCode } from "../../../testing/fixtures/enrolments.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { logIn } from "../../../testing/fixtures/visit.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
  });
  after(() => running.close());

  const at = (rest = "", { organisation: { id } } = org) => `${running.baseUrl}/devices/manage/${id}${rest}`;
  async function signedInAt(here: SeededRecords) {
    const browser = testBrowser();
    await logIn(browser, { ...here, user: here.administrator }, await browser.get(at("", here)));
    return browser;
  }

  test("a new code is shown with steps and a panel that sees when a device has used the code", async () => {
    const browser = await signedInAt(org);
    const { hidden } = await browser.get(at());
    const typed = { name: "Till 9", attestation: "none", expiresIn: "86400", replaces: "" };
    const shown = await browser.post(at("/register"), { ...typed, ...hidden });
    assert.match(shown.body, /npm install --global \S+\/downloads\/signet-device-client-[\d.]+\.tgz</);
    const uri = /id="first-certificate"[^>]*data-live="([^"]+)"/.exec(shown.body)?.[1] ?? "";
    const panel = async (address: string) => (await browser.get(running.baseUrl + address)).body;
    assert.match(await panel(uri), /live-panel waiting/);
    const { query } = running.service.database;
    await query
      .updateTable("device_enrollment_code")
      .set({ withdrawn_at: Date.now() })
      .where("id", "=", uri.split("/").at(-2) ?? "")
      .execute();
    assert.match(await panel(uri), /live-panel failed/);
    await enrolledByCode(running.service, org.issuer, { name: "Till 10" });
    const used = await query
      .selectFrom("device_enrollment_code")
      .select("id")
      .where("org_id", "=", org.organisation.id)
      .where("device_id", "is not", null)
      .executeTakeFirstOrThrow();
    assert.match(
      await panel(`/devices/manage/${org.organisation.id}/codes/${used.id}/waiting`),
      /live-panel done/,
    );
    const elsewhere = at(`/codes/${used.id}/waiting`, other);
    assert.equal((await (await signedInAt(other)).get(elsewhere)).status, 404);
    assert.equal((await testBrowser().get(at(`/codes/${used.id}/waiting`))).status, 403);
  });
});
