import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { openDatabase } from "../../db/open.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { pngOf } from "../../testing/fixtures/images.ts";

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly deleteAfter: string | null;
}

const unknownId = "00000000-0000-7000-8000-000000000000";

describe("signet org", () => {
  forEachDatabase(({ fresh }) => {
    let databaseUrl: string;
    let settings: OperatorSettings;
    const json = <Answer = Shown>(...args: string[]) => runForJson<Answer>(["org", ...args], settings.env);
    const typed = (...args: string[]) => runInProcess(["org", ...args], settings.env);

    before(async () => {
      databaseUrl = await fresh();
      settings = await operatorSettings(databaseUrl);
    });
    after(() => settings.remove());

    test("suggests org create on an empty database", async () => {
      assert.equal((await runInProcess(["migrate"], settings.env)).code, 0);
      assert.match((await typed("list")).out, /No organisations yet: signet org create/);
      assert.deepEqual(await json("list"), { items: [], more: false });
    });

    test("creates, lists, disables and enables an organisation", async () => {
      const made = await json("create", "--name", " Acme ");
      assert.equal(made.name, "Acme");
      assert.equal(made.issuer, `http://localhost:8080/oauth/${made.id}`);
      assert.equal(made.disabledAt, null);
      const other = await json("create", "--name", "Other");
      assert.deepEqual((await json<{ items: Shown[] }>("list")).items, [made, other]);

      const disabled = await json("disable", made.id.toUpperCase());
      assert.ok(Math.abs(Date.parse(disabled.disabledAt ?? "") - Date.now()) < 60_000);
      assert.match((await typed("list")).out, new RegExp(`^${made.id}  Acme +disabled`, "m"));
      assert.deepEqual(await json("disable", made.id, "--enable"), made);
      assert.match((await typed("list")).out, new RegExp(`^${made.id}  Acme +enabled`, "m"));
    });

    test("validates name, colour and lengths as the console does", async () => {
      const { id } = await json("create", "--name", "Plain");
      const set = (...args: string[]) => typed("set", "--org", id, ...args);
      const done = await set("--name", "Fancy", "--accent-color", "#B00020", "--session-idle", "600");
      assert.match(done.out, /^Changed: name, accentColor, sessionIdleSeconds\.$/m);
      assert.equal((await set("--accent-color", "none")).code, 0);
      assert.match((await set("--audit-retention-months", "12")).out, /^Changed: auditRetentionMonths\.$/m);
      for (const [option, value, reason] of [
        ["--name", "x".repeat(101), /1 to 100 characters without control characters/],
        ["--accent-color", "red", /a colour like #2f4fd8/],
        ["--help-link", "http://help.acme.example", /must be an https URL or mailto: and an address/],
        ["--terms-link", "mailto:help@acme.example", /must be an https URL/],
        ["--password-min-length", "7", /from 8 to 128/],
        ["--audit-retention-months", "241", /from 0 to 240/],
        ["--session-lifetime", "599", /at most sessionLifetimeSeconds/],
        ["--default-language", "English", /a language like en/],
      ] as const) {
        const refused = await set(option, value);
        assert.equal(refused.code, 1, option);
        assert.match(refused.err, reason);
      }
      assert.equal((await set("--session-idle", "1e3")).code, 2);
    });

    test("sets account deletion, and a logo from a PNG file", async () => {
      const { id } = await json("create", "--name", "Own");
      const set = (...args: string[]) => typed("set", "--org", id, ...args);
      const kept = async () => {
        const database = openDatabase(databaseUrl);
        const organisation = await findOrganisation(database.query, id);
        await database.close();
        return organisation?.settings;
      };
      assert.match(
        (await set("--account-deletion", "forbidden")).out,
        /Account deletion by users: forbidden/,
      );
      assert.equal((await kept())?.allowAccountDeletion, false);
      const back = await json<{ allowAccountDeletion: boolean }>(
        "set",
        "--org",
        id,
        "--account-deletion",
        "allowed",
      );
      assert.equal(back.allowAccountDeletion, true);
      assert.equal((await set("--account-deletion", "no")).code, 2);
      const folder = await mkdtemp(path.join(os.tmpdir(), "signet-logo-"));
      try {
        const file = path.join(folder, "logo.png");
        await writeFile(file, pngOf(16, 16));
        await set("--accent-color", "#2f4fd8");
        assert.match((await set("--logo", file, "--favicon", file)).out, /^Changed: logo, favicon\.$/m);
        const images = (await kept())?.images;
        assert.deepEqual(Object.keys(images ?? {}).sort(), ["favicon", "logo"]);
        assert.deepEqual([images?.logo?.width, images?.logo?.height], [16, 16]);
        assert.match(
          (await set("--picture", file)).err,
          /logo\.png: the image has too few or too many pixels/,
        );
        await writeFile(file, "<svg/>");
        assert.match((await set("--dark-logo", file)).err, /logo\.png: the file is no image/);
        assert.equal((await set("--logo", "none", "--favicon", "none")).code, 0);
        assert.deepEqual(
          [(await kept())?.images, (await kept())?.branding],
          [{}, { accentColor: "#2f4fd8" }],
        );
        await set("--help-link", "mailto:help@acme.example", "--privacy-link", "https://acme.example/p");
        assert.equal((await set("--privacy-link", "none")).code, 0);
        const left = { accentColor: "#2f4fd8", helpUri: "mailto:help@acme.example" };
        assert.deepEqual((await kept())?.branding, left);
        const told = await set("--sign-in-heading", "en:Welcome: aboard", "--sign-in-text", "da:Til alle");
        assert.match(told.out, /^Changed: signInTexts\.$/m);
        const signInTexts = { en: { heading: "Welcome: aboard" }, da: { text: "Til alle" } };
        assert.deepEqual((await kept())?.branding, { ...left, signInTexts });
        assert.equal((await set("--sign-in-heading", "Welcome")).code, 2);
        assert.match(
          (await set("--sign-in-text", `en:${"x".repeat(301)}`)).err,
          /signInTexts\.en\.text: must be 1 to 300/,
        );
        await set("--sign-in-heading", "en:none", "--sign-in-text", "da:none");
        assert.deepEqual((await kept())?.branding, left);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test("changes single policies and keeps the others", async () => {
      type Policies = Shown & { secondFactor: string; requireVerifiedEmail: boolean };
      const { id } = await json("create", "--name", "Strict");
      const verified = await json<Policies>("set", "--org", id, "--verified-email", "required");
      assert.equal(verified.requireVerifiedEmail, true);
      assert.equal(verified.secondFactor, "optional");
      const both = await json<Policies>("set", "--org", id, "--second-factor", "required");
      assert.deepEqual([both.secondFactor, both.requireVerifiedEmail], ["required", true]);
      const none = await json<Policies>("set", "--org", id, "--verified-email", "optional");
      assert.deepEqual([none.secondFactor, none.requireVerifiedEmail], ["required", false]);
      assert.equal((await typed("set", "--org", id)).code, 2);
      assert.equal((await typed("set", "--org", id, "--verified-email", "yes")).code, 2);
    });

    test("leaves nobody without a way in: methods by email need a mail server", async () => {
      const { id } = await json("create", "--name", "Mail");
      const args = ["set", "--org", id, "--sign-in-methods", "emailCode,magicLink"];
      const refused = await typed(...args);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /--sign-in-methods needs password: email is not configured/);
      const withMail = await runInProcess(["org", ...args], { ...settings.env, ...MAIL_ENV });
      assert.equal(withMail.code, 0, withMail.err);
    });

    test("sets the sign-in methods in their order, and the second factors", async () => {
      type Methods = Shown & { signInMethods: string[]; secondFactorMethods: string[] };
      const { id } = await json("create", "--name", "Keys");
      const set = (...options: string[]) => json<Methods>("set", "--org", id, ...options);
      const first = await set("--sign-in-methods", "passkey,password", "--second-factors", "passkey");
      assert.deepEqual(first.signInMethods, ["passkey", "password"]);
      assert.deepEqual(first.secondFactorMethods, ["passkey"]);
      assert.deepEqual((await set("--sign-in-methods", "password")).signInMethods, ["password"]);
      assert.deepEqual((await set("--second-factors", "none")).secondFactorMethods, []);
      for (const wrong of ["--sign-in-methods=sms", "--sign-in-methods=", "--second-factors=password"])
        assert.equal((await typed("set", "--org", id, wrong)).code, 2, wrong);
      for (const wrong of [
        "--sign-in-methods=none",
        "--second-factors=totp,totp",
        "--second-factor=required",
      ])
        assert.equal((await typed("set", "--org", id, wrong)).code, 1, wrong);
    });

    test("enforces a changed policy immediately", async () => {
      const { id } = await json("create", "--name", "Strict");
      const readPolicy = async () =>
        (await json<{ items: (Shown & { secondFactor: string })[] }>("list")).items.find(
          (organisation) => organisation.id === id,
        )?.secondFactor;
      assert.equal(await readPolicy(), "optional");
      const changed = await json<Shown & { secondFactor: string }>(
        ...["set", "--org", id, "--second-factor", "Required"],
      );
      assert.equal(changed.secondFactor, "required");
      assert.equal(await readPolicy(), "required");
      assert.match(
        (await typed("set", "--org", id, "--second-factor", "optional")).out,
        /Second factor: optional/,
      );
      assert.equal(await readPolicy(), "optional");
      for (const wrong of [["--second-factor", "perhaps"], ["--second-factor", ""], []])
        assert.equal((await typed("set", "--org", id, ...wrong)).code, 2, wrong.join(" "));
    });

    test("audits every change with the operator as actor", async () => {
      const { id } = await json("create", "--name", "Audited");
      await json("disable", id);
      await json("disable", id, "--enable");
      const database = openDatabase(databaseUrl);
      const events = await listAuditEvents(database.query, id, 10);
      await database.close();
      assert.deepEqual(
        events.map(({ actor, action }) => `${actor} ${action}`),
        [
          "operator organisation.enabled",
          "operator organisation.disabled",
          "operator device-ca.created",
          "operator organisation.created",
        ],
      );
    });

    test("rejects an unknown ID with exit code 1", async () => {
      for (const id of [unknownId, "acme", "' or 1=1"]) {
        const { code, out, err } = await typed("disable", id);
        assert.deepEqual([code, out], [1, ""]);
        assert.equal(err, `signet org disable: there is no organisation "${id}"\n`);
      }
    });

    test("rejects a deceptive name", async () => {
      for (const name of ["A\u202ecmE", "line\nbreak", "x".repeat(101)]) {
        const { code, err } = await typed("create", "--name", name);
        assert.equal(code, 1);
        assert.match(err, /1 to 100 characters without control characters/);
      }
    });

    test("shows the first entries with --limit, and that more exist", async () => {
      const { items, more } = await json<{ items: Shown[]; more: boolean }>("list", "--limit", "2");
      assert.deepEqual([items.length, more], [2, true]);
      assert.match((await typed("list", "--limit", "2")).out, /More entries exist/);
    });
  });
});
