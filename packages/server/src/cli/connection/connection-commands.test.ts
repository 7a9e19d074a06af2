/** Connections, domains, break-glass administrators, invitations and sign-in methods by the command line. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { idpMetadata, newSamlKey, SAML_ISSUER } from "../../testing/fakes/hostile-saml-provider.ts";

const key = newSamlKey();
const ISSUER = "https://keycloak.example/realms/staff";

forEachDatabase(({ fresh }) => {
  let operator: OperatorSettings;
  let org: string;
  before(async () => {
    operator = await operatorSettings(await fresh());
    org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], operator.env)).id;
  });
  after(() => operator.remove());

  const ofOrg = (words: string, more: readonly string[]) => [...words.split(" "), "--org", org, ...more];
  const json = (words: string, ...more: string[]) =>
    runForJson<Record<string, unknown>>(ofOrg(words, more), operator.env);
  const run = (words: string, ...more: string[]) => runInProcess(ofOrg(words, more), operator.env);
  const file = async (name: string, content: string) => {
    const place = path.join(operator.env.SIGNET_DATA_DIR ?? "", name);
    await writeFile(place, content);
    return place;
  };
  const keycloak = ["--preset", "keycloak", "--issuer", ISSUER, "--client-id", "signet"];
  const secretless = [...keycloak, "--client-auth-method", "none"];

  test("a provider is connected with its secret from a file, which is never printed, and is tested, changed and deleted", async () => {
    const secretFile = await file("secret", "what Keycloak has made\n");
    const settings = await file(
      "settings.json",
      JSON.stringify({ mapping: { username: "upn" }, oidc: { scopes: ["openid", "upn"] }, linking: "never" }),
    );
    const made = await json(
      "connection create",
      ...["--name", "Keycloak", ...keycloak, "--client-secret-file", secretFile],
      ...["--settings", settings, "--linking", "ask"],
    );
    const id = String(made["id"]);
    const { issuer, scopes, clientSecretHint } = made["oidc"] as Record<string, unknown>;
    assert.deepEqual(
      [made["kind"], made["linking"], issuer, scopes],
      ["oidc", "ask", ISSUER, ["openid", "upn"]],
    );
    assert.equal((made["mapping"] as Record<string, unknown>)["username"], "upn");
    assert.match(String(clientSecretHint), /made$/);
    assert.doesNotMatch(JSON.stringify(made), /what Keycloak/);
    assert.match(String(made["callbackUri"]), new RegExp(`/connections/${id}/callback$`));
    assert.equal((await json(`connection update ${id}`, "--enable"))["enabled"], true);
    const moved = await json(`connection update ${id}`, "--scope", "openid");
    assert.deepEqual((moved["oidc"] as Record<string, unknown>)["issuer"], ISSUER);
    const tried = await json(`connection test ${id}`);
    assert.match(String(tried["url"]), /^http/);
    const result = await json(`connection test-result ${tried["id"]}`, "--connection", id);
    assert.equal(result["state"], "pending");
    assert.deepEqual((await json(`connection sign-ins ${id}`, "--outcome", "failed"))["items"], []);
    const shown = await run(`connection show ${id}`);
    assert.match(shown.out, /keycloak/);
    await json(`connection delete ${id}`, "--yes");
    assert.deepEqual((await json("connection list"))["items"], []);
  });

  test("a SAML provider is read from its metadata file, and a directory has tokens that end", async () => {
    const metadata = await file("metadata.xml", idpMetadata([key.certificate]));
    const saml = await json(
      "connection create",
      ...["--name", "AD FS", "--kind", "saml", "--metadata-file", metadata],
    );
    assert.equal((saml["saml"] as Record<string, unknown>)["entityId"], SAML_ISSUER);
    const directory = await json("connection create", "--name", "Entra", "--kind", "scim");
    const id = String(directory["id"]);
    const token = await json(`connection create-token ${id}`, "--label", "First");
    assert.match(String(token["token"]), /^sgn_/);
    const listed = (await json(`connection tokens ${id}`))["items"] as ReadonlyArray<Record<string, unknown>>;
    assert.deepEqual(
      listed.map((one) => [one["id"], one["label"], one["token"]]),
      [[token["id"], "First", undefined]],
    );
    await json(`connection revoke-token ${token["id"]}`, "--connection", id);
    assert.deepEqual((await json(`connection tokens ${id}`))["items"], []);
  });

  test("what contradicts itself, or is in no file, is refused before anything is made", async () => {
    const list = await file("list.json", "[]");
    for (const [words, ...more] of [
      ["connection create", "--name", "x"],
      ["connection create", "--name", "x", "--kind", "ldap"],
      [
        "connection create",
        "--name",
        "x",
        "--kind",
        "saml",
        "--metadata-url",
        "https://a.example",
        "--metadata-file",
        list,
      ],
      ["connection update 01998d6e-0000-7000-8000-000000000000"],
      ["connection update 01998d6e-0000-7000-8000-000000000000", "--enable", "--disable"],
      ["domain update 01998d6e-0000-7000-8000-000000000000"],
      ["domain update 01998d6e-0000-7000-8000-000000000000", "--enforce", "--no-enforce"],
      ["invitation create", "--email", "a@acme.example", "--expires-in", "soon"],
      ["sign-in set"],
      ["sign-in set", "--method", "palm"],
    ] as const)
      assert.equal((await run(words, ...more)).code, 2, [words, ...more].join(" "));
    for (const settings of [list, path.join(operator.env.SIGNET_DATA_DIR ?? "", "nowhere.json")]) {
      const refused = await run("connection create", "--name", "x", "--kind", "oidc", "--settings", settings);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /--settings .*json/);
    }
    assert.equal((await json("connection list", "--limit", "9"))["more"], false);
  });

  test("a domain is added, routed, looked up and deleted; nothing is enforced without a proof", async () => {
    const provider = await json("connection create", "--name", "Okta", ...secretless);
    const made = await json(
      "domain create",
      "--domain",
      "acme.invalid",
      "--connection",
      String(provider["id"]),
    );
    const id = String(made["id"]);
    assert.equal((made["record"] as Record<string, unknown>)["type"], "TXT");
    const enforced = await run(`domain update ${id}`, "--enforce");
    assert.equal(enforced.code, 1);
    assert.match(enforced.err, /proven/);
    assert.equal((await json(`domain update ${id}`, "--no-connection"))["connectionId"], null);
    assert.equal((await json(`domain show ${id}`))["state"], "pending");
    await json(`domain delete ${id}`, "--yes");
    assert.deepEqual((await json("domain list"))["items"], []);
  });

  test("a break-glass administrator needs a second factor", async () => {
    const person = ["--email", "ada@acme.example", "--role", "administrator", "--generate"];
    await json("user create", ...person);
    const refused = await run("break-glass create", "--email", "ada@acme.example");
    assert.equal(refused.code, 1);
    assert.match(refused.err, /second factor/);
    assert.deepEqual((await json("break-glass list"))["items"], []);
    assert.equal((await run("break-glass delete", "--email", "ada@acme.example")).code, 1);
  });

  test("people are invited at a provider or by a link, alone or together, and withdrawn", async () => {
    const { items } = (await json("connection list")) as {
      items: ReadonlyArray<{ id: string; kind: string }>;
    };
    const provider = items.find(({ kind }) => kind === "oidc")?.id ?? "";
    await json(`connection update ${provider}`, "--enable");
    const made = await json(
      "invitation create",
      ...["--email", "ole@acme.example", "--connection", provider, "--expires-in", "3600", "--no-email"],
    );
    assert.deepEqual([made["connectionId"], made["state"]], [provider, "pending"]);
    assert.match(String(made["link"]), /\/invite\//);
    const people = await file("people.json", JSON.stringify([{ email: "ole@acme.example" }, { email: "x" }]));
    const batch = await run("invitation batch", "--file", people, "--json");
    assert.equal(batch.code, 1);
    assert.equal((await json(`invitation show ${made["id"]}`))["email"], "ole@acme.example");
    await json(`invitation delete ${made["id"]}`, "--yes");
    const { items: withdrawn } = await json("invitation list", "--state", "withdrawn");
    assert.equal((withdrawn as readonly unknown[]).length, 1);
    assert.deepEqual((await json("invitation list", "--state", "pending"))["items"], []);
  });

  test("what signs in is set, and what is not named stays", async () => {
    await json("sign-in set", "--method", "passkey", "--method", "password");
    const changed = await json("sign-in set", "--passkey-enrolment", "offer");
    assert.deepEqual(changed, { methods: ["passkey", "password"], passkeyEnrolment: "offer" });
    assert.deepEqual(await json("sign-in show"), changed);
  });
});
