/** A large file keeps nobody waiting: the event loop comes round while it is checked, compared and applied. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { testConfiguration } from "../../testing/fixtures/configuration.ts";
import { turnsDuring } from "../../testing/probes/loop-turns.ts";
import { inPortions, type Work } from "../portions.ts";
import { applyFile } from "./apply.ts";
import { compared } from "./difference.ts";
import { MAX_APPLICATIONS, type OrganisationFile } from "./organisation-file.ts";
import { readState } from "./state.ts";
import { checkedFile } from "./validation.ts";

const uris = (app: number) =>
  Array.from({ length: 46 }, (_, at) => `https://app-${app}.example.com/a/rather/long/callback/${at}`);
const application = (at: number) => ({
  ...{ name: `App ${at}`, externalKey: `key-${at}`, clientType: "confidential" as const },
  ...{ redirectUris: uris(at), organisationConsent: ["openid"], preauthorizations: [["openid", "profile"]] },
});
const fileOf = (count: number): OrganisationFile => ({
  format: "signet-organisation/1",
  applications: Array.from({ length: count }, (_, at) => application(at)),
});

async function observed<Result>(work: Work<Result>): Promise<{ turns: number; result: Result }> {
  const results: Result[] = [];
  const turns = await turnsDuring(async () => results.push(await inPortions(work)));
  const [result] = results;
  assert.ok(result !== undefined);
  return { turns, result };
}

forEachDatabase(({ fresh }) => {
  test("the largest one while it is checked, and compared with what is there", async (t) => {
    const running = await testConfiguration(await fresh());
    t.after(() => running.close());
    const checked = await observed(checkedFile(fileOf(MAX_APPLICATIONS)));
    assert.ok(checked.turns > 2, `${checked.turns} turns`);
    const state = await readState(running.deps.database.query, await running.makeOrg());
    assert.ok(state);
    const { turns } = await observed(compared(state, checked.result, false));
    assert.ok(turns > 2, `${turns} turns`);
  });

  test("while it is applied, which is all of it or nothing none the less", async (t) => {
    const running = await testConfiguration(await fresh());
    t.after(() => running.close());
    const [orgId, count] = [await running.makeOrg(), 150];
    const applying = { orgId, actor: "test", file: fileOf(count), prune: false };
    const turns = await turnsDuring(() => applyFile(running.deps, applying));
    assert.ok(turns > 5, `${turns} turns`);
    const stored = async () => (await readState(running.deps.database.query, orgId))?.applications.length;
    assert.equal(await stored(), count);
    const twice = await applyFile(running.deps, applying);
    assert.ok(twice.every(({ act }) => act === "unchanged"));
    const { applications = [] } = fileOf(count + 20);
    const faulty = {
      ...applying,
      file: { ...applying.file, applications: [...applications, { ...application(count + 20), name: "" }] },
    };
    await assert.rejects(applyFile(running.deps, faulty));
    assert.equal(await stored(), count);
  });
});
