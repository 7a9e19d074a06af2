import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PUBLISH_AHEAD_MS } from "../../core/signing-keys/signing-key.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

interface Shown {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
  readonly activeFrom: string;
  readonly retireAt: string | null;
}

describe("signet keys", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const json = <Answer = Shown>(...args: string[]) =>
      runForJson<Answer>(["keys", ...args, "--org", org], settings.env);
    const typed = (...args: string[]) => runInProcess(["keys", ...args, "--org", org], settings.env);
    const states = async () =>
      (await json<{ items: Shown[] }>("list")).items.map(({ kid, alg, state }) => `${alg} ${kid} ${state}`);

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(() => settings.remove());

    test("lists keys without creating any", async () => {
      assert.match((await typed("list")).out, /No signing keys yet/);
      assert.deepEqual(await json("list"), { items: [], more: false });
    });

    test("activates the first key immediately, and publishes its successor in advance", async () => {
      const first = await json("rotate");
      assert.deepEqual([first.alg, first.state, first.retireAt], ["ES256", "active", null]);
      const next = await json("rotate", "--alg", "es256");
      assert.equal(next.state, "next");
      assert.ok(Math.abs(Date.parse(next.activeFrom) - Date.now() - PUBLISH_AHEAD_MS) < 60_000);
      assert.deepEqual(await states(), [`ES256 ${first.kid} active`, `ES256 ${next.kid} next`]);
    });

    test("retires a compromised key immediately and keeps keys of other algorithms", async () => {
      const rsa = await json("rotate", "--alg", "RS256");
      const before = await json<{ items: Shown[] }>("list");
      const made = await json("rotate", "--compromised");
      assert.equal(made.state, "active");
      const old = before.items.filter(({ alg }) => alg === "ES256");
      assert.deepEqual(
        (await states()).sort(),
        [
          ...old.map(({ kid }) => `ES256 ${kid} retired`),
          `RS256 ${rsa.kid} active`,
          `ES256 ${made.kid} active`,
        ].sort(),
      );
      assert.match((await typed("list")).out, new RegExp(`^${made.kid} +ES256 +active`, "m"));
    });

    test("never prints a private key", async () => {
      const answers = [await typed("list", "--json"), await typed("rotate", "--alg", "EdDSA", "--json")];
      for (const { out } of answers) assert.doesNotMatch(out, /private|"d"|v1\./i);
    });

    test("exits with 1 for an unknown organisation and 2 for an unknown algorithm", async () => {
      const unknown = ["--org", "00000000-0000-7000-8000-000000000000"];
      assert.equal((await runInProcess(["keys", "list", ...unknown], settings.env)).code, 1);
      assert.equal((await runInProcess(["keys", "rotate", ...unknown], settings.env)).code, 1);
      assert.equal((await typed("rotate", "--alg", "HS256")).code, 2);
      assert.equal((await runInProcess(["keys", "list"], settings.env)).code, 2);
    });
  });
});
