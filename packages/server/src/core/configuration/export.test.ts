import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  actor,
  applicationIn,
  nothing,
  type TestConfiguration,
  testConfiguration,
  withoutIds,
} from "../../testing/fixtures/configuration.ts";
import { furnishedOrganisation } from "../../testing/fixtures/furnished-organisation.ts";
import { dumpTable } from "../../testing/probes/dump-database.ts";
import { changeApplication } from "../applications/application-changes.ts";
import { createApplication } from "../applications/applications.ts";
import { listConsents } from "../consents/consents.store.ts";
import { countsOf } from "./entries.ts";
import type { OrganisationFile } from "./organisation-file.ts";
import { readOrganisationFile } from "./validation.ts";

forEachDatabase(({ fresh }) => {
  let running: TestConfiguration;
  before(async () => {
    running = await testConfiguration(await fresh());
  });
  after(() => running.close());
  const furnished = () => furnishedOrganisation(running.deps);

  test("a file reads back as what was written, and has nothing to do where it came from", async () => {
    const orgId = await furnished();
    const { file, text } = await running.exported(orgId);
    assert.deepEqual(readOrganisationFile(Buffer.from(text)), file);
    assert.deepEqual(countsOf(await running.shownOf(orgId, file, true)), nothing);
  });

  test("applied to another organisation, that one exports the same file but for ids", async () => {
    const [from, to] = [await furnished(), await running.makeOrg()];
    const { text } = await running.exported(from);
    const file = readOrganisationFile(Buffer.from(text));
    assert.deepEqual(await running.apply(to, file), [
      "changed organisation branding and policies",
      "created scope agenda",
      "created scope payroll",
      "created application Bank",
      "created application Phone",
      "created application Shop",
      "created organisation-consent Shop",
      "created preauthorization Shop",
      "created preauthorization Shop",
    ]);
    const back = await running.exported(to);
    assert.equal(withoutIds(back.text), withoutIds(text));
    assert.notEqual(back.text, text);
    const ids = ({ applications = [] }: OrganisationFile) => applications.map(({ id }) => id);
    assert.ok(ids(back.file).every((id) => !ids(file).includes(id)));
    assert.deepEqual(
      countsOf(await running.shownOf(to, file, true)),
      nothing,
      "applied twice there is nothing to do",
    );
  });

  test("the same configuration is the same bytes, in whatever order it was made", async () => {
    const [one, other] = [await running.makeOrg(), await running.makeOrg()];
    const make = async (orgId: string, names: readonly string[], scopes: readonly string[]) => {
      for (const name of names)
        await createApplication(running.deps, {
          orgId,
          name,
          clientType: "spa",
          settings: { allowedScopes: scopes },
          actor,
        });
    };
    await make(one, ["B", "a", "C"], ["openid", "email", "openid"]);
    await make(other, ["C", "B", "a"], ["email", "openid"]);
    assert.equal(
      withoutIds((await running.exported(one)).text),
      withoutIds((await running.exported(other)).text),
    );
  });

  test("never secrets, never users, never what users allowed", async () => {
    const orgId = await furnished();
    const { text } = await running.exported(orgId);
    for (const secret of ['secret"', "hash", "sgn_", "hint", "b0f7a9d2", "first", "version", "createdAt"])
      assert.ok(!text.includes(secret), secret);
    const to = await running.makeOrg();
    await running.apply(to, readOrganisationFile(Buffer.from(text)));
    assert.deepEqual(await dumpTable(running.deps.database.query, "client_secret", to), []);
    assert.deepEqual(await listConsents(running.deps.database.query, to, { limit: 9, kind: "user" }), []);
  });

  test("a consent to what an application may not ask for any more has no effect, and is not written", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const { id = "" } = applicationIn(file, "Shop");
    await changeApplication(running.deps, { orgId, id, actor }, ({ name, settings }) => ({
      name,
      disabled: false,
      settings: { ...settings, allowedScopes: ["openid"] },
    }));
    const narrower = await running.exported(orgId);
    assert.deepEqual(applicationIn(narrower.file, "Shop").organisationConsent, ["openid"]);
    assert.deepEqual(applicationIn(narrower.file, "Shop").preauthorizations, [["openid"]]);
    assert.deepEqual(countsOf(await running.shownOf(orgId, narrower.file, true)), nothing);
    assert.deepEqual(readOrganisationFile(Buffer.from(narrower.text)), narrower.file);
  });
});
