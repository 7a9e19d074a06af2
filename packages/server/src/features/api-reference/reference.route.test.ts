// The API reference, and its shell samples run against the service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { version } from "../../config/version.ts";
import { deviceCodeGrantType } from "../../core/applications/application.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makePool } from "../../testing/fixtures/agent.ts";
import { getTokens } from "../../testing/fixtures/client.ts";
import { makeSessionKey } from "../../testing/fixtures/session-key.ts";
import { makeSystemAccount } from "../../testing/fixtures/system-account.ts";
import { recordAnswers } from "../../testing/probes/answer-recorder.ts";
import { responseChecker } from "../../testing/probes/described-answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { OpenApiDocument } from "./openapi.ts";

let running: TestService;
let org: TestOrganisation;
let document: OpenApiDocument;
before(async () => {
  running = await startTestService({
    databaseUrl: "sqlite::memory:",
    passwords: quickPasswords,
    env: MAIL_ENV,
  });
  org = await makeOrganisation(running.service);
  document = (await (await fetch(`${running.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
});
after(() => running.close());

describe("GET /openapi.json", () => {
  test("serves OpenAPI 3.1 with the service's version and base URL", () => {
    assert.equal(document.openapi, "3.1.0");
    assert.equal(document.info.version, version);
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.deepEqual(document.servers, [{ url: running.service.config.baseUrl }]);
  });

  test("allows any origin, is cacheable and supports conditional requests", async () => {
    const address = `${running.baseUrl}/openapi.json`;
    for (const at of [address, `${address}?x=1`]) {
      const answer = await fetch(at, { headers: { origin: "https://editor.example" } });
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.equal(answer.headers.get("content-type"), "application/json");
      assert.match(answer.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
      const etag = answer.headers.get("etag") ?? "";
      await answer.text();
      const again = await fetch(at, { headers: { "if-none-match": etag } });
      assert.deepEqual([again.status, await again.text()], [304, ""]);
      assert.equal(again.headers.get("access-control-allow-origin"), "*");
    }
    const head = await fetch(address, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("keeps its ETag when an organisation's data changes", async () => {
    const etag = (await fetch(`${running.baseUrl}/openapi.json`)).headers.get("etag");
    const { database, changes } = running.service;
    await changes.publish(database.query, { orgId: org.organisation.id, topic: "application" });
    assert.equal((await fetch(`${running.baseUrl}/openapi.json`)).headers.get("etag"), etag);
  });
});

describe("GET /docs", () => {
  test("uses no script, inline style or external resource, and lists every operation in its contents", async () => {
    const answer = await fetch(`${running.baseUrl}/docs`);
    const page = await answer.text();
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.doesNotMatch(page, /<script|<style|\sstyle=|\son[a-z]+=/);
    assert.doesNotMatch(page, /<(?:script|link|img)[^>]*\s(?:src|href)="(?:https?:)?\/\//);
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    assert.equal(new Set(ids).size, ids.length, "no id twice");
    for (const [, target = ""] of page.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.includes(target), target);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const { operationId } of operations) assert.ok(page.includes(`<li><a href="#${operationId}">`));
    assert.equal(page.match(/<h1[ >]/g)?.length, 1);
    assert.equal(page.match(/curl -s/g)?.length, operations.length + 2);
    const [, sheet = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? [];
    const style = await fetch(`${running.baseUrl}${sheet}`);
    assert.match(await style.text(), /\.contents/);
  });
});

describe("shell samples", () => {
  const shell = (line: string, env: Record<string, string>) =>
    promisify(execFile)("sh", ["-c", line], {
      env: { PATH: process.env["PATH"], ...env },
      // The document of all operations is over a megabyte.
      maxBuffer: 16 * 1024 * 1024,
    });
  const variables = async (): Promise<Record<string, string>> => {
    const { service } = running;
    const account = await makeSystemAccount(service, org, { administrator: true });
    const client = await makeClient(service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "refresh_token", "client_credentials", deviceCodeGrantType],
    });
    return {
      PUBLIC_KEY: account.publicKey,
      SECRET_KEY: account.secret,
      CLIENT_ID: client.application.id,
      CLIENT_SECRET: client.secret,
      REGISTRATION_TOKEN: "sgn_it_unknown",
      ACCESS_TOKEN: (await getTokens(org)).accessToken,
      ORG: org.organisation.id,
      PUBLIC_ID: org.organisation.id,
      APP_ID: org.web.application.id,
      APPLICATION_ID: org.web.application.id,
      KEY_ID: org.user.id,
      USER_ID: org.user.id,
      PERM_ID: org.user.id,
      KID: "unknown",
      KEY: await makeSessionKey(service, org),
      EMAIL: org.user.email,
      USERNAME: "ada",
      EVERYWHERE: "true",
      EXTEND_SETTING: "true",
      ID: org.user.id,
      POOL_ID: (await makePool(service, org)).id,
      AGENT_ID: org.user.id,
      SUBJECT_TYPE: "user",
      SUBJECT_ID: org.user.id,
      GROUP_ID: org.user.id,
      MEMBER_ID: org.user.id,
      TOKEN_ID: org.user.id,
      TEST_ID: org.user.id,
      DELIVERY_ID: org.user.id,
      STREAM_ID: org.user.id,
      SESSION_ID: org.user.id,
      SECRET_ID: org.user.id,
      REQUEST_ID: "unknown",
      CONNECTION_ID: org.user.id,
      FINGERPRINT: "unknown",
      GENERATION: "1",
      KIND: "logo",
      TYPE: "VerifyEmail",
      REST: "MAA=",
    };
  };

  test("the service accepts every operation's sample and verifies its signature", async () => {
    const answers = recordAnswers(running.app.server);
    const judge = responseChecker(document);
    const env = await variables();
    answers.length = 0;
    for (const methods of Object.values(document.paths))
      for (const { operationId, security, "x-codeSamples": samples } of Object.values(methods)) {
        const { stdout, stderr } = await shell(samples[0]?.source ?? "", env);
        const [answer, ...more] = answers.splice(0);
        assert.ok(answer && more.length === 0, `${operationId}: ${stderr}`);
        const judged = judge(answer);
        assert.equal(judged?.operationId.replace(/By[A-Z]\w+$/, ""), operationId.replace(/By[A-Z]\w+$/, ""));
        assert.equal(judged?.fault, undefined);
        assert.equal(stdout, answer.body);
        const result = `${operationId} ${answer.status} ${answer.body.slice(0, 300)}`;
        assert.ok(![413, 415, 422, 500, 503].includes(answer.status), result);
        if (answer.status === 400) assert.match(result, /OAuth|invalid_|unauthorized_client/);
        if (security.some((one) => "administratorAccount" in one))
          assert.notEqual(answer.status, 401, result);
        if ("systemAccount" in (security[0] ?? {})) assert.doesNotMatch(result, /not-authenticated/);
      }
    assert.deepEqual(running.errors, []);
  });

  test("the service accepts the signing samples, and only the strict one for a strict account", async () => {
    const page = await (await fetch(`${running.baseUrl}/docs`)).text();
    const [plain = "", strict = ""] = [...page.matchAll(/<pre>(BODY=[^<]*)<\/pre>/g)].map(([, text = ""]) =>
      text
        .replaceAll("&#39;", "'")
        .replaceAll("&quot;", '"')
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&"),
    );
    assert.match(strict, /X-Signet-Nonce/);
    const account = await makeSystemAccount(running.service, org, { strict: true });
    const env = { PUBLIC_KEY: account.publicKey, SECRET_KEY: account.secret };
    const body = (text: string) => text.replace("user@example.com", org.user.email);
    const read = async (line: string) =>
      JSON.parse((await shell(body(line), env)).stdout) as Record<string, unknown>;
    assert.equal((await read(strict))["PermId"], org.user.id);
    assert.equal((await read(plain))["status"], 401);
    const other = await makeSystemAccount(running.service, org);
    const otherEnv = { PUBLIC_KEY: other.publicKey, SECRET_KEY: other.secret };
    const answer = JSON.parse((await shell(body(plain), otherEnv)).stdout) as Record<string, unknown>;
    assert.equal(answer["PermId"], org.user.id);
  });
});
