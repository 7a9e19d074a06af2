import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { findApplication } from "../../core/applications/applications.store.ts";
import { matchClientSecret } from "../../core/applications/client-secrets.ts";
import { openService } from "../../modules/open-service.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { assertListed } from "../../testing/probes/written-actions.ts";

interface Shown {
  readonly clientId: string;
  readonly name: string;
  readonly clientSecret?: string;
  readonly secrets: ReadonlyArray<{ readonly id: string; readonly hint: string }>;
  readonly allowedScopes: readonly string[];
  readonly disabledAt: string | null;
}

const unknownId = "00000000-0000-7000-8000-000000000000";

describe("signet app", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    const json = <Answer = Shown>(...args: string[]) =>
      runForJson<Answer>(["app", ...args, "--org", org], settings.env);
    const typed = (...args: string[]) => runInProcess(["app", ...args, "--org", org], settings.env);

    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
      const scope = ["scope", "create", "--org", org, "--name", "jobs:run", "--display-name", "Run jobs"];
      await runForJson(scope, settings.env);
    });
    after(() => settings.remove());

    const stored = async (clientId: string) => {
      const service = await openService(readConfig(settings.env), { onError: assert.ifError });
      const application = await findApplication(service.database.query, org, clientId);
      await service.close();
      assert.ok(application);
      return application;
    };

    test("creates a confidential application with a secret that is shown once", async () => {
      const redirectUri = "https://shop.example/callback";
      const made = await json(
        "create",
        "--name",
        "Shop",
        "--type",
        "confidential",
        "--redirect-uri",
        redirectUri,
      );
      const secret = made.clientSecret ?? "";
      assert.match(secret, /^sgn_cs_/);
      const application = await stored(made.clientId);
      assert.ok(matchClientSecret(application, secret, Date.now()));
      assert.deepEqual(application.settings.redirectUris, [redirectUri]);
      const hash = application.secrets[0]?.hash ?? "";

      const later = [
        await typed("list"),
        await typed("list", "--json"),
        await typed("show", made.clientId),
        await typed("show", made.clientId, "--json"),
        await typed("disable", made.clientId, "--enable", "--json"),
      ];
      for (const { code, out } of later) {
        assert.equal(code, 0);
        assert.ok(out.includes(made.clientId));
        assert.ok(!out.includes(secret) && !out.includes(hash));
      }
      const shown = await json("show", "--app", made.clientId.toUpperCase());
      assert.equal(shown.secrets[0]?.hint, secret.slice(-4));
      assert.equal("clientSecret" in shown, false);
    });

    test("shows the secret once in text output", async () => {
      const { code, out, err } = await typed(
        ...["create", "--name", "Batch", "--type", "Confidential", "--grant", "client_credentials"],
      );
      assert.deepEqual([code, err], [0, ""]);
      assert.equal(out.match(/sgn_cs_/g)?.length, 1);
      assert.match(out, /can't show it again/);
    });

    test("stores every setting", async () => {
      const { clientId } = await json(
        ...["create", "--name", "All", "--type", "confidential"],
        ...["--redirect-uri", "https://a.example/cb", "--redirect-uri", "http://127.0.0.1/cb"],
        ...["--post-logout-redirect-uri", "https://a.example/bye", "--return-url", "https://a.example/"],
        ...["--grant", "authorization_code", "--grant", "refresh_token", "--grant", "client_credentials"],
        ...["--scope", "openid", "--scope", "jobs:run", "--audience", "https://api.example"],
        ...["--resource", "https://api.example", "--resource", "urn:example:api"],
        ...["--description", "Sells things", "--homepage-uri", "https://a.example/"],
        ...["--logo-uri", "https://a.example/l.png"],
        ...["--auth-method", "client_secret_basic", "--no-consent", "--no-pkce", "--nonce-without-pkce"],
        ...["--access-token-lifetime", "15m", "--refresh-token-lifetime", "7d"],
        ...["--refresh-token-absolute-lifetime", "7776000", "--refresh-token-grace", "0s"],
        ...["--no-refresh-without-offline-access", "--id-token-alg", "eddsa", "--access-token-alg", "RS256"],
        ...["--access-token-type", "jwt"],
        ...["--groups-claim", "all", "--groups-claim-value", "id"],
        ...["--id-token-scope-claims", "--contact", "ops@a.example", "--access", "assigned"],
        ...["--allow-permanent-keys", "--require-signed-key-calls", "--bind-tokens"],
        ...["--dpop-bound-access-tokens", "--require-dpop-nonce"],
        ...["--require-pushed-authorization-requests", "--require-signed-request-object"],
        ...["--request-object-signing-alg", "PS256", "--authorization-signed-response-alg", "eddsa"],
        ...["--introspection-signed-response-alg", "RS256", "--userinfo-signed-response-alg", "ES256"],
        ...["--authorization-details-types", "payment", "--authorization-details-types", "account"],
      );
      assert.deepEqual((await stored(clientId)).settings, {
        description: "Sells things",
        logoUri: "https://a.example/l.png",
        homepageUri: "https://a.example/",
        redirectUris: ["https://a.example/cb", "http://127.0.0.1/cb"],
        postLogoutRedirectUris: ["https://a.example/bye"],
        returnUrls: ["https://a.example/"],
        grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
        allowedScopes: ["openid", "jobs:run"],
        tokenEndpointAuthMethod: "client_secret_basic",
        requireConsent: false,
        consentMode: "preauthorized",
        authorizationDetailsTypes: ["payment", "account"],
        idTokenEncryptedResponseEnc: "A256GCM",
        requirePkce: false,
        requireNonceWithoutPkce: true,
        accessTokenLifetimeSeconds: 900,
        refreshTokenLifetimeSeconds: 604_800,
        refreshTokenAbsoluteLifetimeSeconds: 7_776_000,
        refreshTokenGraceSeconds: 0,
        issueRefreshTokenWithoutOfflineAccess: false,
        idTokenSignedResponseAlg: "EdDSA",
        accessTokenSignedResponseAlg: "RS256",
        accessTokenType: "JWT",
        idTokenIncludesScopeClaims: true,
        groupsClaim: "all",
        groupsClaimValue: "id",
        tlsClientCertificateBoundAccessTokens: true,
        dpopBoundAccessTokens: true,
        requireDpopNonce: true,
        requirePushedAuthorizationRequests: true,
        securityProfile: "none",
        requireSignedRequestObject: true,
        requestObjectSigningAlg: "PS256",
        authorizationSignedResponseAlg: "EdDSA",
        introspectionSignedResponseAlg: "RS256",
        userinfoSignedResponseAlg: "ES256",
        audience: "https://api.example",
        allowedResources: ["https://api.example", "urn:example:api"],
        contacts: ["ops@a.example"],
        access: "assigned",
        allowPermanentKeys: true,
        requireSignedKeyCalls: true,
      });
    });

    test("assigns, lists and unassigns users, and notes when access is still open to everyone", async () => {
      const { clientId } = await json(
        "create",
        "--name",
        "Desk",
        "--type",
        "spa",
        "--return-url",
        "https://a.example/",
      );
      const person = ["user", "create", "--org", org, "--email", "ada@a.example", "--generate"];
      const { id } = await runForJson<{ id: string }>(person, settings.env);
      const told = await typed("assign", clientId, "--email", "ada@a.example");
      assert.deepEqual([told.code, told.err], [0, ""]);
      assert.match(told.out, /is assigned to "Desk"[\s\S]*still open to everyone/);
      assert.deepEqual(await json<{ access: string }>("access", clientId, "--access", "assigned"), {
        clientId,
        access: "assigned",
      });
      assert.equal((await stored(clientId)).settings.access, "assigned");
      const again = await json<{ assigned: boolean }>("assign", "--app", clientId, "--id", id);
      assert.equal(again.assigned, true);
      const list = () => json<{ items: { permId: string }[] }>("assigned", clientId);
      assert.deepEqual(
        (await list()).items.map(({ permId }) => permId),
        [id],
      );
      assert.match((await typed("assigned", clientId)).out, /ada@a\.example +operator/);
      assert.equal((await typed("unassign", clientId, "--id", id)).code, 0);
      assert.deepEqual((await list()).items, []);
      assert.equal((await typed("unassign", clientId, "--id", id)).code, 1);
      assert.equal((await typed("assign", clientId, "--id", unknownId)).code, 1);
      assert.equal((await typed("access", clientId, "--access", "nobody")).code, 2);
    });

    test("creates public types without a secret, and a service without user scopes", async () => {
      for (const type of ["public", "native", "spa"]) {
        const made = await json(
          "create",
          "--name",
          type,
          "--type",
          type,
          "--redirect-uri",
          "https://a.example/cb",
        );
        assert.equal("clientSecret" in made, false);
        assert.deepEqual(made.secrets, []);
        assert.equal(made.allowedScopes.length, 5);
      }
      const service = await json(
        "create",
        "--name",
        "S",
        "--type",
        "confidential",
        "--grant",
        "client_credentials",
      );
      assert.deepEqual(service.allowedScopes, []);
    });

    test("names every invalid option at once and creates nothing", async () => {
      const before = (await json<{ items: Shown[] }>("list")).items.length;
      const { code, out, err } = await typed(
        ...["create", "--name", "Bad", "--type", "spa", "--redirect-uri", "https://a.example/cb"],
        ...["--redirect-uri", "http://shop.example/cb", "--access-token-lifetime", "5"],
        ...["--grant", "client_credentials", "--no-pkce"],
      );
      assert.deepEqual([code, out], [1, ""]);
      const lines = err.trim().split("\n");
      assert.equal(lines.length, 4);
      for (const part of [
        "--redirect-uri http://shop.example/cb: ",
        "--access-token-lifetime: ",
        "--grant: ",
        "--no-pkce: ",
      ])
        assert.equal(lines.filter((line) => line.includes(part)).length, 1, part);
      assert.equal((await json<{ items: Shown[] }>("list")).items.length, before);
    });

    test("notes a missing redirect URI on standard error only", async () => {
      const { code, out, err } = await typed("create", "--name", "Lost", "--type", "confidential", "--json");
      assert.equal(code, 0);
      assert.match(err, /without a redirect URI/);
      assert.equal((JSON.parse(out) as Shown).name, "Lost");
    });

    test("disables and enables an application", async () => {
      const { clientId } = await json(
        "create",
        "--name",
        "Off",
        "--type",
        "spa",
        "--redirect-uri",
        "https://a.example/cb",
      );
      assert.notEqual((await json("disable", clientId)).disabledAt, null);
      assert.match((await typed("list")).out, new RegExp(`^${clientId}  Off +spa +disabled`, "m"));
      assert.match((await typed("show", clientId)).out, /^status +disabled$/m);
      assert.equal((await json("disable", "--app", clientId.toUpperCase(), "--enable")).disabledAt, null);
    });

    test("rejects an unknown application, or another organisation's, with exit code 1", async () => {
      const other = await runForJson<{ id: string }>(["org", "create", "--name", "Other"], settings.env);
      const args = [
        "app",
        "create",
        "--org",
        other.id,
        "--name",
        "X",
        "--type",
        "native",
        "--redirect-uri",
        "https://a.example/",
      ];
      const foreign = await runForJson<Shown>(args, settings.env);
      for (const id of [unknownId, "shop", foreign.clientId]) {
        for (const command of ["show", "disable"]) {
          const { code, out, err } = await typed(command, id);
          assert.deepEqual([code, out], [1, ""]);
          assert.equal(err, `signet app ${command}: there is no application "${id}" in this organisation\n`);
        }
      }
      assert.equal(
        (await runInProcess(["app", "show", foreign.clientId, "--org", other.id], settings.env)).code,
        0,
      );
    });

    test("accepts the device grant by its short name and its URN", async () => {
      const urn = "urn:ietf:params:oauth:grant-type:device_code";
      for (const grant of ["device_code", urn]) {
        const { clientId } = await json("create", "--name", "TV", "--type", "native", "--grant", grant);
        assert.deepEqual((await stored(clientId)).settings.grantTypes, [urn]);
      }
    });

    test("rejects an invalid command line with exit code 2", async () => {
      for (const args of [
        ["create", "--type", "spa"],
        ["create", "--name", "X"],
        ["create", "--name", "X", "--type", "desktop"],
        ["create", "--name", "X", "--type", "spa", "--grant", "password"],
        ["create", "--name", "X", "--type", "spa", "--access-token-lifetime", "1 week"],
        ["create", "--name", "X", "--type", "spa", "--id-token-alg", "none"],
        ["show"],
        ["show", unknownId, "--app", unknownId],
        ["show", unknownId, unknownId],
        ["list", "all"],
      ]) {
        const { code, out } = await typed(...args);
        assert.deepEqual([code, out], [2, ""], args.join(" "));
      }
    });

    test("creates a tls_client_auth client without a secret", async () => {
      const create = [
        "create",
        "--name",
        "Meters",
        "--type",
        "confidential",
        "--auth-method",
        "tls_client_auth",
      ];
      const uri = "https://id.example/oauth/o/devices/d";
      const made = await json(...create, "--device-uri", uri);
      assert.deepEqual([made.clientSecret, made.secrets], [undefined, []]);
      const { settings: kept } = await stored(made.clientId);
      assert.deepEqual([kept.tokenEndpointAuthMethod, kept.tlsClientAuthSanUri], ["tls_client_auth", uri]);
      assert.match((await typed("show", made.clientId)).out, /authenticates with device certificates/);
      assert.match(
        (await typed(...create, "--device-uri", "x")).err,
        /--device-uri: must be an absolute URI/,
      );
    });

    test("registers a private_key_jwt client with public keys from a file, without a secret", async () => {
      const folder = await mkdtemp(join(tmpdir(), "signet-jwks-"));
      try {
        const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
        const file = async (name: string, content: string) => {
          await writeFile(join(folder, name), content);
          return join(folder, name);
        };
        const jwk = publicKey.export({ format: "jwk" });
        const create = [
          "create",
          "--name",
          "Bank",
          "--type",
          "confidential",
          "--auth-method",
          "private_key_jwt",
        ];
        const set = await file("set.json", JSON.stringify({ keys: [jwk] }));
        const logout = ["--backchannel-logout-uri", "https://bank.example/logout"];
        const made = await json(...create, "--jwks", set, ...logout);
        assert.deepEqual([made.clientSecret, made.secrets], [undefined, []]);
        const { settings: kept } = await stored(made.clientId);
        assert.deepEqual(kept.jwks, { keys: [jwk] });
        assert.equal(kept.backchannelLogoutUri, "https://bank.example/logout");
        assert.match((await typed("show", made.clientId)).out, /jwks +\{"keys":/);
        const one = await json(...create, "--jwks", await file("one.json", JSON.stringify(jwk)));
        assert.deepEqual((await stored(one.clientId)).settings.jwks, { keys: [jwk] });
        const remote = await json(...create, "--jwks-uri", "https://bank.example/jwks");
        assert.equal((await stored(remote.clientId)).settings.jwksUri, "https://bank.example/jwks");

        const secretKey = await file("private.json", JSON.stringify(privateKey.export({ format: "jwk" })));
        const refused = await typed(...create, "--jwks", secretKey);
        assert.equal(refused.code, 1);
        assert.match(refused.err, /--jwks: keys\[0\] must have public members only/);
        assert.ok(!refused.err.includes(String(privateKey.export({ format: "jwk" }).d)));
        assert.match(
          (await typed(...create, "--jwks", join(folder, "none.json"))).err,
          /--jwks .*none\.json: /,
        );
        // Its workloads may be trusted by records of their own.
        assert.equal((await stored((await json(...create)).clientId)).settings.jwks, undefined);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });

    test("audits every change with the operator as actor", () =>
      assertListed(settings.env, org, "application.enabled"));
  });
});
