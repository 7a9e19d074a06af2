/** Sign-up, terms and waiting sign-ups by the command line. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { newWaitingSignUp } from "../../testing/fixtures/waiting-sign-up.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let operator: OperatorSettings;
  let org: TestOrganisation;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    operator = await operatorSettings(databaseUrl);
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    await operator.remove();
  });
  const words = (line: string, more: readonly string[]) => [
    ...[...line.split(" "), "--org", org.organisation.id, ...more],
  ];
  const json = (line: string, ...more: string[]) => runForJson(words(line, more), operator.env);

  test("settings: what is left out of a change stays as it is", async () => {
    assert.deepEqual(await json("sign-up show"), { mode: "off", terms: null, groups: [] });
    const terms = ["--terms-version", "2026-11", "--terms-url", "https://acme.example/terms"];
    await json("sign-up set", "--mode", "approval");
    const both = { version: "2026-11", url: "https://acme.example/terms" };
    assert.deepEqual(await json("sign-up set", ...terms), { mode: "approval", terms: both, groups: [] });
    const open = await json("sign-up set", "--mode", "open", "--no-terms");
    assert.deepEqual(open, { mode: "open", terms: null, groups: [] });
    for (const more of [
      [],
      ["--mode", "closed"],
      ["--terms-version", "1"],
      [...terms, "--no-terms"],
      ["--group", "x", "--no-groups"],
    ])
      assert.equal((await runInProcess(words("sign-up set", more), operator.env)).code, 2, more.join(" "));
    assert.deepEqual(await json("sign-up show"), open);
  });

  test("sign-ups are listed, approved and rejected", async () => {
    const [one, two] = [
      await newWaitingSignUp(running.service, org.organisation.id),
      await newWaitingSignUp(running.service, org.organisation.id),
    ];
    const listed = async (state: string) =>
      ((await json("sign-up list", "--state", state))["items"] as Array<{ id: string }>).map(({ id }) => id);
    assert.deepEqual((await listed("waiting")).toSorted(), [one, two].toSorted());
    assert.equal((await json(`sign-up approve ${one}`))["state"], "approved");
    const rejected = await json(`sign-up reject ${two}`, "--reason", "Not a customer");
    assert.deepEqual([rejected["state"], rejected["reason"]], ["rejected", "Not a customer"]);
    assert.deepEqual(await listed("waiting"), []);
    assert.notEqual((await runInProcess(words(`sign-up approve ${two}`, []), operator.env)).code, 0);
  });
});
