import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import type { OrganisationFile } from "../../core/configuration/organisation-file.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
  runProgram,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

interface Outcome {
  readonly upToDate: boolean;
  readonly applied: boolean;
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
  readonly records: ReadonlyArray<{ act: string; kind: string; name: string }>;
  readonly withoutSecret: ReadonlyArray<{ clientId: string; command: string }>;
}

const shop = {
  name: "Shop",
  clientType: "confidential",
  redirectUris: ["https://shop.example/callback"],
  allowedScopes: ["openid", "payroll"],
  organisationConsent: ["openid"],
};
const content = {
  format: "signet-organisation/1",
  branding: { accentColor: "#123456" },
  scopes: [{ name: "payroll", displayName: "Pay" }],
  applications: [shop, { name: "Page", clientType: "spa", redirectUris: ["https://page.example/"] }],
};

describe("signet org export and apply", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    before(async () => {
      settings = await operatorSettings(await fresh());
    });
    after(() => settings.remove());

    const typed = (args: readonly string[], answer = "") =>
      runInProcess(["org", ...args], settings.env, answer);
    const makeOrg = async () =>
      (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    const inFolder = (name: string) => path.join(settings.env["SIGNET_DATA_DIR"] ?? "", name);
    /** @returns the arguments of an apply of this content */
    const applying = async (org: string, file: unknown, name = "acme.json") => {
      await writeFile(inFolder(name), typeof file === "string" ? file : JSON.stringify(file));
      return ["apply", "--org", org, "--file", inFolder(name)];
    };
    const applied = async (org: string, file: unknown, ...more: string[]) =>
      runForJson<Outcome>(["org", ...(await applying(org, file)), ...more], settings.env);
    /** A difference that isn't applied ends with 2. */
    const drift = async (org: string, file: unknown, ...more: string[]) => {
      const { code, out, err } = await typed([
        ...(await applying(org, file)),
        ...more,
        "--dry-run",
        "--json",
      ]);
      assert.deepEqual([code, err], [2, ""]);
      return JSON.parse(out) as Outcome;
    };
    const exported = async (org: string) =>
      JSON.parse((await typed(["export", "--org", org])).out) as OrganisationFile;
    const names = async (org: string) => (await exported(org)).applications?.map(({ name }) => name);

    test("exports the same bytes to standard output and to a file", async () => {
      const org = await makeOrg();
      await applied(org, content, "--yes");
      const out = inFolder("out.json");
      const { out: text, err } = await typed(["export", "--org", org]);
      assert.equal(err, "");
      const told = await typed(["export", "--org", org, "--out", out]);
      assert.equal(told.out, `${out}: 2 applications, 1 scopes, branding and policies.\n`);
      assert.equal(await readFile(out, "utf8"), text);
      assert.ok(
        text.startsWith('{\n  "format": "signet-organisation/1",\n  "branding": {\n') && text.endsWith("}\n"),
      );
      const counts = await runForJson(["org", "export", "--org", org, "--out", out], settings.env);
      assert.deepEqual(counts, { file: out, applications: 2, scopes: 1 });
    });

    test("applies the shown difference only after a yes", async () => {
      const org = await makeOrg();
      const args = await applying(org, content);
      const no = await typed(args, "no");
      assert.deepEqual([no.code, no.err], [0, ""]);
      const shown = no.out.split("\n");
      assert.equal(shown[0], `"Acme" (${org})`);
      for (const line of [
        "  ~ organisation: branding and policies",
        '      branding.accentColor  "#123456"',
        '  + scope "payroll"',
        '  + application "Shop"',
        '      redirectUris  + "https://shop.example/callback"',
        '  + consent for all users of "Shop"',
        "4 created, 1 changed, 0 removed, 0 left alone.",
        "Nothing was changed.",
      ])
        assert.ok(shown.includes(line), `${line} in\n${no.out}`);
      assert.deepEqual(await names(org), []);
      const yes = await typed(args, "yes");
      assert.equal(yes.code, 0);
      assert.deepEqual(await names(org), ["Page", "Shop"]);
      const again = await typed(args);
      assert.equal(again.code, 0);
      assert.match(again.out, /^Already up to date\.$/m);
    });

    test("refuses sign-in methods that would lock everybody out", async () => {
      const org = await makeOrg();
      const policies = { signInMethods: ["magicLink"] };
      const args = await applying(org, { ...content, policies });
      const { code, err } = await typed([...args, "--yes"]);
      assert.equal(code, 1);
      assert.match(err, /policies\.signInMethods needs password: email is not configured/);
      assert.deepEqual(await names(org), []);
    });

    test("changes nothing without a terminal to confirm on", async () => {
      const org = await makeOrg();
      const args = await applying(org, content);
      const { code, err } = await typed(args);
      assert.equal(code, 2);
      assert.match(err, /no terminal to confirm on: review with --dry-run, then add --yes/);
      const asJson = await typed([...args, "--json"], "yes");
      assert.equal(asJson.code, 2);
      assert.deepEqual(await names(org), []);
    });

    test("changes nothing with --dry-run, and doesn't ask with --yes", async () => {
      const org = await makeOrg();
      const dry = await drift(org, content);
      assert.deepEqual([dry.upToDate, dry.applied, dry.created, dry.changed], [false, false, 4, 1]);
      assert.deepEqual(await names(org), []);
      const both = await drift(org, content, "--yes");
      assert.deepEqual([both.applied, await names(org)], [false, []]);
      const done = await applied(org, content, "--yes");
      assert.deepEqual([done.upToDate, done.applied, done.created], [false, true, 4]);
      const again = await applied(org, content, "--yes");
      assert.deepEqual([again.upToDate, again.applied, again.records], [true, false, []]);
      assert.equal((await applied(org, content, "--dry-run")).upToDate, true);
    });

    test("refuses with --dry-run, and before it asks, what the organisation's records forbid", async () => {
      const org = await makeOrg();
      const resource = { identifier: "https://stock.example/api", name: "Stock", scopes: ["nothing"] };
      const args = await applying(org, { ...content, resources: [resource] });
      for (const more of [["--dry-run"], []]) {
        const { code, err } = await typed([...args, ...more], "yes");
        assert.deepEqual([code, err.includes("/resources/0/scopes/0: ")], [1, true], err);
      }
      assert.deepEqual(await names(org), []);
    });

    test("names the command that creates a missing client secret until one exists", async () => {
      const org = await makeOrg();
      const args = await applying(org, content);
      const { out } = await typed([...args, "--yes"]);
      const id = (await exported(org)).applications?.find(({ name }) => name === "Shop")?.id ?? "";
      const command = `signet secret create --org ${org} --app ${id}`;
      assert.ok(
        out.includes(
          `\nApplied.\n\nApplications without a client secret. To create one, shown once:\n  ${command}  # Shop\n`,
        ),
        out,
      );
      const again = await applied(org, content, "--yes");
      assert.deepEqual(again.withoutSecret, [{ clientId: id, name: "Shop", command }]);
      assert.equal((await runInProcess(command.split(" ").slice(1), settings.env)).code, 0);
      assert.deepEqual((await applied(org, content, "--yes")).withoutSecret, []);
    });

    test("removes records missing from the file with --prune, and names what is lost", async () => {
      const org = await makeOrg();
      await applied(org, content, "--yes");
      const less = { ...content, scopes: [], applications: [{ ...shop, allowedScopes: ["openid"] }] };
      const kept = await typed([...(await applying(org, less)), "--yes"]);
      assert.match(kept.out, /^ {2}\. application "Page" \(.+\): not in the file, left alone$/m);
      assert.deepEqual(await names(org), ["Page", "Shop"]);
      const gone = await typed([...(await applying(org, less)), "--yes", "--prune"]);
      assert.match(
        gone.out,
        /^ {2}- application "Page" \(.+\): permanently, with its secrets, tokens, consents and/m,
      );
      assert.match(gone.out, /^ {2}- scope "payroll": it no longer adds claims$/m);
      assert.deepEqual(await names(org), ["Shop"]);
    });

    test("carries the sign-in methods, in their order, and the second factors", async () => {
      const [org, copy] = [await makeOrg(), await makeOrg()];
      const policies = { signInMethods: ["passkey", "password"], secondFactorMethods: ["passkey"] };
      const told = await typed([...(await applying(org, { ...content, policies })), "--yes"]);
      assert.equal(told.code, 0, told.err);
      assert.match(told.out, /^ {6}policies\.signInMethods .*"passkey"/m);
      assert.match(told.out, /^ {6}policies\.secondFactorMethods .*"totp"/m);
      const file = await exported(org);
      assert.deepEqual(file.policies?.signInMethods, ["passkey", "password"]);
      assert.deepEqual(file.policies?.secondFactorMethods, ["passkey"]);
      await applied(copy, { format: file.format, policies: file.policies }, "--yes");
      assert.deepEqual((await exported(copy)).policies, file.policies);
      assert.equal((await applied(copy, { format: file.format, policies }, "--yes")).upToDate, true);

      const none = { signInMethods: ["password"], secondFactorMethods: [] };
      await applied(copy, { format: file.format, policies: none }, "--yes");
      const back = (await exported(copy)).policies;
      assert.deepEqual([back?.signInMethods, back?.secondFactorMethods], [["password"], []]);
      assert.deepEqual((await exported(org)).policies, file.policies, "the other organisation keeps its own");
    });

    test("refuses sign-in methods that nobody could sign in with, and changes nothing", async () => {
      const org = await makeOrg();
      const kept = (await exported(org)).policies;
      for (const [policies, path] of [
        [{ signInMethods: [] }, "/policies/signInMethods"],
        [{ signInMethods: ["sms"] }, "/policies/signInMethods/0"],
        [{ signInMethods: ["password", "password"] }, "/policies/signInMethods"],
        [{ secondFactorMethods: ["password"] }, "/policies/secondFactorMethods/0"],
        [
          { signInMethods: ["password"], secondFactorMethods: [], secondFactor: "required" },
          "/policies/secondFactor",
        ],
      ] as const) {
        const file = { format: content.format, policies };
        const { code, err } = await typed([...(await applying(org, file)), "--yes"]);
        assert.equal(code, 1, path);
        assert.ok(err.includes(`${path}: `), err);
        assert.deepEqual((await exported(org)).policies, kept, path);
      }
    });

    test("announces token revocation for a narrower consent only", async () => {
      const org = await makeOrg();
      const allowing = (organisationConsent: readonly string[]) => ({
        ...content,
        applications: [{ ...shop, organisationConsent }],
      });
      await applied(org, allowing(["openid"]), "--yes");
      const wider = await typed([...(await applying(org, allowing(["openid", "payroll"]))), "--yes"]);
      assert.match(wider.out, /^ {2}~ consent for all users of "Shop"\n {6}scopes {2}\+ "payroll"$/m);
      const narrower = await typed([...(await applying(org, allowing(["payroll"]))), "--yes"]);
      assert.match(
        narrower.out,
        /^ {2}~ consent for all users of "Shop": revokes the tokens issued under it\n {6}scopes {2}- "openid"$/m,
      );
    });

    test("names every error of the file by its path, and changes nothing", async () => {
      const org = await makeOrg();
      const wrong = {
        ...content,
        applications: [
          { ...shop, secrets: [], accessTokenLifetimeSeconds: 1 },
          { ...shop, clientType: "x" },
        ],
      };
      const { code, out, err } = await typed([...(await applying(org, wrong)), "--yes"]);
      assert.deepEqual([code, out], [1, ""]);
      assert.equal(
        err,
        `signet org apply: ${inFolder("acme.json")} has 2 errors; nothing was changed:\n` +
          "  /applications/0/secrets: is unknown\n" +
          "  /applications/1/clientType: must be one of confidential, public, native, spa\n",
      );
      // What only the organisation can tell.
      await applied(org, content, "--yes");
      const other = { ...content, applications: [{ ...shop, clientType: "spa" }] };
      assert.match(
        (await typed([...(await applying(org, other)), "--yes"])).err,
        /has 1 error; nothing was changed:\n {2}\/applications\/0\/clientType: is confidential and cannot be changed/,
      );
      assert.match((await typed([...(await applying(org, "{"))])).err, /\/: is not JSON/);
      assert.match(
        (await typed(["apply", "--org", org, "--file", "/nowhere"])).err,
        /--file \/nowhere: ENOENT/,
      );
    });

    test("escapes control characters of a name", async () => {
      const org = await makeOrg();
      const told = { ...content, applications: [{ ...shop, "\u001b[2J": 1 }] };
      const { err } = await typed([...(await applying(org, told)), "--yes"]);
      assert.ok(!err.includes("\u001b") && err.includes("?[2J: is unknown"), err);
    });

    test("rejects an unknown organisation and missing options", async () => {
      const none = "00000000-0000-7000-8000-000000000000";
      assert.match((await typed(["export", "--org", none])).err, /there is no organisation/);
      const absent = await typed([...(await applying(none, content)), "--yes"]);
      assert.deepEqual([absent.code, absent.out], [1, ""]);
      assert.equal((await typed(["apply", "--org", none])).code, 2);
    });

    test("warns about applications that share a name", async () => {
      const org = await makeOrg();
      const twins = ["one", "two"].map((externalKey) => ({ ...shop, externalKey }));
      await applied(org, { ...content, applications: twins }, "--yes");
      assert.equal((await typed(["export", "--org", org])).err, "");
      const file = await exported(org);
      const keyless = file.applications?.map((one) => ({ ...one, externalKey: undefined }));
      await applied(org, { ...file, applications: keyless }, "--yes");
      const { code, err } = await typed(["export", "--org", org]);
      assert.equal(code, 0);
      assert.match(err, /several applications are named "Shop"/);
    });
  });

  test("applies one organisation's export to another", async () => {
    const settings = await operatorSettings("");
    try {
      const env = { ...settings.env, DATABASE_URL: "" };
      const newOrg = async (name: string) =>
        (await runForJson<{ id: string }>(["org", "create", "--name", name], env)).id;
      const [from, to] = [await newOrg("A"), await newOrg("B")];
      const file = path.join(settings.env["SIGNET_DATA_DIR"] ?? "", "acme.json");
      await writeFile(file, JSON.stringify(content));
      const args = ["org", "apply", "--yes", "--json", "--org"];
      assert.equal((await runInProcess([...args, from, "--file", file], env)).code, 0);
      const { out } = await runProgram(["org", "export", "--org", from], env);
      const piped = await runProgram([...args, to, "--file", "-"], env, out);
      assert.equal(piped.err, "");
      assert.equal((JSON.parse(piped.out) as Outcome).created, 4);
    } finally {
      await settings.remove();
    }
  });
});
