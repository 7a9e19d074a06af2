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

interface Shown {
  readonly clientId: string;
  readonly id: string;
  readonly label: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly clientSecret: string;
}

const unknownId = "00000000-0000-7000-8000-000000000000";

describe("signet secret", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    let app: string;
    const here = (args: string[]) => [...args, "--org", org, "--app", app];
    const json = (...args: string[]) => runForJson<Shown>(here(["secret", ...args]), settings.env);
    const typed = (...args: string[]) => runInProcess(here(["secret", ...args]), settings.env);
    const shown = () => runForJson<{ secrets: Shown[] }>(here(["app", "show"]), settings.env);

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
      const args = [
        "app",
        "create",
        "--org",
        org,
        "--name",
        "Shop",
        "--type",
        "confidential",
        "--grant",
        "client_credentials",
      ];
      app = (await runForJson<{ clientId: string }>(args, settings.env)).clientId;
    });
    after(() => settings.remove());

    test("shows a new secret once and keeps the others active", async () => {
      const made = await json("create", "--label", "autumn");
      assert.match(made.clientSecret, /^sgn_cs_/);
      assert.deepEqual([made.clientId, made.label, made.expiresAt], [app, "autumn", null]);
      const { secrets } = await shown();
      assert.deepEqual(
        secrets.map(({ label, revokedAt }) => [label, revokedAt]),
        [
          ["first", null],
          ["autumn", null],
        ],
      );
      const { out } = await runInProcess(here(["app", "show"]), settings.env);
      assert.match(out, /autumn +\S{4} +active +never +never/);
      assert.ok(!out.includes(made.clientSecret));
    });

    test("reads an expiry as days, a UTC date, or a time with a time zone", async () => {
      const inDays = Date.parse((await json("create", "--expires", "90")).expiresAt ?? "");
      assert.ok(Math.abs(inDays - (Date.now() + 90 * 86_400_000)) < 60_000);
      assert.equal((await json("create", "--expires", "2096-02-29")).expiresAt, "2096-02-29T00:00:00.000Z");
      const zoned = await json("create", "--expires", "2096-01-31T12:00+02:00");
      assert.equal(zoned.expiresAt, "2096-01-31T10:00:00.000Z");
    });

    test("rejects a past, invalid or ambiguous expiry", async () => {
      for (const expires of [
        "0",
        "2020-01-01",
        "2095-02-29",
        "2096-13-01",
        "2096-01-31T12:00",
        "soon",
        "1e9",
        "-1",
      ]) {
        const { code, out } = await typed("create", `--expires=${expires}`);
        assert.deepEqual([code, out], [2, ""], expires);
      }
    });

    test("revokes one secret and keeps the others", async () => {
      const made = await json("create", "--label", "short-lived");
      const active = (await shown()).secrets.filter(({ revokedAt }) => revokedAt === null).length;
      assert.notEqual((await json("revoke", "--id", made.id.toUpperCase())).revokedAt, null);
      assert.equal((await shown()).secrets.filter(({ revokedAt }) => revokedAt === null).length, active - 1);
      const again = await typed("revoke", "--id", made.id);
      assert.deepEqual([again.code, again.out], [0, "The secret was already revoked.\n"]);
    });

    test("warns when the last active secret is revoked", async () => {
      const { secrets } = await shown();
      let last = "";
      for (const { id } of secrets) last = (await typed("revoke", "--id", id)).out;
      assert.match(last, /no active secret left/);
    });

    test("rejects an unknown secret or application with exit code 1", async () => {
      const { code, err } = await typed("revoke", "--id", unknownId);
      assert.deepEqual(
        [code, err],
        [1, `signet secret revoke: the application has no secret "${unknownId}"\n`],
      );
      const args = ["secret", "create", "--org", org, "--app", unknownId];
      assert.equal((await runInProcess(args, settings.env)).code, 1);
    });

    test("rejects a secret for a public application", async () => {
      const args = [
        "app",
        "create",
        "--org",
        org,
        "--name",
        "Phone",
        "--type",
        "native",
        "--redirect-uri",
        "https://a.example/",
      ];
      const { clientId } = await runForJson<{ clientId: string }>(args, settings.env);
      const { code, err } = await runInProcess(
        ["secret", "create", "--org", org, "--app", clientId],
        settings.env,
      );
      assert.equal(code, 1);
      assert.match(err, /native client, which can't have/);
    });

    test("rejects an invalid command line with exit code 2", async () => {
      for (const args of [["revoke"], ["create", "--label", "x".repeat(101)], ["create", "here"]])
        assert.equal((await typed(...args)).code, 2, args.join(" "));
      assert.equal((await runInProcess(["secret", "create", "--org", org], settings.env)).code, 2);
    });

    test("audits every change with the operator as actor", () =>
      assertListed(settings.env, org, "client-secret.revoked"));
  });
});
