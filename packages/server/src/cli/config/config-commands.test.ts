import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readClientSettings } from "../../config/client-settings.ts";
import { readConfig } from "../../config/config.ts";
import { settingNames } from "../../config/setting-names.ts";
import { run } from "../run.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-config-show-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const refuse = () => Promise.reject(new Error("nothing is asked"));

async function show(env: Record<string, string>, ...args: string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const io = {
    print: (line: string) => void lines.push(line),
    printError: (line: string) => void errors.push(line),
    readSecret: refuse,
    confirm: refuse,
  };
  const code = await run(["config", "show", ...args], {
    io,
    readConfig: () => readConfig(env),
    readClientSettings: () => readClientSettings(env),
  });
  return { code, text: lines.join("\n"), errors: errors.join("\n") };
}

test("shows every setting with its default, where nothing is set", async () => {
  const { code, text } = await show({ SIGNET_DATA_DIR: folder }, "--json");
  assert.equal(code, 0);
  const shown = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual(Object.keys(shown), [...settingNames]);
  assert.deepEqual(shown["PORT"], { value: 8080, source: "default" });
  assert.deepEqual(shown["SIGNET_DATA_DIR"], { value: folder, source: "environment" });
  assert.deepEqual(shown["DATABASE_URL"], {
    value: `sqlite:${join(folder, "signet.db")}`,
    source: "default",
  });
  assert.deepEqual(shown["SMTP_URL"], { value: null, source: "default" });
  assert.match(JSON.stringify(shown["SIGNET_RATE_LIMITS"]), /password-account=\d+\/\d+,/);
});

test("masks every secret, and says which file has it", async () => {
  const smtp = join(folder, "smtp");
  writeFileSync(smtp, "smtps://ada:hunter2@mail.example", { mode: 0o600 });
  const env = {
    DATABASE_URL: "postgres://signet:hunter2@db.example,other.example:5433/signet?sslpassword=hunter2",
    SIGNET_MASTER_KEY: Buffer.from("hunter2-hunter2-hunter2-hunter2-").toString("base64url"),
    SMTP_URL_FILE: smtp,
    SIGNET_MAIL_FROM: "Acme <no-reply@acme.example>",
    SIGNET_DATA_DIR: folder,
  };
  for (const options of [[], ["--json"]]) {
    const { code, text } = await show(env, ...options);
    assert.equal(code, 0);
    for (const secret of ["hunter2", env.SIGNET_MASTER_KEY]) assert.ok(!text.includes(secret), secret);
    assert.ok(
      text.includes("postgres://signet:********@db.example,other.example:5433/signet?sslpassword=********"),
    );
    assert.ok(text.includes("smtps://ada:********@mail.example:465") && text.includes(smtp));
    assert.ok(text.includes("Acme <no-reply@acme.example>"));
  }
});

test("masks a password that has signs of an address in it, and the one of a second host", async () => {
  for (const [url, shown] of [
    ["postgres://signet:sec@ret@db.example/signet", "postgres://signet:********@db.example/signet"],
    [
      "postgres://signet:a@one.example,other:secret@two.example/signet",
      "postgres://signet:********@two.example/signet",
    ],
    [
      "postgres://db.example/signet?p%61ssword=hunter2&x=1",
      "postgres://db.example/signet?p%61ssword=********&x=1",
    ],
  ] as const) {
    const { text } = await show({ SIGNET_DATA_DIR: folder, DATABASE_URL: url }, "--json");
    assert.equal((JSON.parse(text) as { DATABASE_URL: { value: string } }).DATABASE_URL.value, shown);
  }
});

test("shows the address of the server that uses the folder, and reports a faulty configuration", async () => {
  writeFileSync(join(folder, "server.json"), JSON.stringify({ baseUrl: "http://localhost:9321" }));
  const { text } = await show({ SIGNET_DATA_DIR: folder });
  assert.match(text, /^SIGNET_BASE_URL +http:\/\/localhost:9321 +default$/m);
  const { code, errors } = await show({ SIGNET_WORKER: "2" });
  assert.equal(code, 1);
  assert.match(errors, /SIGNET_WORKER is no setting of Signet: did you mean SIGNET_WORKERS\?/);
});
