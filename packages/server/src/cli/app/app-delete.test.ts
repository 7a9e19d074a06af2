import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

describe("signet app delete", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const json = <Answer>(...args: string[]) =>
      runForJson<Answer>(["app", ...args, "--org", org], settings.env);
    const typed = (...args: string[]) => runInProcess(["app", ...args, "--org", org], settings.env);

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(() => settings.remove());

    test("deletes an application once it is confirmed", async () => {
      const { clientId } = await json<{ clientId: string }>("create", "--name", "Old", "--type", "public");
      const args = ["app", "delete", clientId, "--org", org];
      assert.match((await typed("delete", clientId)).err, /no terminal to confirm on: add --yes/);
      const no = await runInProcess(args, settings.env, "no");
      assert.deepEqual([no.code, no.err], [1, "Nothing was deleted.\n"]);
      assert.equal((await typed("show", clientId)).code, 0);
      assert.deepEqual(await json<object>("delete", clientId, "--yes"), {
        clientId,
        name: "Old",
        deleted: true,
      });
      assert.match((await typed("show", clientId)).err, /there is no application/);
      assert.equal((await typed("delete", clientId, "--yes")).code, 1);
    });
  });
});
