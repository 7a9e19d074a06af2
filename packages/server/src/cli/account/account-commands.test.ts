import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { assertListed } from "../../testing/probes/written-actions.ts";

interface Key {
  readonly publicKey: string;
  readonly label: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}
interface Shown extends Key {
  readonly id: string;
  readonly applicationId: string;
  readonly name: string;
  readonly administrator: boolean;
  readonly requireStrictSignature: boolean;
  readonly allowEndUserAddress: boolean;
  readonly permissions: readonly string[];
  readonly secretKey: string;
  readonly keys: readonly Key[];
  readonly otherKeys: readonly Key[];
  readonly disabledAt: string | null;
}

const unknownId = "00000000-0000-7000-8000-000000000000";

describe("signet account", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    let otherOrg: string;
    let app: string;
    let secondApp: string;
    let foreignApp: string;
    const here = (args: readonly string[]) => ["account", ...args, "--org", org];
    const json = (...args: string[]) => runForJson<Shown>(here(args), settings.env);
    const typed = (...args: string[]) => runInProcess(here(args), settings.env);
    const create = (name: string, ...more: string[]) => json("create", "--app", app, "--name", name, ...more);
    const makeApp = async (orgId: string, name: string) => {
      const args = ["app", "create", "--org", orgId, "--name", name, "--type", "confidential"];
      return (await runForJson<{ clientId: string }>(args, settings.env)).clientId;
    };

    before(async () => {
      settings = await operatorSettings(await fresh());
      const makeOrg = async (name: string) =>
        (await runForJson<{ id: string }>(["org", "create", "--name", name], settings.env)).id;
      [org, otherOrg] = [await makeOrg("Acme"), await makeOrg("Other")];
      [app, secondApp] = [await makeApp(org, "Shop"), await makeApp(org, "Stock")];
      foreignApp = await makeApp(otherOrg, "Foreign");
    });
    after(() => settings.remove());

    test("shows the secret key on creation only", async () => {
      const made = await create("Order import");
      assert.match(made.publicKey, /^[0-9a-f-]{36}$/);
      assert.match(made.secretKey, /^sgn_sa_[\w-]{43}$/);
      assert.deepEqual(
        [made.applicationId, made.name, made.administrator, made.requireStrictSignature, made.permissions],
        [app, "Order import", false, false, []],
      );
      for (const args of [["show", made.id], ["list"]])
        for (const more of [[], ["--json"]]) {
          const { code, out } = await typed(...args, ...more);
          assert.equal(code, 0);
          assert.ok(out.includes("Order import"));
          assert.ok(!out.includes(made.secretKey.slice(0, 12)), out);
        }
      assert.deepEqual(
        (await json("show", made.id)).keys.map(({ publicKey, label }) => [publicKey, label]),
        [[made.publicKey, "first"]],
      );
      assert.match((await typed("create", "--app", app, "--name", "X")).out, /can't show it again/);
    });

    test("creates administrator accounts and accounts that require strict signatures", async () => {
      const made = await create("Terraform", "--administrator", "--strict");
      assert.deepEqual([made.administrator, made.requireStrictSignature], [true, true]);
      assert.match((await typed("show", made.id)).out, /^type +administrator$/m);
    });

    test("update changes name, signature form and the right to tell end users' addresses, each alone", async () => {
      const made = await create("Portal", "--allow-end-user-address");
      const shown = async () => {
        const { name, requireStrictSignature, allowEndUserAddress } = await json("show", made.id);
        return [name, requireStrictSignature, allowEndUserAddress];
      };
      assert.deepEqual(await shown(), ["Portal", false, true]);
      assert.equal((await typed("update", made.id, "--strict", "--no-end-user-address")).code, 0);
      assert.deepEqual(await shown(), ["Portal", true, false]);
      const changed = await typed("update", made.id, "--name", "Shop", "--allow-end-user-address");
      assert.match(changed.out, /^end user's address +trusted$/m);
      assert.deepEqual(await shown(), ["Shop", true, true]);
      assert.equal((await typed("update", made.id)).code, 2);
      assert.equal((await typed("update", made.id, "--strict", "--no-strict")).code, 2);
    });

    test("lists all accounts unless --limit cuts the list off", async () => {
      for (let count = 0; count < 3; count++) await create(`Many ${count}`);
      const all = await runForJson<{ items: Shown[]; more: boolean }>(here(["list"]), settings.env);
      assert.equal(new Set(all.items.map(({ id }) => id)).size, all.items.length);
      assert.ok(all.items.length >= 3 && !all.more);
      const cut = await runForJson<{ items: Shown[]; more: boolean }>(
        here(["list", "--limit", "2"]),
        settings.env,
      );
      assert.deepEqual(
        [cut.items.map(({ id }) => id), cut.more],
        [all.items.slice(0, 2).map(({ id }) => id), true],
      );
    });

    test("adds a key pair, and expires the old one only when asked", async () => {
      const made = await create("Rotated");
      const second = await json("rotate", made.id, "--label", "autumn");
      assert.match(second.secretKey, /^sgn_sa_/);
      assert.notEqual(second.publicKey, made.publicKey);
      assert.deepEqual(
        [second.label, second.otherKeys.map(({ expiresAt }) => expiresAt)],
        ["autumn", [null]],
      );
      const third = await json("rotate", made.id, "--expires", "90", "--expire-others-in", "24h");
      const ends = third.otherKeys.map(({ expiresAt }) => Date.parse(expiresAt ?? "") - Date.now());
      assert.equal(ends.length, 2);
      for (const end of ends) assert.ok(Math.abs(end - 86_400_000) < 60_000, String(end));
      assert.ok(Math.abs(Date.parse(third.expiresAt ?? "") - Date.now() - 90 * 86_400_000) < 60_000);
    });

    test("revokes one key, and warns when none is left", async () => {
      const made = await create("Revoked");
      const second = await json("rotate", made.id);
      const first = await json("revoke-key", made.id, "--key", made.publicKey.toUpperCase());
      assert.notEqual(first.revokedAt, null);
      const { out } = await typed("revoke-key", made.id, "--key", made.publicKey);
      assert.equal(out, "The key was already revoked.\n");
      assert.match((await typed("revoke-key", made.id, "--key", second.publicKey)).out, /no active key left/);
      const foreign = await create("Other keys");
      const { code, err } = await typed("revoke-key", made.id, "--key", foreign.publicKey);
      assert.deepEqual(
        [code, err],
        [1, `signet account revoke-key: the system account has no key "${foreign.publicKey}"\n`],
      );
      assert.equal((await json("show", foreign.id)).keys[0]?.revokedAt, null);
    });

    test("grants and withdraws permissions for applications of the same organisation only", async () => {
      const { id } = await create("Granted");
      assert.deepEqual((await json("grant", id, "--app", secondApp)).permissions, [secondApp]);
      assert.match((await typed("grant", id, "--app", secondApp)).out, /already/);
      const foreign = await typed("grant", id, "--app", foreignApp);
      assert.deepEqual([foreign.code, foreign.out], [1, ""]);
      assert.deepEqual((await json("withdraw", id, "--app", secondApp)).permissions, []);
      assert.match((await typed("withdraw", id, "--app", secondApp)).out, /no such permission/);
    });

    test("disables, enables and deletes a system account", async () => {
      const { id } = await create("Off");
      assert.notEqual((await json("disable", id)).disabledAt, null);
      assert.match((await typed("show", id)).out, /^status +disabled$/m);
      assert.equal((await json("enable", id)).disabledAt, null);
      assert.equal((await typed("delete", id)).out, 'Deleted "Off".\n');
      assert.equal((await typed("show", id)).code, 1);
    });

    test("rejects an unknown account, or another organisation's, with exit code 1", async () => {
      const args = ["account", "create", "--org", otherOrg, "--app", foreignApp, "--name", "Foreign"];
      const foreign = await runForJson<Shown>(args, settings.env);
      for (const id of [unknownId, "import", foreign.id]) {
        for (const command of ["show", "rotate", "disable", "enable", "delete"]) {
          const { code, out, err } = await typed(command, id);
          assert.deepEqual([code, out], [1, ""]);
          assert.match(err, new RegExp(`there is no system account "${id}" in this organisation\n$`));
        }
      }
      const kept = ["account", "show", foreign.id, "--org", otherOrg];
      assert.equal((await runForJson<Shown>(kept, settings.env)).disabledAt, null);
      assert.equal((await typed("create", "--app", foreignApp, "--name", "X")).code, 1);
    });

    test("rejects an invalid command line with exit code 2", async () => {
      const { id } = await create("Typed");
      for (const args of [
        ["create", "--name", "X"],
        ["create", "--app", app],
        ["show"],
        ["show", id, id],
        ["rotate", id, "--expire-others-in", "soon"],
        ["rotate", id, "--expire-others-in", "366d"],
        ["rotate", id, "--expires", "2020-01-01"],
        ["rotate", id, "--label", "x".repeat(101)],
        ["revoke-key", id],
        ["grant", id],
      ]) {
        const { code, out } = await typed(...args);
        assert.deepEqual([code, out], [2, ""], args.join(" "));
      }
      assert.equal((await json("show", id)).keys.length, 1);
    });

    test("audits every change with the operator as actor", () =>
      assertListed(settings.env, org, "system-account.disabled", "system-account.enabled"));
  });
});
