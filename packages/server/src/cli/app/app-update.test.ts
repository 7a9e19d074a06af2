import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SetupFile } from "../../core/stacks/stack.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { commands } from "../run.ts";

type Shown = Readonly<Record<string, unknown>> & { readonly clientId: string; readonly setup: SetupFile[] };

describe("signet app update", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const json = (...args: string[]) => runForJson<Shown>(["app", ...args, "--org", org], settings.env);
    const run = (...args: string[]) => runInProcess(["app", ...args, "--org", org], settings.env);
    const create = (...more: string[]) =>
      json(
        "create",
        "--name",
        "Shop",
        "--type",
        "confidential",
        "--redirect-uri",
        "https://a.example/cb",
        ...more,
      );

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(() => settings.remove());

    test("takes every option of app create but the type", () => {
      const optionsOf = (name: string) => commands.find((one) => one.name === name)?.options ?? {};
      const changed = optionsOf("app update");
      const missing = Object.keys(optionsOf("app create")).filter(
        (option) => !Object.hasOwn(changed, option),
      );
      assert.deepEqual(missing, ["type"]);
    });

    test("changes what is given and keeps the rest, consent included", async () => {
      const {
        clientId,
        secrets: _,
        ...before
      } = await create("--consent-mode", "organisation", "--audience", "x");
      const after = await json("update", clientId, "--access-token-lifetime", "15m", "--name", "Store");
      const differing = Object.keys(before).filter(
        (member) => JSON.stringify(after[member]) !== JSON.stringify(before[member]),
      );
      assert.deepEqual(differing.filter((member) => member in after).sort(), [
        "accessTokenLifetimeSeconds",
        "name",
        "updatedAt",
      ]);
      assert.deepEqual(await json("show", clientId), after);
      const lists = await json(
        "update",
        "--app",
        clientId,
        "--scope",
        "openid",
        "--redirect-uri",
        "https://b.example/cb",
      );
      assert.deepEqual(
        [lists["allowedScopes"], lists["redirectUris"]],
        [["openid"], ["https://b.example/cb"]],
      );
    });

    test("turns each flag on and back, and resets a setting to its default", async () => {
      const { clientId } = await create();
      const flags = {
        "no-pkce": ["pkce", "requirePkce", false],
        "nonce-without-pkce": ["no-nonce-without-pkce", "requireNonceWithoutPkce", true],
        "no-consent": ["consent", "requireConsent", false],
        "bind-tokens": ["no-bind-tokens", "tlsClientCertificateBoundAccessTokens", true],
        "id-token-scope-claims": ["no-id-token-scope-claims", "idTokenIncludesScopeClaims", true],
        "no-refresh-without-offline-access": [
          "refresh-without-offline-access",
          "issueRefreshTokenWithoutOfflineAccess",
          false,
        ],
        "allow-permanent-keys": ["no-allow-permanent-keys", "allowPermanentKeys", true],
        "require-signed-key-calls": ["no-require-signed-key-calls", "requireSignedKeyCalls", true],
      } as const;
      for (const [flag, [opposite, member, value]] of Object.entries(flags)) {
        assert.equal((await json("update", clientId, `--${flag}`))[member], value, flag);
        assert.equal((await json("update", clientId, `--${opposite}`))[member], !value, opposite);
        assert.equal((await run("update", clientId, `--${flag}`, `--${opposite}`)).code, 2, flag);
      }
      await json("update", clientId, "--audience", "https://api.example", "--consent-mode", "organisation");
      const reset = await json(
        "update",
        clientId,
        "--reset",
        "audience",
        "--reset",
        "consent-mode",
        "--reset",
        "scope",
      );
      assert.deepEqual(
        [reset["audience"], reset["consentMode"], reset["requireConsent"]],
        [undefined, "user", true],
      );
      assert.ok((reset["allowedScopes"] as string[]).includes("openid"));
      assert.match(
        (await run("update", clientId, "--reset", "colour")).err,
        /--reset colour: there is no option/,
      );
    });

    test("--for applies a stack's settings, keeps addresses and scopes, and prints the stack's settings", async () => {
      await runForJson(
        ["scope", "create", "--org", org, "--name", "jobs", "--display-name", "Jobs"],
        settings.env,
      );
      const { clientId } = await create("--scope", "openid", "--scope", "jobs");
      const changed = await json("update", clientId, "--for", "spring");
      assert.deepEqual(
        [changed["accessTokenType"], changed["idTokenSignedResponseAlg"], changed["requirePkce"]],
        ["JWT", "RS256", false],
      );
      assert.deepEqual(changed["redirectUris"], ["https://a.example/cb"]);
      assert.deepEqual(changed["allowedScopes"], ["openid", "jobs", "profile", "email"]);
      assert.match(changed.setup[0]?.lines ?? "", /client-secret: <client secret>/);
      const moved = await json("update", clientId, "--for", "grafana", "--url", "https://g.example");
      assert.deepEqual(moved["redirectUris"], ["https://g.example/login/generic_oauth"]);
      const wrong = await run("update", clientId, "--for", "react");
      assert.equal(wrong.code, 1);
      assert.match(
        wrong.err,
        /--for react needs an application of the type spa; the type of "Shop" is confidential/,
      );
    });

    test("names a faulty option and changes nothing; nothing to change is a wrong command line", async () => {
      const { clientId } = await create();
      const { code, err } = await run("update", clientId, "--access-token-lifetime", "5", "--name", "Other");
      assert.equal(code, 1);
      assert.match(err, /--access-token-lifetime: /);
      assert.equal((await json("show", clientId))["name"], "Shop");
      assert.equal((await run("update", clientId)).code, 2);
      assert.equal((await run("update", clientId, "--type", "spa")).code, 2);
      assert.equal((await run("update", "00000000-0000-7000-8000-000000000000", "--name", "X")).code, 1);
    });
  });
});
