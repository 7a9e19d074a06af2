// What `app create --for` makes and prints is enough for each library: its requests are sent as that library makes them.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { type SetupFile, settingsOfStack } from "../../core/stacks/stack.ts";
import { type StackName, stackNames, stacks } from "../../core/stacks/stacks.ts";
import {
  type Environment,
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { stackLibraries as libraries, type StackLibrary } from "../../testing/fixtures/stack-libraries.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  TEST_MASTER_KEY,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

interface Created {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly tokenEndpointAuthMethod: string;
  readonly setup: readonly SetupFile[];
}

describe("signet app create --for", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let env: Environment;
    const created = new Map<StackName, Created>();
    before(async () => {
      const databaseUrl = await fresh();
      running = await startTestService({
        databaseUrl,
        passwords: quickPasswords,
        masterKey: TEST_MASTER_KEY,
      });
      org = await makeOrganisation(running.service);
      env = {
        DATABASE_URL: databaseUrl,
        SIGNET_MASTER_KEY: TEST_MASTER_KEY,
        SIGNET_DATA_DIR: running.service.config.dataDir,
        SIGNET_BASE_URL: running.baseUrl,
      };
      const member = ["user", "set-attributes", "--org", org.organisation.id, "--id", org.user.id];
      await runForJson([...member, "--group", "staff", "--group", "admins"], env);
      // Before the first request: on SQLite, a command in this process would wait for a transaction of the service, and block it.
      for (const name of stackNames) {
        const args = ["app", "create", "--org", org.organisation.id, "--for", name];
        created.set(name, await runForJson<Created>(args, env));
      }
      await eventually("the service knows the scope that the command has created", async () => {
        const discovery = await fetch(`${org.issuer}/.well-known/openid-configuration`);
        return ((await discovery.json()) as { scopes_supported: string[] }).scopes_supported.includes(
          "groups",
        );
      });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const createdFor = (name: StackName): Created => created.get(name) ?? assert.fail(name);

    /** The authorization request of the library, and what it keeps. */
    function begin(made: Created, stack: StackName, sent: { pkce: boolean; nonce: boolean }) {
      const [verifier, nonce, state] = [random(), random(), random()];
      const [redirectUri] = libraries[stack].redirects;
      const query = new URLSearchParams({
        response_type: "code",
        client_id: made.clientId,
        redirect_uri: redirectUri,
        scope: stacks[stack].scopes.join(" "),
        state,
        ...(sent.nonce ? { nonce } : {}),
        ...(sent.pkce ? { code_challenge: s256(verifier), code_challenge_method: "S256" } : {}),
        ...(libraries[stack].resource ? { resource: libraries[stack].resource } : {}),
      });
      return { query: String(query), verifier, nonce, state, redirectUri };
    }
    const requests = (stack: StackName, scope: string) => stacks[stack].scopes.some((one) => one === scope);
    const random = () => randomBytes(32).toString("base64url");
    const s256 = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");
    const signIn = (query: string) =>
      authorize(testBrowser(), { issuer: org.issuer, query, email: org.user.email, password: PASSWORD });

    function token(made: Created, { auth }: StackLibrary, form: Record<string, string>) {
      const { clientId, clientSecret = "" } = made;
      const basic = Buffer.from(`${clientId}:${encodeURIComponent(clientSecret)}`).toString("base64");
      if (auth === "basic") return postForm(`${org.issuer}/token`, form, { authorization: `Basic ${basic}` });
      const secret = auth === "post" ? { client_secret: clientSecret } : {};
      return postForm(`${org.issuer}/token`, { ...form, client_id: clientId, ...secret });
    }

    for (const name of stackNames) {
      const library = libraries[name];
      test(`${name}: the requests of the library work with what is printed`, async () => {
        const made = createdFor(name);
        const printed = made.setup.map(({ lines }) => lines).join("\n");
        for (const text of [made.clientId, ...library.prints]) assert.ok(printed.includes(text), text);
        assert.ok(printed.includes(org.issuer) || printed.includes(new URL(org.issuer).host));
        assert.equal(made.clientSecret === undefined, library.auth === "none");
        if (made.clientSecret) assert.ok(printed.includes(made.clientSecret));
        assert.equal(made.issuer, org.issuer);
        const { redirects, signedOut = [new URL("/", redirects[0]).href] } = library;
        assert.deepEqual(made.postLogoutRedirectUris, signedOut);
        const secretBy = library.auth === "none" ? "none" : `client_secret_${library.auth}`;
        assert.equal(made.tokenEndpointAuthMethod, secretBy);
        assert.equal(requests(name, "offline_access"), library.refresh === true);

        const request = begin(made, name, library);
        const answer = await signIn(request.query);
        assert.equal(answer.get("state"), request.state);
        const redeemed = await token(made, library, {
          grant_type: "authorization_code",
          code: answer.get("code") ?? "",
          redirect_uri: request.redirectUri,
          ...(library.pkce ? { code_verifier: request.verifier } : {}),
        });
        assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
        const jwks = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
        const idToken = String(redeemed.body["id_token"]);
        const { payload } = await jwtVerify(idToken, jwks, {
          issuer: org.issuer,
          audience: made.clientId,
          algorithms: [...library.algs],
          typ: "JWT",
        });
        assert.equal(payload["nonce"], library.nonce ? request.nonce : undefined);
        const accessToken = String(redeemed.body["access_token"]);
        const headers = { authorization: `Bearer ${accessToken}` };
        const asked = await fetch(`${org.issuer}/userinfo`, { headers });
        assert.equal(asked.status, 200);
        const userinfo = (await asked.json()) as Record<string, unknown>;
        const readsGroups = requests(name, "groups");
        const read = { "id-token": [payload], userinfo: [userinfo], both: [payload, userinfo] };
        for (const claims of read[library.claims]) {
          assert.deepEqual(
            [claims["name"], claims["email"], claims["email_verified"]],
            ["Uma User", org.user.email, true],
          );
          assert.deepEqual(claims["groups"], readsGroups ? ["admins", "staff"] : undefined);
        }
        if (library.accessToken) {
          const { typ, alg } = library.accessToken;
          assert.equal(decodeProtectedHeader(accessToken).typ, typ);
          const audience = library.resource ?? org.issuer;
          await jwtVerify(accessToken, jwks, { issuer: org.issuer, audience, algorithms: [alg], typ });
        }
        if (library.refresh) {
          const refreshToken = String(redeemed.body["refresh_token"]);
          const form = { grant_type: "refresh_token", refresh_token: refreshToken };
          assert.equal((await token(made, library, form)).status, 200);
        }
      });
    }

    test("a library comes back to every address of its own, and to no other", async () => {
      for (const name of stackNames) {
        const { query, redirectUri } = begin(createdFor(name), name, { pkce: true, nonce: true });
        const answers = async (uri: string) => {
          const asked = new URLSearchParams(query);
          asked.set("redirect_uri", uri);
          const { status } = await fetch(`${org.issuer}/authorize?${asked}`, { redirect: "manual" });
          return status;
        };
        for (const uri of libraries[name].redirects) assert.equal(await answers(uri), 200, `${name}: ${uri}`);
        assert.equal(await answers(`${redirectUri}/other`), 400, name);
      }
    });

    test("only stacks that can't do PKCE by settings alone are exempted from it, and then need a nonce", async () => {
      for (const name of stackNames) {
        const made = createdFor(name);
        const without = begin(made, name, { pkce: false, nonce: true });
        const answer = await fetch(`${org.issuer}/authorize?${without.query}`, { redirect: "manual" });
        const error = new URL(answer.headers.get("location") ?? org.issuer).searchParams.get(
          "error_description",
        );
        const isExempt = name === "generic" || name === "spring" || name === "rails";
        assert.equal(error, isExempt ? null : "code_challenge is missing (PKCE is required)", name);
        if (!isExempt) continue;
        const neither = begin(made, name, { pkce: false, nonce: false });
        const refused = await fetch(`${org.issuer}/authorize?${neither.query}`, { redirect: "manual" });
        const reason = new URL(refused.headers.get("location") ?? "").searchParams;
        assert.equal(reason.get("error"), "invalid_request");
        assert.match(reason.get("error_description") ?? "", /code_challenge \(PKCE\), or nonce/);
      }
    });
  });
});

