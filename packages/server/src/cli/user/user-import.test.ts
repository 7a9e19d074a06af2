import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { directSource } from "../../core/rate-limits/guess-source.ts";
import { checkPassword } from "../../core/users/check-password.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { openService, type Service } from "../../modules/open-service.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  auth0Export,
  BCRYPT,
  firebaseExport,
  firebaseHashConfig,
  keycloakCredential,
  keycloakExport,
  keycloakUser,
  MOVED_PASSWORD,
} from "../../testing/moving-files.ts";

interface Answer {
  readonly created: number;
  readonly skipped: number;
  readonly failed: ReadonlyArray<{ readonly line: number; readonly reason: string }>;
  readonly ignored?: ReadonlyArray<{ readonly what: string; readonly users: number }>;
}

describe("signet user import", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let service: Service;
    let org: string;
    before(async () => {
      settings = await operatorSettings(await fresh());
      service = await openService(readConfig(settings.env), { onError: assert.ifError });
    });
    after(async () => {
      await service.close();
      await settings.remove();
    });

    const newOrganisation = async () => {
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    };
    const write = async (name: string, content: string) => {
      const file = path.join(settings.env.SIGNET_DATA_DIR ?? "", name);
      await writeFile(file, content);
      return file;
    };
    const run = async (format: string, content: string, more: readonly string[] = []) => {
      const file = await write("users", content);
      const args = ["user", "import", "--org", org, "--file", file, "--format", format, "--json", ...more];
      const { code, out, err } = await runInProcess(args, settings.env);
      await rm(file);
      return { code, err, answer: (out === "" ? undefined : JSON.parse(out)) as Answer | undefined };
    };
    const find = (email: string) => findUserByEmail(service.database.query, org, email);
    const signIn = async (email: string, password: string) => {
      const deps = { ...service, rateLimits: service.config.rateLimits };
      const right = await checkPassword(deps, {
        ...{ orgId: org, email, password, source: directSource("127.0.0.1") },
      });
      return typeof right === "string" ? right : right.user.email;
    };
    /** A wrong password is a failure, the right one signs in twice: with the imported hash, and with ours. */
    const assertMovedIn = async (email: string) => {
      const imported = (await find(email))?.passwordHash;
      assert.doesNotMatch(imported ?? "", /\$m=19456,t=2,p=1\$/, email);
      assert.equal(await signIn(email, "correct horsf"), "invalid-credentials", email);
      assert.equal((await find(email))?.passwordHash, imported, email);
      assert.equal(await signIn(email, MOVED_PASSWORD), email);
      assert.match((await find(email))?.passwordHash ?? "", /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/, email);
      assert.equal(await signIn(email, MOVED_PASSWORD), email);
      assert.equal(await signIn(email, "correct horsf"), "invalid-credentials", email);
    };

    test("a realm export of Keycloak", async () => {
      await newOrganisation();
      const { code, answer } = await run("keycloak", JSON.stringify(keycloakExport(), null, 2));
      assert.equal(code, 0);
      assert.deepEqual([answer?.created, answer?.skipped, answer?.failed], [6, 0, []]);
      const ignored = Object.fromEntries((answer?.ignored ?? []).map(({ what, users }) => [what, users]));
      assert.equal(ignored.realmRoles, 6);
      assert.equal(ignored.groups, 1);
      assert.equal(ignored["credentials (otp)"], 1);
      assert.equal(ignored.federatedIdentities, 1);
      assert.equal(ignored["accounts that are no person's"], 1);
      for (const name of ["sha1", "sha256", "sha512", "argon2"]) await assertMovedIn(`${name}@kc.example`);
      assert.equal(
        await signIn("blocked@kc.example", MOVED_PASSWORD),
        "disabled",
        "blocked there, blocked here",
      );
      const [social, ada] = [await find("social@kc.example"), await find("sha1@kc.example")];
      assert.deepEqual([social?.passwordHash, social?.user.emailVerified], [null, true]);
      assert.deepEqual([ada?.user.firstname, ada?.user.surname, ada?.user.role], ["Ada", "Love", "Standard"]);
      assert.equal((await find("blocked@kc.example"))?.user.emailVerified, false);
    });

    test("a bulk export of Auth0", async () => {
      await newOrganisation();
      const { code, answer } = await run("auth0", auth0Export());
      assert.equal(code, 0);
      assert.deepEqual([answer?.created, answer?.failed], [4, []]);
      for (const name of ["bcrypt", "imported", "pbkdf2"]) await assertMovedIn(`${name}@a0.example`);
      assert.equal(await signIn("scrypt@a0.example", MOVED_PASSWORD), "disabled");
      const { firstname, surname } = (await find("imported@a0.example"))?.user ?? {};
      assert.deepEqual([firstname, surname], ["Ada Augusta", "Lovelace"]);
      assert.equal((await find("bcrypt@a0.example"))?.user.emailVerified, true);
    });

    test("an export of Firebase with its hash configuration", async () => {
      await newOrganisation();
      const signerKey = randomBytes(64);
      const users = JSON.stringify(firebaseExport(signerKey));
      const without = await run("firebase", users);
      assert.equal(without.code, 1);
      assert.match(without.answer?.failed[0]?.reason ?? "", /--hash-config/);
      const config = await write("hash-config", firebaseHashConfig(signerKey));
      const { code, answer } = await run("firebase", users, ["--hash-config", config]);
      assert.equal(code, 0);
      assert.deepEqual([answer?.created, answer?.failed], [3, []]);
      const stored = (await find("ada@fb.example"))?.passwordHash ?? "";
      assert.ok(!stored.includes(signerKey.toString("base64").slice(0, 16)));
      await assertMovedIn("ada@fb.example");
      assert.equal(await signIn("off@fb.example", MOVED_PASSWORD), "disabled");
      assert.equal((await find("google@fb.example"))?.passwordHash, null);
    });

    test("Signet's own columns, as lines of JSON and as CSV; whom the organisation has is skipped", async () => {
      await newOrganisation();
      const line = { email: "ada@own.example", firstname: "Ada", surname: "Love", emailVerified: true };
      const lines = [{ ...line, passwordHash: BCRYPT }, { email: "bo@own.example" }];
      const first = await run("jsonl", `${lines.map((one) => JSON.stringify(one)).join("\n")}\n\n`);
      assert.deepEqual(first.answer, { created: 2, skipped: 0, failed: [] });
      const csv = [
        "email,firstname,surname,emailVerified,passwordHash",
        `ADA@own.example,Other,Name,false,`,
        `cy@own.example,Cy,"Brown, Jr",true,${BCRYPT}`,
      ].join("\r\n");
      const second = await run("csv", csv);
      assert.deepEqual([second.code, second.answer], [0, { created: 1, skipped: 1, failed: [] }]);
      await assertMovedIn("ada@own.example");
      await assertMovedIn("cy@own.example");
      const [ada, cy] = [await find("ada@own.example"), await find("cy@own.example")];
      assert.deepEqual([ada?.user.firstname, ada?.user.emailVerified], ["Ada", true]);
      assert.deepEqual([cy?.user.surname, cy?.user.emailVerified], ["Brown, Jr", true]);
      const { query } = service.database;
      const events = await listAuditEvents(query, org, 50);
      const made = events.filter(({ action }) => action === "user.created");
      assert.deepEqual(
        made.map(({ actor, target }) => [actor, target]).sort(),
        [ada, await find("bo@own.example"), cy].map((one) => ["operator", one?.user.id]).sort(),
      );
    });

    test("one faulty line, and nothing is created: every fault is told by its line, without the hash", async () => {
      await newOrganisation();
      const good = JSON.stringify({ email: "good@own.example", passwordHash: BCRYPT });
      const lines = [
        good,
        "not json",
        "[]",
        JSON.stringify({ email: "not-an-address" }),
        JSON.stringify({ firstname: "Nobody" }),
        JSON.stringify({ email: "GOOD@own.example" }),
        JSON.stringify({ email: "a@own.example", passwordHash: BCRYPT.replace("$10$", "$31$") }),
        JSON.stringify({ email: "b@own.example", passwordHash: "5f4dcc3b5aa765d61d8327deb882cf99" }),
        JSON.stringify({ email: "c@own.example", emailVerified: "yes" }),
        JSON.stringify({ email: "d@own.example", pasword: "x" }),
        JSON.stringify({ email: "e@own.example", firstname: "x".repeat(101) }),
        JSON.stringify({ email: 7 }),
      ];
      const { code, answer } = await run("jsonl", lines.join("\n"));
      assert.equal(code, 1);
      assert.deepEqual([answer?.created, answer?.skipped], [0, 0]);
      assert.deepEqual(
        answer?.failed.map(({ line }) => line),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      );
      assert.ok(answer?.failed.every(({ reason }) => reason.length > 10 && !reason.includes("abcdefghij")));
      assert.equal(await find("good@own.example"), undefined);
      assert.equal((await run("jsonl", good)).answer?.created, 1, "which is fine without the others");
    });

    test("faults in other products' shapes", async () => {
      await newOrganisation();
      const data = { hashIterations: 1000, algorithm: "pbkdf2-sha256" };
      const secret = { value: "c2hvcnQ", salt: "c2FsdA==" };
      const users = [
        keycloakUser("a@kc.example", [{ type: "password", value: "in clear" }]),
        keycloakUser("b@kc.example", [keycloakCredential(secret, data)]),
        keycloakUser("c@kc.example", [keycloakCredential(secret, { ...data, hashIterations: 1e12 })]),
        keycloakUser("d@kc.example", [keycloakCredential(secret, { ...data, algorithm: "md5" })]),
        keycloakUser("e@kc.example", [{ type: "password", secretData: "{", credentialData: "{" }]),
        keycloakUser("no address", []),
      ];
      const keycloak = await run("keycloak", JSON.stringify({ realm: "acme", users }));
      assert.deepEqual([keycloak.code, keycloak.answer?.failed.length], [1, 6]);
      const custom = (value: object) =>
        JSON.stringify({ email: "a@a0.example", custom_password_hash: value });
      for (const one of [
        custom({ algorithm: "md5", hash: { value: "5f4dcc3b5aa765d61d8327deb882cf99", encoding: "hex" } }),
        custom({ algorithm: "bcrypt", hash: { value: BCRYPT }, password: { encoding: "ucs2" } }),
        custom({ algorithm: "scrypt", hash: { value: "zz", encoding: "hex" }, salt: { value: "s" } }),
        custom({
          algorithm: "scrypt",
          cost: 3,
          hash: { value: "ab".repeat(32), encoding: "hex" },
          salt: { value: "s" },
        }),
        custom({ algorithm: "bcrypt" }),
        JSON.stringify({
          email: "a@a0.example",
          passwordHash: BCRYPT,
          custom_password_hash: { algorithm: "bcrypt" },
        }),
      ]) {
        const auth0 = await run("auth0", one);
        assert.deepEqual([auth0.code, auth0.answer?.created, auth0.answer?.failed.length], [1, 0, 1], one);
      }
    });

    test("a file that is not what its format says is refused in words", async () => {
      await newOrganisation();
      const refused: ReadonlyArray<readonly [format: string, content: string, words: RegExp]> = [
        ["keycloak", "{", /not JSON/],
        ["keycloak", '{"realm":"acme"}', /no realm export with users/],
        ["firebase", "[]", /has no users/],
        ["auth0", "", /has no users/],
        ["csv", "name\nx", /"name"/],
        ["csv", "firstname\nx", /no column email/],
        ["csv", 'email\n"x', /line 2/],
        ["jsonl", "\xff", /Nothing|not an email|not JSON/],
      ];
      for (const [format, content, words] of refused) {
        const { code, err, answer } = await run(format, content);
        assert.equal(code, 1, content);
        assert.match(err + JSON.stringify(answer ?? ""), words);
      }
      const config = await write("hash-config", "hash_config {\n  algorithm: SCRYPT,\n}");
      const firebase = await run("firebase", '{"users":[]}', ["--hash-config", config]);
      assert.match(firebase.err, /base64_signer_key/);
      assert.equal((await run("csv", "email\na@b.example", ["--hash-config", config])).code, 2);
      assert.equal((await run("ldif", "x")).code, 2);
    });
  });
});
