/** Whoever has stolen the database has no secret, token, code or key of it. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { dumpDatabase, organisationTables } from "../../testing/probes/dump-database.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  TEST_MASTER_KEY,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { setPassword } from "../users/users.ts";

forEachDatabase(({ name, fresh }) => {
  let databaseUrl: string;
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, passwords: "argon2id" });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  /** Uses everything once. @returns what only its owner may know, by name */
  async function useEverything(): Promise<Record<string, string>> {
    const { service } = running;
    const source = codeSource(org);
    const used = await source.code({ nonce: "n1" });
    const unused = await source.code();
    const { body } = await redeemWith(org, used);
    const next = await refresh(org, String(body["refresh_token"]));
    const job = await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      ...credentials(org.batch),
    });
    const jobToken = String(job.body["access_token"]);
    await postForm(`${org.issuer}/revoke`, { token: jobToken, ...credentials(org.batch) });
    await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      client_id: org.batch.application.id,
      client_secret: "sgn_cs_a-wrong-secret-somebody-typed",
    });
    await source.browser.post(`${org.issuer}/login`, {
      email: org.user.email,
      password: "a wrong password 1",
    });
    const cookies = [...source.browser.cookies.values()];
    const changed = `${PASSWORD} changed`;
    const about = [org.user.email];
    const user = { organisation: org.organisation, id: org.user.id, about, actor: "test" };
    await setPassword(service, { ...user, password: changed });
    const keys = await service.keys.published(org.organisation.id);
    const pkcs8 = keys.map(({ privateKey }) => privateKey.export({ format: "der", type: "pkcs8" }));
    const jwks = keys.map(({ privateKey }) => privateKey.export({ format: "jwk" }));
    await service.secretUse.flush();
    return {
      "client secret": org.web.secret,
      "second client secret": org.batch.secret,
      "wrong client secret": "a-wrong-secret-somebody-typed",
      "used code": used.code,
      "unused code": unused.code,
      verifier: used.verifier,
      "first access token": String(body["access_token"]),
      "first refresh token": String(body["refresh_token"]),
      "id token": String(body["id_token"]),
      "second refresh token": String(next.body["refresh_token"]),
      "revoked token": jobToken,
      password: PASSWORD,
      "changed password": changed,
      "wrong password": "a wrong password 1",
      "master key": TEST_MASTER_KEY,
      ...Object.fromEntries(cookies.map((cookie, index) => [`cookie ${index}`, cookie])),
      ...Object.fromEntries(pkcs8.map((der, index) => [`private key ${index}`, der.toString("base64url")])),
      ...Object.fromEntries(jwks.map(({ d }, index) => [`private exponent ${index}`, String(d)])),
    };
  }

  test("no secret is in the database in any spelling, and the tables are all in use", async () => {
    const secrets = await useEverything();
    const dump = await dumpDatabase(running.service.database.query);
    for (const table of organisationTables) assert.ok(dump.includes(`\n${table} {`), `${table} has no row`);
    for (const [what, secret] of Object.entries(secrets)) {
      assert.ok(secret.length > 15, what);
      for (const spelling of spellings(secret)) assert.ok(!dump.includes(spelling), `${what} is in clear`);
    }
    const logged = JSON.stringify(running.lines);
    for (const [what, secret] of Object.entries(secrets))
      assert.ok(!logged.includes(secret), `${what} is in the log`);
  });

  test("a password is kept as argon2id, a hint of a secret is four characters", async () => {
    const dump = await dumpDatabase(running.service.database.query);
    assert.match(dump, /"password_hash":"\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.match(dump, new RegExp(`"hint":"${org.web.secret.slice(-4)}"`));
    assert.ok(!dump.includes(org.web.secret.slice(-6)));
  });

  if (name === "sqlite")
    test("nor is it in the file or its write-ahead log", async () => {
      const path = databaseUrl.slice("sqlite:".length);
      const bytes = Buffer.concat([await readFile(path), await readFile(`${path}-wal`)]).toString("latin1");
      assert.ok(bytes.includes(org.user.email), "the right files were read");
      for (const secret of [org.web.secret, org.batch.secret, PASSWORD, TEST_MASTER_KEY])
        for (const spelling of spellings(secret)) assert.ok(!bytes.includes(spelling));
    });
});

/** As it is, without its prefix, and as other encodings of the same bytes. */
function spellings(secret: string): string[] {
  const bare = secret.replace(/^sgn_[a-z]{2}_/, "");
  const bytes = Buffer.from(bare, "base64url");
  const encoded = bytes.length >= 16 ? [bytes.toString("hex"), bytes.toString("base64")] : [];
  return [secret, bare, Buffer.from(secret).toString("base64url"), ...encoded];
}
