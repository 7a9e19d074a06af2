import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

type Shown = Record<string, unknown> & { readonly id: string };

describe("signet scope, consent, preauth", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    let app: string;
    const json = <Answer = Shown>(command: string, ...args: string[]) =>
      runForJson<Answer>([...command.split(" "), ...args, "--org", org], settings.env);
    const typed = (command: string, ...args: string[]) =>
      runInProcess([...command.split(" "), ...args, "--org", org], settings.env);
    const items = async (command: string) => (await json<{ items: Shown[] }>(command)).items;

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
      const create = ["--name", "Pay", "--type", "confidential", "--redirect-uri", "https://pay.example/cb"];
      const made = await json<{ clientId: string; consentMode: string; requireConsent: boolean }>(
        "app create",
        ...create,
        "--scope",
        "openid",
        "--scope",
        "email",
        "--consent-mode",
        "organisation",
      );
      app = made.clientId;
      assert.deepEqual([made.consentMode, made.requireConsent], ["organisation", true]);
    });
    after(() => settings.remove());

    test("creates, lists, partly changes and deletes a scope", async () => {
      assert.match((await typed("scope list")).out, /No custom scopes yet/);
      const claims = ["--claim", "department=user:attributes.department", "--claim", "level=static:7"];
      const text = [
        "--name",
        "hr",
        "--display-name",
        "Your department",
        ...claims,
        "--claim",
        "tier=static:gold",
      ];
      const made = await json("scope create", ...text, "--sensitive");
      assert.deepEqual(made["claims"], [
        { name: "department", source: "user", path: "attributes.department" },
        { name: "level", source: "static", value: 7 },
        { name: "tier", source: "static", value: "gold" },
      ]);
      assert.equal(made["sensitive"], true);
      const changed = await json(
        "scope update",
        "hr",
        "--claim",
        "teams=membership:groups",
        "--not-sensitive",
      );
      assert.deepEqual(changed["claims"], [{ name: "teams", source: "membership", path: "groups" }]);
      assert.deepEqual([changed["sensitive"], changed["displayName"]], [false, "Your department"]);
      assert.deepEqual((await json("scope update", made.id, "--no-claims"))["claims"], []);
      assert.deepEqual(
        (await items("scope list")).map(({ id }) => id),
        [made.id],
      );
      assert.equal((await typed("scope delete", "hr")).code, 0);
      assert.equal((await typed("scope delete", "hr")).code, 1);
      assert.deepEqual(await items("scope list"), []);
    });

    test("rejects a reserved claim, a standard scope and an unreadable claim", async () => {
      const named = ["--name", "hr", "--display-name", "HR"];
      const reserved = await typed("scope create", ...named, "--claim", "sub=static:root");
      assert.equal(reserved.code, 1);
      assert.match(reserved.err, /claims\[0\]\.name: sub is reserved/);
      assert.equal((await typed("scope create", "--name", "openid", "--display-name", "x")).code, 1);
      for (const claim of ["x", "x=y", "x=env:HOME", "=user:email"])
        assert.equal((await typed("scope create", ...named, "--claim", claim)).code, 2, claim);
    });

    test("grants, lists and revokes organisation consents and pre-authorizations", async () => {
      const granted = await json("consent grant-organisation", "--app", app, "--scope", "openid");
      const more = await json("consent grant-organisation", "--app", app, "--scope", "email");
      assert.deepEqual(
        [more.id, more["scopes"], more["kind"]],
        [granted.id, ["openid", "email"], "organisation"],
      );
      assert.deepEqual(
        (await items("consent list")).map(({ id }) => id),
        [granted.id],
      );
      const ahead = await json("preauth create", "--app", app, "--scope", "openid email");
      assert.deepEqual(
        (await items("preauth list")).map(({ id, scopes }) => [id, scopes]),
        [[ahead.id, ["openid", "email"]]],
      );
      for (const [command, id] of [
        ["consent revoke", granted.id],
        ["preauth delete", ahead.id],
      ] as const) {
        assert.equal((await typed(command, id)).code, 0);
        assert.equal((await typed(command, id)).code, 1);
      }
      assert.deepEqual([await items("consent list"), await items("preauth list")], [[], []]);
      const refused = await typed("preauth create", "--app", app, "--scope", "phone");
      assert.match(refused.err, /may not request phone/);
      assert.equal((await typed("preauth create", "--app", app)).code, 2);
    });

    test("doesn't find another organisation's records", async () => {
      const { id: foreign } = await runForJson<{ id: string }>(
        ["org", "create", "--name", "Other"],
        settings.env,
      );
      const granted = await json("consent grant-organisation", "--app", app, "--scope", "openid");
      const at = (...args: string[]) => runInProcess([...args, "--org", foreign], settings.env);
      assert.equal((await at("consent", "revoke", granted.id)).code, 1);
      assert.equal((await at("preauth", "create", "--app", app, "--scope", "openid")).code, 1);
      assert.equal((await at("scope", "update", "email", "--no-claims")).code, 1);
      assert.equal((await items("consent list")).length, 1);
    });

    test("replaces a user's attributes and groups", async () => {
      const email = ["--email", "ada@acme.example"];
      await json("user create", ...email, "--generate");
      const values = ["--attribute", "department=Finance", "--attribute", "level=7", "--group", "staff"];
      const set = await json("user set-attributes", ...email, ...values, "--membership-attribute", "desk=A1");
      assert.deepEqual(set["attributes"], { department: "Finance", level: 7 });
      assert.deepEqual(set["membership"], { groups: ["staff"], attributes: { desk: "A1" } });
      assert.equal((await typed("user set-attributes", ...email, "--attribute", "__x y=1")).code, 1);
      assert.equal((await typed("user set-attributes", ...email, "--attribute", "x")).code, 2);
    });
  });
});
