/** The other commands by a server's API: profiles, imports, stacks, system accounts, signing, devices, organisations, the audit log. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { apiScopes, operatorScopes } from "../../core/scopes/api-scopes.ts";
import { type Environment, runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { MAIL_ENV, mailsTo } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { softVendor } from "../../testing/fakes/soft-tpm-device.ts";
import { newAgentKey, signedWith } from "../../testing/fixtures/agent.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { pngOf } from "../../testing/fixtures/images.ts";
import { makeOperator } from "../../testing/fixtures/operator.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

type Members = Readonly<Record<string, unknown>>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let folder: string;
  let env: Environment;
  let ofOperator: Environment;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, passwords: quickPasswords, env: MAIL_ENV });
    org = await makeOrganisation(running.service);
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-nouns-"));
    const { accessToken } = await makeApiClient(running.service, org, apiScopes);
    const shared = { SIGNET_SERVER: running.baseUrl, DATABASE_URL: `sqlite:${folder}/nowhere/none.db` };
    env = { ...shared, SIGNET_TOKEN: accessToken };
    const operator = await makeOperator(running.service, [...apiScopes, ...operatorScopes]);
    ofOperator = { ...shared, SIGNET_TOKEN: operator.accessToken };
  });
  after(async () => {
    await running.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(running.errors, []);
  });

  const words = (text: string) => [...text.split(" "), "--org", org.organisation.id];
  const json = <A = Members>(text: string, ...more: string[]) =>
    runForJson<A>([...words(text), ...more], env);
  const listed = async (text: string, ...more: string[]) =>
    (await json<{ items: Members[] }>(text, ...more)).items;
  const run = (text: string, ...more: string[]) => runInProcess([...words(text), ...more], env);
  const file = async (name: string, content: string | Buffer) => {
    const where = path.join(folder, name);
    await writeFile(where, content);
    return where;
  };

  test("a profile, attributes and groups are set, each in place of what was there", async () => {
    const ada = ["--email", org.user.email];
    const profile = ["--nickname", "Ada", "--locality", "London", "--profile-url", "https://ada.example/"];
    const changed = await json("user set-profile", ...ada, ...profile);
    const { nickname, profile: url, address } = changed;
    assert.deepEqual([nickname, url], ["Ada", "https://ada.example/"]);
    assert.equal((address as Members)["locality"], "London");
    const less = await json("user set-profile", ...ada, "--nickname", "", "--locality", "");
    assert.deepEqual(
      [less["nickname"], less["address"], less["profile"]],
      [null, null, "https://ada.example/"],
    );
    assert.equal((await run("user set-profile", ...ada)).code, 2);

    const first = ["--attribute", 'unit={"a":1,"b":{"c":2}}', "--attribute", "level=7", "--group", "Staff"];
    await json(
      "user set-attributes",
      ...ada,
      ...first,
      "--group",
      "Night",
      "--membership-attribute",
      "desk=4",
    );
    const second = ["--attribute", 'unit={"b":{"d":3}}', "--group", "staff", "--group", "Day"];
    const user = await json("user set-attributes", ...ada, ...second);
    assert.deepEqual(user["attributes"], { unit: { b: { d: 3 } } });
    assert.deepEqual(user["membershipAttributes"], {});
    const inGroups = async () => {
      const { items } = await runForJson<{ items: Members[] }>(words("group list"), env);
      const members = await Promise.all(
        items.map(async ({ id, displayName }) => [displayName, (await listed(`group members ${id}`)).length]),
      );
      return Object.fromEntries(members) as Members;
    };
    assert.deepEqual(await inGroups(), { Day: 1, Night: 0, Staff: 1 });
    assert.match((await run("user set-attributes", ...ada, "--attribute", "x y=1")).err, /\/attributes: /);
  });

  test("a link goes to the new email address of a user", async () => {
    const user = await json("user change-email", "--email", org.user.email, "--new-email", "ada@new.example");
    assert.equal(user["email"], org.user.email);
    assert.equal((await mailsTo(running.service, "ada@new.example")).length, 1);
    const faulty = await run("user change-email", "--email", org.user.email, "--new-email", "x");
    assert.deepEqual([faulty.code, /\/email: /.test(faulty.err)], [1, true], faulty.err);
  });

  test("users are imported with their hashes; a second run creates none, and a faulty file nothing", async () => {
    const hash = "$2b$10$vI8aWBnW3fID.ZQ4/zo1G.q1lRps.9cGLcZEiGDMVr5yUP1KUOYTa";
    const line = (at: number) => JSON.stringify({ email: `moved-${at}@acme.example`, passwordHash: hash });
    const lines = Array.from({ length: 1_002 }, (_, at) => line(at));
    const args = ["--format", "jsonl", "--file", await file("users.jsonl", lines.join("\n"))];
    assert.deepEqual(await json("user import", ...args), { created: 1_002, skipped: 0, failed: [] });
    assert.deepEqual(await json("user import", ...args), { created: 0, skipped: 1_002, failed: [] });
    // More than a call of the API takes: by size, and not by number.
    const long = (at: number) =>
      JSON.stringify({
        email: `${"l".repeat(50)}-${at}@${"a".repeat(60)}.${"b".repeat(60)}.example`,
        firstname: "🏔".repeat(100),
        surname: "🏔".repeat(100),
        passwordHash: hash,
      });
    const large = Array.from({ length: 1_000 }, (_, at) => long(at));
    assert.ok(Buffer.byteLength(`[${large.join()}]`) > 1024 * 1024);
    const sent = ["--format", "jsonl", "--file", await file("large.jsonl", large.join("\n"))];
    assert.deepEqual(await json("user import", ...sent), { created: 1_000, skipped: 0, failed: [] });
    const faulty = await file("faulty.jsonl", `${line(2_000)}\n{"email":"x"}`);
    const { code, out } = await run("user import", "--format", "jsonl", "--file", faulty);
    assert.deepEqual([code, /^2: .*\nNothing was imported\.$/m.test(out)], [1, true], out);
    const none = await run("user set-profile", "--email", "moved-2000@acme.example", "--nickname", "x");
    assert.match(none.err, /there is no user/);
  });

  test("an application is made for a library, with its settings filled in, and lists whom it is assigned to", async () => {
    const made = await json("app create --for grafana --url https://grafana.example");
    const setup = made["setup"] as ReadonlyArray<{ lines: string }>;
    const text = setup.map(({ lines }) => lines).join("\n");
    for (const part of [made["id"], made["clientSecret"], `${running.baseUrl}/oauth/${org.organisation.id}`])
      assert.ok(text.includes(String(part)), String(part));
    const shown = await run(`app update ${made["id"]} --for grafana --url https://other.example`);
    assert.match(shown.out, /^--- /m);
    assert.match(shown.out, /https:\/\/other\.example/);
    assert.match((await run(`app update ${made["id"]} --for react`)).err, /needs an application of the type/);
    await json(`app assign ${made["id"]}`, "--email", org.user.email);
    const assigned = await listed(`app assigned ${made["id"]}`);
    assert.deepEqual(
      assigned.map(({ id, email }) => [id, email]),
      [[org.user.id, org.user.email]],
    );
  });

  test("system accounts come, get keys and permissions, and go", async () => {
    const app = ["--app", org.batch.application.id];
    const made = await json("account create --name Import --strict", ...app);
    assert.ok(String(made["secretKey"]).startsWith("sgn_sa_") && made["requireStrictSignature"] === true);
    const account = (act: string, ...more: string[]) => json(`account ${act} ${made["id"]}`, ...more);
    assert.equal((await account("update", "--no-strict", "--name", "Orders"))["name"], "Orders");
    assert.equal((await run(`account update ${made["id"]}`)).code, 2);
    const second = await account(
      "rotate",
      "--label",
      "autumn",
      "--expires",
      "90",
      "--expire-others-in",
      "24h",
    );
    assert.ok(String(second["secretKey"]).startsWith("sgn_sa_"));
    const revoked = await account("revoke-key", "--key", String(made["publicKey"]).toUpperCase());
    assert.equal(revoked["revoked"], true);
    const web = ["--app", org.web.application.id];
    assert.deepEqual((await account("grant", ...web))["permissions"], [org.web.application.id]);
    assert.deepEqual((await account("withdraw", ...web))["permissions"], []);
    assert.equal((await account("disable"))["enabled"], false);
    assert.equal((await account("enable"))["enabled"], true);
    assert.deepEqual(await account("delete"), { id: made["id"], deleted: true });
  });

  test("keys rotate; pools and their agents come, change and go", async () => {
    assert.equal((await json("keys rotate --alg EdDSA"))["alg"], "EdDSA");
    const pool = await json("pool create --name HQ --max-token-lifetime 15m");
    const key = newAgentKey("ES256");
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const proof = { aud: pool["issuer"], jkt: key.kid, iat: Math.floor(running.service.clock() / 1000) };
    const header = { alg: key.alg, typ: "sovereign-pop+jwt" };
    const pop = signedWith(key, `${encoded(header)}.${encoded(proof)}`);
    const keys = await file("keys.json", JSON.stringify([{ jwk: key.publicJwk, pop }]));
    const agent = await json(`agent register --pool ${pool["id"]} --name agent-1 --keys ${keys}`);
    assert.ok(typeof agent["apiKey"] === "string");
    const shown = await json<{ keys: Members[] }>(`pool show ${pool["id"]}`);
    assert.deepEqual(
      shown.keys.map((one) => [one["id"], one["agentId"]]),
      [[key.kid, agent["id"]]],
    );
    assert.match((await run(`agent add-key ${agent["id"]} --keys ${keys}`)).err, /already|registered/i);
    assert.equal((await listed(`agent list --pool ${pool["id"]}`)).length, 1);
    assert.deepEqual(await listed(`agent list --pool ${crypto.randomUUID()}`), []);
    assert.equal((await json(`pool disable ${pool["id"]}`))["enabled"], false);
    assert.equal((await json(`pool enable ${pool["id"]}`))["enabled"], true);
    assert.equal((await json(`agent deactivate ${agent["id"]}`))["state"], "deactivated");
    assert.equal((await json(`agent compromise ${agent["id"]}`))["state"], "compromised");
    assert.equal((await listed("pool list")).length, 1);
  });

  test("enrollment codes come and go, devices are listed, and the attestation policy is set", async () => {
    const code = await json("device register --expires 1h", "--name", "Till 4");
    assert.ok(typeof code["code"] === "string");
    const open = await listed("device list --codes");
    assert.deepEqual(
      open.map(({ id, name }) => [id, name]),
      [[code["id"], "Till 4"]],
    );
    assert.equal((await json(`device withdraw-code ${code["id"]}`))["state"], "withdrawn");
    assert.deepEqual(await listed("device list --codes"), []);
    assert.deepEqual(await listed("device list --state active"), []);
    assert.equal((await run("device list --codes --state active")).code, 2);
    for (const act of ["show", "revoke"])
      assert.match((await run(`device ${act} ${crypto.randomUUID()}`)).err, /no such record/);
    const [ca] = await listed("device-ca show");
    assert.deepEqual([ca?.["generation"], ca?.["state"]], [1, "issues"]);
    assert.match(String(ca?.["certificate"]), /^-----BEGIN CERTIFICATE-----/);
    assert.match(
      (await run("device-ca show")).out,
      /^GENERATION +STATE +EXPIRES +SHA-256\n1 +issues +\S+ +(..:){31}..$/m,
    );
    assert.equal((await json("device-ca rotate"))["generation"], 2);
    assert.deepEqual(
      (await listed("device-ca show")).map(({ generation, state }) => [generation, state]),
      [
        [2, "issues"],
        [1, "retired"],
      ],
    );
    const policy = await json("device-policy set --attestation optional");
    assert.deepEqual(await json("device-policy show"), policy);
    assert.equal(policy["attestation"], "optional");
  });

  test("trusted TPM vendors and endorsement keys come and go", async () => {
    const { root, issuing } = softVendor();
    const roots = await file("roots.pem", `${root.pem}${issuing.pem}`);
    const trusted = (await json<{ trusted: Members[] }>(`device-roots import ${roots}`)).trusted;
    const hashes = trusted.map(({ sha256 }) => sha256);
    assert.deepEqual(
      (await listed("device-roots list")).map(({ sha256 }) => sha256).toSorted(),
      hashes.toSorted(),
    );
    assert.match((await run("device-roots list")).out, new RegExp(`^${hashes[0]} +\\S+ +.*root`, "m"));
    assert.equal((await json(`device-roots remove ${hashes[0]}`))["removed"], true);
    assert.equal((await listed("device-roots list")).length, 1);
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = await file("ek.der.pem", publicKey.export({ format: "pem", type: "spki" }).toString());
    const [ek] = (await json<{ allowed: Members[] }>(`ek-allow add ${key}`)).allowed;
    assert.equal(ek?.["label"], "ek.der.pem");
    assert.deepEqual(await listed("ek-allow list"), [ek]);
    await json(`ek-allow remove ${ek?.["sha256"]}`);
    assert.deepEqual(await listed("ek-allow list"), []);
    const none = await run("ek-allow add", await file("bad.pem", "-----BEGIN EVIL-----"));
    assert.equal(none.code, 1);
    assert.equal((await run("ek-allow remove x")).code, 2);
  });

  test("the organisation's name, branding, images and policies are set", async () => {
    const logo = await file("logo.png", pngOf(64, 64));
    const texts = ["--sign-in-heading", "en:Welcome", "--sign-in-text", "en:To Acme"];
    const look = ["--accent-color", "#112233", "--help-link", "https://help.example/", "--logo", logo];
    const changed = await json("org set --name Acme2 --password-min-length 14", ...look, ...texts);
    const branding = changed["branding"] as Members;
    assert.deepEqual([changed["name"], branding["accentColor"]], ["Acme2", "#112233"]);
    assert.deepEqual(branding["signInTexts"], { en: { heading: "Welcome", text: "To Acme" } });
    assert.equal((changed["policies"] as Members)["passwordMinLength"], 14);
    const { logo: stored } = changed["images"] as { logo: { uri: string; width: number } };
    assert.equal(stored.width, 64);
    assert.equal((await fetch(stored.uri)).status, 200);
    const none = ["--help-link", "none", "--logo", "none", "--sign-in-text", "en:none"];
    const { images, branding: left } = await json("org set", ...none);
    const less = left as Members;
    assert.deepEqual([less["helpUri"], less["accentColor"]], [null, "#112233"]);
    assert.deepEqual(less["signInTexts"], { en: { heading: "Welcome" } });
    assert.equal((images as Members)["logo"], null);
    assert.equal((await run("org set")).code, 2);
  });

  test("a configuration is exported and applied by the older names too", async () => {
    const out = path.join(folder, "acme.json");
    await json("org export", "--out", out);
    const dry = await run("org apply --dry-run", "--file", out);
    assert.deepEqual([dry.code, /Already up to date/.test(dry.out)], [0, true], dry.err);
    const applied = await json("org apply --yes", "--file", out);
    assert.equal(applied["upToDate"], true);
  });

  test("an operator makes, suspends, resumes, ends and restores an organisation", async () => {
    const operator = <A = Members>(text: string, ...more: string[]) =>
      runForJson<A>([...text.split(" "), ...more], ofOperator);
    const { id } = await operator("org create --name Beta");
    const { items } = await operator<{ items: Members[] }>("org list");
    assert.ok(items.some((one) => one["id"] === id));
    for (const [act, state] of [
      ["suspend", "suspended"],
      ["resume", "active"],
      ["disable", "suspended"],
      ["delete --yes", "deleting"],
      ["delete --undo", "suspended"],
      ["disable --enable", "active"],
    ] as const)
      assert.equal((await operator(`org ${act}`, String(id)))["state"], state, act);
    const unsure = await runInProcess(["org", "delete", String(id)], ofOperator);
    assert.deepEqual([unsure.code, /add --yes/.test(unsure.err)], [2, true], unsure.err);
    const once = ["org", "delete", String(id), "--yes", "--at-once", "--audit-out", path.join(folder, "x")];
    assert.equal((await runInProcess(once, ofOperator)).code, 2);
    const mine = await runInProcess(["org", "list"], env);
    assert.equal(mine.code, 1);
    assert.doesNotMatch(mine.out + mine.err, /Beta/);
  });

  test("the audit log is searched and exported", async () => {
    await json("user disable", "--email", org.user.email);
    await json("user disable --enable", "--email", org.user.email);
    const found = await listed("audit list --what user.disabled", "--on", org.user.id);
    assert.deepEqual(
      found.map((event) => [event["action"], event["actorType"]]),
      [["user.disabled", "client"]],
    );
    assert.ok((await listed("audit list --what user. --limit 2")).length === 2);
    assert.deepEqual(await listed(`audit list --who ${org.user.email}`), []);
    assert.deepEqual(await listed("audit list --from 2001-01-01 --to 2001-12-31"), []);
    assert.equal((await run("audit list --what nothing")).code, 2);
    assert.equal((await run("audit list --search x")).code, 2);
    const lines = async (...more: string[]) =>
      (await run("audit export --format jsonl", ...more)).out.trimEnd().split("\n");
    const all = (await lines()).map((line) => JSON.parse(line) as Members);
    assert.ok(all.length > 2 && all[0]?.["orgId"] === org.organisation.id);
    const some = await lines("--what", "user.disabled", "--on", org.user.id, "--text", "disabled");
    assert.deepEqual(
      some.map((line) => (JSON.parse(line) as Members)["target"]),
      [org.user.id],
    );
    const about = await lines("--search", org.user.email, "--from", "2001-01-01");
    assert.ok(about.some((line) => (JSON.parse(line) as Members)["target"] === org.user.id));
    const csv = (await run("audit export --format csv --what user.enabled")).out.split("\n");
    assert.match(csv[0] ?? "", /^seq,hash,id,at,actor,action/);
    assert.equal(csv.filter((line) => line.includes("user.enabled")).length, 1);
    const refused = await runInProcess(words("audit export --format csv"), { ...env, SIGNET_TOKEN: "x" });
    assert.deepEqual([refused.code, refused.out, /Sign in again/.test(refused.err)], [1, "", true]);
  });
});