describe("signet app create --for: the command", () => {
  test("docs/stacks.md has a row for each", async () => {
    const guide = await readFile(path.join(import.meta.dirname, "../../../../../docs/stacks.md"), "utf8");
    const rows = [...guide.matchAll(/^\| `([\w-]+)` \|[^|]*\| (yes|nonce) \| (\w+) \| ([\w ]+) \|/gm)];
    const told = rows.map(([, name, pkce, alg, claims]) => [name, pkce, alg, claims]);
    const expected = stackNames.map((name) => {
      const { requirePkce = true, idTokenSignedResponseAlg = "ES256" } = settingsOfStack(stacks[name]);
      const from = libraries[name].claims === "id-token" ? "ID token" : "userinfo";
      return [name, requirePkce ? "yes" : "nonce", idTokenSignedResponseAlg, from];
    });
    assert.deepEqual(told, expected);
  });

  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let org: string;
    before(async () => {
      settings = await operatorSettings(await fresh());
      org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    });
    after(() => settings.remove());
    const run = (...more: string[]) => runInProcess(["app", "create", "--org", org, ...more], settings.env);
    const create = (name: string, ...more: string[]) =>
      runForJson<Created>(["app", "create", "--org", org, "--for", name, ...more], settings.env);

    test("fills in the address, lets options win, and leaves a scope that is there as it is", async () => {
      const made = await create("grafana", "--url", "https://grafana.example", "--id-token-alg", "ES256");
      assert.deepEqual(made.redirectUris, ["https://grafana.example/login/generic_oauth"]);
      assert.match(made.setup[0]?.lines ?? "", /^root_url = https:\/\/grafana\.example\/$/m);
      const shown = await runForJson<Record<string, unknown>>(
        ["app", "show", made.clientId, "--org", org],
        settings.env,
      );
      assert.equal(shown["idTokenSignedResponseAlg"], "ES256");
      assert.equal(shown["name"], "Grafana");
      const own = await create(
        "spring",
        "--redirect-uri",
        "https://shop.example/login/oauth2/code/x",
        "--name",
        "Shop",
      );
      assert.match(own.setup[0]?.lines ?? "", /shop\.example\/login\/oauth2\/code\/x/);
    });

    test("the printed settings request roles, groups and permissions where the application is allowed them", async () => {
      const scopes = ["openid", "email", "roles", "phone"].flatMap((scope) => ["--scope", scope]);
      const { setup } = await create("django", ...scopes);
      assert.match(setup[0]?.lines ?? "", /^OIDC_RP_SCOPES = "openid email roles"$/m);
    });

    test("oauth2-proxy's sign-out leads to the server, which its settings allow", async () => {
      const { setup, issuer } = await create("oauth2-proxy");
      const [config, signOut] = setup.map(({ lines }) => lines);
      assert.match(config ?? "", new RegExp(`^whitelist_domains = \\["${new URL(issuer).host}"\\]$`, "m"));
      const { searchParams } = new URL(signOut ?? "", "http://localhost");
      assert.equal(new URL(searchParams.get("rd") ?? "").host, new URL(issuer).host);
    });

    test("an unknown stack is told with all that are known; so is what contradicts the stack", async () => {
      const unknown = await run("--for", "cobol");
      assert.equal(unknown.code, 2);
      for (const name of stackNames) assert.ok(unknown.err.includes(name), name);
      assert.match((await run("--for", "spring", "--type", "spa")).err, /--type must be one of confidential/);
      assert.match(
        (await run("--name", "A", "--type", "spa", "--url", "https://a.example")).err,
        /--url needs --for/,
      );
      assert.match(
        (await run("--for", "go", "--url", "https://a.example/b")).err,
        /--url https:\/\/a\.example\/b: /,
      );
      assert.match((await run("--for", "kubernetes", "--url", "https://a.example")).err, /--redirect-uri/);
    });
  });
});
