import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { apiScopes, operatorScopes } from "../../core/scopes/api-scopes.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

interface Shown {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
}

describe("signet operator create", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    const typed = (...args: string[]) => runInProcess(["operator", "create", ...args], settings.env);
    before(async () => {
      settings = await operatorSettings(await fresh());
    });
    after(() => settings.remove());

    test("makes a client of one reserved organisation, with every scope or those named", async () => {
      const create = (...args: string[]) =>
        runForJson<Shown>(["operator", "create", "--name", "Robot", ...args], settings.env);
      const first = await create();
      assert.match(first.issuer, /\/oauth\/[0-9a-f-]{36}$/);
      assert.match(first.clientSecret, /^sgn_cs_/);
      assert.deepEqual([...first.scopes].sort(), [...apiScopes, ...operatorScopes].sort());
      const second = await create("--scope", "signet:organisations:read");
      assert.deepEqual([second.issuer, second.scopes], [first.issuer, ["signet:organisations:read"]]);
      assert.notEqual(second.clientId, first.clientId);
    });

    test("refuses an unknown scope, and an invitation without mail, and makes nothing", async () => {
      const wrong = await typed("--name", "Robot", "--scope", "users:write");
      assert.equal(wrong.code, 2);
      assert.match(wrong.err, /--scope users:write: is none of signet:users:read/);
      const invited = await typed("--name", "Ada Lovelace", "--email", "ada@example.com");
      assert.equal(invited.code, 1);
      assert.match(invited.err, /SMTP_URL/);
      const both = await typed("--name", "A", "--email", "a@example.com", "--scope", "signet:users:read");
      assert.equal(both.code, 2);
    });
  });
});
