import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { giveRecoveryCodes, ownerIn } from "../../../testing/fixtures/factors.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { consumeRecoveryCode, findFactorSummary } from "../second-factors.store.ts";
import { hashRecoveryCode, readRecoveryCode } from "./recovery-codes.ts";

test("codes are accepted in any case and grouping", () => {
  const code = "0abc1defghjkmnpq";
  for (const typed of [
    code,
    "0abc-1def-ghjk-mnpq",
    " 0ABC 1DEF GHJK MNPQ ",
    "Oabc-Idef-ghjk-mnpq",
    "oabc-ldef-ghjk-mnpq",
  ])
    assert.equal(readRecoveryCode(typed), code, typed);
  for (const typed of ["", "0abc-1def-ghjk", `${code}0`, "0abc-1def-ghjk-mnpu", "0abc_1def_ghjk_mnpq"])
    assert.equal(readRecoveryCode(typed), undefined, typed);
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  test("creates ten different codes and stores only hashes", async () => {
    const codes = await giveRecoveryCodes(running.service, org);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    const rows = JSON.stringify(
      await running.service.database.query.selectFrom("recovery_code").selectAll().execute(),
    );
    for (const code of codes) {
      assert.ok(!rows.includes(code) && !rows.includes(code.replaceAll("-", "")));
      assert.ok(rows.includes(hashRecoveryCode(code.replaceAll("-", ""))));
    }
  });

  test("each code works once, for its owner, until new codes replace it", async () => {
    const db = running.service.database.query;
    const otto = await withUser(running.service, org, "otto@acme.example");
    const [first = "", second = ""] = await giveRecoveryCodes(running.service, org);
    const take = (who: TestOrganisation, code: string) =>
      consumeRecoveryCode(db, ownerIn(who), { hash: hashRecoveryCode(code.replaceAll("-", "")), now: 1 });
    assert.equal(await take(otto, first), false);
    assert.equal(await take(org, first), true);
    assert.equal(await take(org, first), false);
    assert.equal((await findFactorSummary(db, ownerIn(org))).recoveryCodes, 9);
    await giveRecoveryCodes(running.service, org);
    assert.equal(await take(org, second), false);
    assert.equal((await findFactorSummary(db, ownerIn(org))).recoveryCodes, 10);
  });
});
