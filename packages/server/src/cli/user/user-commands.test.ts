import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { createRecoveryCodes } from "../../core/second-factors/recovery-codes/recovery-codes.ts";
import { findFactorSummary } from "../../core/second-factors/second-factors.store.ts";
import { addTotp, newTotpSecret } from "../../core/second-factors/totp/totp.ts";
import { bindSession } from "../../core/sessions/sessions.store.ts";
import { findCurrentSession, signIn } from "../../core/sessions/sessions.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { openService, type Service } from "../../modules/open-service.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

interface Shown {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly role: string;
  readonly disabledAt: string | null;
  readonly password?: string;
}

const PASSWORD = "plum tractor ninety";
const unknownId = "00000000-0000-4000-8000-000000000000";

describe("signet user", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const json = <Answer = Shown>(args: string[], password = "") =>
      runForJson<Answer>(["user", ...args, "--org", org], settings.env, password);
    const typed = (args: string[], password = "") =>
      runInProcess(["user", ...args, "--org", org], settings.env, password);

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(() => settings.remove());

    /** Whether the password is the user's. */
    const signsIn = async (email: string, password: string) => {
      const service = await openService(readConfig(settings.env), { onError: assert.ifError });
      const found = await findUserByEmail(service.database.query, org, email);
      const fits = await service.passwords.verify(found?.passwordHash ?? undefined, password, "");
      await service.close();
      return fits;
    };

    test("creates a user with the typed password and lists the user without it", async () => {
      const made = await json(
        [
          "create",
          "--email",
          "Ada@example.com",
          "--firstname",
          "Ada",
          "--surname",
          "Love",
          "--phone",
          "+4512345678",
        ].concat(["--role", "administrator", "--verified"]),
        PASSWORD,
      );
      assert.deepEqual(
        { ...made, id: "", createdAt: "" },
        {
          id: "",
          email: "Ada@example.com",
          emailVerified: true,
          firstname: "Ada",
          surname: "Love",
          phone: "+4512345678",
          locale: null,
          role: "Administrator",
          createdAt: "",
          disabledAt: null,
        },
      );
      assert.ok(await signsIn("ada@example.com", PASSWORD));
      assert.deepEqual((await json<{ items: Shown[] }>(["list"])).items, [made]);
      const list = (await typed(["list"])).out;
      assert.match(list, /Ada@example.com +Ada Love +Administrator +enabled/);
    });

    test("shows a generated password once", async () => {
      const made = await json(["create", "--email", "bo@example.com", "--generate"]);
      assert.deepEqual([made.role, made.emailVerified], ["Standard", false]);
      const password = made.password ?? "";
      assert.ok(password.length >= 20);
      assert.ok(await signsIn("bo@example.com", password));
      const shown = [await typed(["list"]), await typed(["list", "--json"])];
      for (const { out } of shown) {
        assert.ok(out.includes("bo@example.com"));
        assert.ok(!out.includes(password));
      }
    });

    test("never prints a password hash", async () => {
      const answers = [
        await typed(["create", "--email", "cy@example.com", "--json"], PASSWORD),
        await typed(["set-password", "--email", "cy@example.com"], `${PASSWORD} seven`),
        await typed(["list", "--json"]),
        await typed(["disable", "--email", "cy@example.com", "--json"]),
      ];
      for (const { code, out } of answers) {
        assert.equal(code, 0);
        assert.doesNotMatch(out, /argon2|hash|plum tractor/i);
      }
    });

    test("replaces the password of a user named by ID or email address in any case", async () => {
      const { id } = await json(["create", "--email", "di@example.com"], PASSWORD);
      const { password = "" } = await json(["set-password", "--email", "DI@example.com", "--generate"]);
      assert.ok(await signsIn("di@example.com", password));
      assert.ok(!(await signsIn("di@example.com", PASSWORD)));
      const { code, out } = await typed(["set-password", "--id", id.toUpperCase()], "another good phrase");
      assert.equal(code, 0);
      assert.ok(!out.includes("another good phrase"));
      assert.ok(await signsIn("di@example.com", "another good phrase"));
    });

    test("disables and enables a user", async () => {
      const { id } = await json(["create", "--email", "ed@example.com", "--generate"]);
      assert.notEqual((await json(["disable", "--id", id])).disabledAt, null);
      assert.match((await typed(["list"])).out, /ed@example.com +Standard +disabled/);
      assert.equal((await json(["disable", "--email", "ed@example.com", "--enable"])).disabledAt, null);
    });

    test("removes the second factors of the named user only", async () => {
      const people = [
        await json(["create", "--email", "tofa@example.com", "--generate"]),
        await json(["create", "--email", "tofb@example.com", "--generate"]),
      ];
      const owners = people.map(({ id }) => ({ homeOrgId: org, userId: id }));
      const withService = async <T>(work: (service: Service) => Promise<T>): Promise<T> => {
        const service = await openService(readConfig(settings.env), { onError: assert.ifError });
        return work(service).finally(() => service.close());
      };
      await withService(async (service) => {
        for (const owner of owners) {
          const added = { secret: await newTotpSecret(), step: 0, now: 1 };
          await addTotp(service, service.database.query, owner, added);
          await createRecoveryCodes(service.database.query, owner, 1);
        }
      });
      const { code, out } = await typed(["reset-factors", "--email", "TOFA@example.com"]);
      assert.deepEqual([code, out.split("\n")[0]], [0, "tofa@example.com no longer has a second factor."]);
      const left = await withService(({ database }) =>
        Promise.all(owners.map((owner) => findFactorSummary(database.query, owner))),
      );
      assert.deepEqual(left, [
        { hasTotp: false, passkeys: 0, recoveryCodes: 0 },
        { hasTotp: true, passkeys: 0, recoveryCodes: 10 },
      ]);
      assert.equal((await typed(["reset-factors", "--id", unknownId])).code, 1);
      assert.equal((await typed(["reset-factors"])).code, 2);
    });

    test("reports a core error with exit code 1", async () => {
      await json(["create", "--email", "fy@example.com", "--generate"]);
      for (const [args, password, reason] of [
        [
          ["--email", "fy@EXAMPLE.com"],
          PASSWORD,
          "the organisation already has a user with this email address",
        ],
        [["--email", "nobody"], PASSWORD, "the email address is not valid"],
        [["--email", "gy@example.com"], "too short", "the password must have at least 12 characters"],
        [
          ["--email", "gy@example.com", "--firstname", "a\nb"],
          PASSWORD,
          "a name must have at most 100 characters without control characters",
        ],
      ] as const) {
        const { code, out, err } = await typed(["create", ...args], password);
        assert.deepEqual([code, out, err], [1, "", `signet user create: ${reason}\n`]);
      }
    });

    test("rejects an unknown user or organisation with exit code 1", async () => {
      for (const command of ["disable", "set-password"]) {
        for (const which of [
          ["--id", unknownId],
          ["--email", "nobody@example.com"],
        ]) {
          const { code, err } = await typed([command, ...which], PASSWORD);
          assert.deepEqual(
            [code, err],
            [1, `signet user ${command}: there is no user "${which[1]}" in this organisation\n`],
          );
        }
      }
      const { code, err } = await runInProcess(["user", "list", "--org", unknownId], settings.env);
      assert.deepEqual([code, err], [1, `signet user list: there is no organisation "${unknownId}"\n`]);
    });

    test("doesn't find a user of another organisation", async () => {
      const other = await runForJson<{ id: string }>(["org", "create", "--name", "Other"], settings.env);
      const args = ["user", "create", "--org", other.id, "--email", "zoe@example.com", "--generate"];
      const { id } = await runForJson<Shown>(args, settings.env);
      assert.equal((await typed(["disable", "--id", id])).code, 1);
      assert.equal((await typed(["set-password", "--email", "zoe@example.com", "--generate"])).code, 1);
      assert.doesNotMatch((await typed(["list"])).out, /zoe/);
    });

    test("rejects an invalid command line with exit code 2", async () => {
      for (const args of [
        ["create"],
        ["create", "--email", "hy@example.com", "--role", "king"],
        ["create", "--email", "hy@example.com"],
        ["disable"],
        ["disable", "--id", unknownId, "--email", "hy@example.com"],
        ["list", "--limit", "many"],
        ["create", "--email", "hy@example.com", "--password", "secret"],
      ]) {
        const { code, out, err } = await typed(args);
        assert.deepEqual([code, out], [2, ""], args.join(" "));
        assert.match(err, new RegExp(`See: signet user ${args[0]} --help`));
      }
    });

    test("revokes sessions and refresh tokens on sign-out, and audits the operator", async () => {
      const email = "roma@example.com";
      const made = await json(["create", "--email", email], PASSWORD);
      const service = await openService(readConfig(settings.env), { onError: assert.ifError });
      try {
        const organisation = await findOrganisation(service.database.query, org);
        const found = await findUserByEmail(service.database.query, org, email);
        assert.ok(organisation && found);
        const { token, session } = await signIn(service, {
          organisation,
          user: found.user,
          amr: ["pwd"],
          acr: "urn:signet:acr:pwd",
          address: "192.0.2.1",
          userAgent: "",
          before: undefined,
        });
        const { items } = await json<{ items: Array<Record<string, unknown>> }>([
          "sessions",
          "--id",
          made.id,
        ]);
        assert.equal(items.length, 1);
        const { id, createdAt, expiresAt, address, methods, deviceBound, boundAt, deviceId } = items[0] ?? {};
        assert.deepEqual([deviceBound, boundAt, deviceId], [false, null, null]);
        assert.match(String(id), /^[0-9a-f-]{36}$/);
        assert.ok(Date.parse(String(expiresAt)) > Date.parse(String(createdAt)));
        assert.deepEqual([address, methods], ["192.0.2.1", ["pwd"]]);
        assert.match(
          (await typed(["sessions", "--email", email])).out,
          new RegExp(`^${id} .*192\\.0\\.2\\.1 +no`, "m"),
        );
        const bound = { orgId: org, id: session.id, boundKey: "{}", now: session.createdAt };
        assert.ok(await bindSession(service.database.query, bound));
        const again = await json<{ items: Array<Record<string, unknown>> }>(["sessions", "--id", made.id]);
        assert.deepEqual([again.items[0]?.["deviceBound"], again.items[0]?.["boundAt"]], [true, createdAt]);
        assert.match((await typed(["sessions", "--email", email])).out, /192\.0\.2\.1 +yes/);
        assert.match(
          (await typed(["sign-out", "--id", made.id])).out,
          /roma@example\.com is signed out everywhere/,
        );
        assert.equal(await findCurrentSession(service, organisation, token), undefined);
        assert.match((await typed(["sessions", "--id", made.id])).out, /signed in nowhere/);
        const [event] = await listAuditEvents(service.database.query, org, 1);
        assert.deepEqual(
          [event?.action, event?.actor, event?.target],
          ["user.signed-out-everywhere", "operator", made.id],
        );
      } finally {
        await service.close();
      }
      assert.equal((await typed(["sign-out", "--id", unknownId])).code, 1);
    });
  });
});
