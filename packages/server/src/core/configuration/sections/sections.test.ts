import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { forEachDatabase } from "../../../testing/databases.ts";
import { actor, type TestConfiguration, testConfiguration } from "../../../testing/fixtures/configuration.ts";
import { deleteApplication } from "../../applications/application-changes.ts";
import { listApplications } from "../../applications/applications.store.ts";
import { exampleCertificate } from "../../client-authorities/example-certificate.ts";
import { createInitialAccessToken } from "../../client-registration/initial-access-tokens.ts";
import { listPolicies } from "../../token-exchange/exchange-policies.store.ts";
import { listTrusts } from "../../trusts/trusts.store.ts";
import { FILE_FORMAT, InvalidFile, type OrganisationFile } from "../organisation-file.ts";
import { readOrganisationFile } from "../validation.ts";

const read = (file: unknown) => readOrganisationFile(Buffer.from(JSON.stringify(file)));

/** One of everything, with each way in which an application is named. */
const whole = {
  format: FILE_FORMAT,
  scopes: [{ name: "orders:read" }, { name: "orders:write" }],
  applications: [
    { externalKey: "shop", name: "Shop", clientType: "confidential", grantTypes: ["client_credentials"] },
    { name: "Billing", clientType: "confidential", grantTypes: ["client_credentials"] },
  ],
  authorizationDetailTypes: [
    {
      ...{ type: "payment", displayName: "Payments", template: "Pay {amount}" },
      schema: { type: "object", required: ["amount"], properties: { amount: { type: "string" } } },
    },
  ],
  resources: [
    {
      ...{ identifier: "https://orders.example/api", name: "Orders", scopes: ["orders:read"] },
      ...{ senderConstraint: "dpop", accessTokenLifetimeSeconds: 300, applicationId: "Billing" },
    },
    { identifier: "https://stock.example/api", name: "Stock", scopes: ["orders:write"] },
  ],
  clientIdMetadataPolicy: { mode: "allowlist", hosts: ["agent.example"] },
  clientCertificateAuthorities: [{ name: "Bank CA", certificate: exampleCertificate }],
  trusts: [
    {
      ...{ kind: "workload", issuer: "https://token.example", clientId: "shop" },
      ...{ subjectPattern: "repo:acme/site:ref:refs/heads/main", claims: { ref_protected: "true" } },
    },
    { kind: "software_statement", issuer: "https://vendor.example" },
  ],
  tokenExchangePolicies: [
    {
      ...{ name: "Shop reads orders", clientId: "shop", target: "https://orders.example/api" },
      ...{ scopes: ["orders:read"], subjectClientIds: ["Billing", "shop"] },
    },
  ],
} as const;

forEachDatabase(({ fresh }) => {
  let own: TestConfiguration;
  before(async () => {
    own = await testConfiguration(await fresh());
  });
  after(() => own.close());

  async function applied(file: unknown = whole): Promise<string> {
    const orgId = await own.makeOrg();
    await own.apply(orgId, read(file));
    return orgId;
  }
  /** Without ids of applications, which differ between organisations. */
  const portable = (text: string) => text.replaceAll(/\n\s+"id": "[^"]+",/g, "");
  const pathsOf = (error: unknown) => {
    assert.ok(error instanceof InvalidFile, String(error));
    return error.faults.map(({ path }) => path);
  };
  const refused = (orgId: string, file: unknown) =>
    own.apply(orgId, read({ format: FILE_FORMAT, ...(file as object) })).then(
      () => assert.fail("applied"),
      (error: unknown) => pathsOf(error),
    );

  test("what is exported makes the same of an empty organisation, and nothing more of its own", async () => {
    const one = await applied();
    const { text, file } = await own.exported(one);
    assert.deepEqual(await own.apply(one, read(JSON.parse(text))), []);
    const other = await own.makeOrg();
    await own.apply(other, file);
    assert.equal(portable((await own.exported(other)).text), portable(text));
    const [shop] = (await listApplications(own.deps.database.query, other, { limit: 9 })).filter(
      ({ name }) => name === "Shop",
    );
    const [trust] = (await listTrusts(own.deps.database.query, other)).filter(({ clientId }) => clientId);
    assert.equal(trust?.clientId, shop?.id, "the application is the other organisation's own");
    for (const name of ["resources", "trusts", "tokenExchangePolicies", "clientIdMetadataPolicy"])
      assert.ok(name in file, name);
  });

  test("each record is changed by its key, others stay until they are pruned, and a section that is missing stays", async () => {
    const orgId = await applied();
    const change: OrganisationFile = read({
      format: FILE_FORMAT,
      resources: [{ ...whole.resources[0], name: "Order API", scopes: ["orders:read", "orders:write"] }],
      trusts: [{ ...whole.trusts[0], claims: {}, maxLifetimeSeconds: 600 }],
    });
    const told = await own.shownOf(orgId, change, true);
    const pick = (kind: string) =>
      told.filter((one) => one.kind === kind).map(({ act, name }) => `${act} ${name}`);
    assert.deepEqual(pick("resource"), [
      "changed https://orders.example/api",
      "removed https://stock.example/api",
    ]);
    assert.deepEqual(pick("trust"), [
      "changed repo:acme/site:ref:refs/heads/main",
      "removed https://vendor.example",
    ]);
    assert.deepEqual(pick("token-exchange-policy"), ["left-alone Shop reads orders"]);
    await own.apply(orgId, change, true);
    const { file } = await own.exported(orgId);
    assert.deepEqual(
      file.resources?.map(({ name, scopes }) => [name, scopes]),
      [["Order API", ["orders:read", "orders:write"]]],
    );
    assert.equal(file.trusts?.length, 1);
    assert.equal(file.tokenExchangePolicies?.length, 1);
    assert.equal(file.authorizationDetailTypes?.length, 1);
  });

  test("scopes move between resources that one file changes", async () => {
    const orgId = await applied();
    const [orders, stock] = whole.resources;
    await own.apply(
      orgId,
      read({
        format: FILE_FORMAT,
        resources: [
          { ...orders, scopes: ["orders:write"] },
          { ...stock, scopes: ["orders:read"] },
        ],
      }),
    );
    const { file } = await own.exported(orgId);
    assert.deepEqual(
      file.resources?.map(({ scopes }) => scopes),
      [["orders:write"], ["orders:read"]],
    );
  });

  test("records of one likeness are told apart by what they say, and exported twice", async () => {
    const orgId = await applied();
    const [policy] = whole.tokenExchangePolicies;
    const two = [policy, { ...policy, impersonation: true }];
    await own.apply(orgId, read({ format: FILE_FORMAT, tokenExchangePolicies: two }));
    assert.equal((await listPolicies(own.deps.database.query, orgId)).length, 2);
    const { file } = await own.exported(orgId);
    assert.deepEqual(await own.apply(orgId, file), []);
    const other = await own.makeOrg();
    await own.apply(other, file);
    assert.equal((await listPolicies(own.deps.database.query, other)).length, 2);
  });

  test("nothing is applied of a file that names what is not there, each told by its path", async () => {
    const orgId = await applied();
    const before = await own.dump(orgId);
    const [policy] = whole.tokenExchangePolicies;
    const [trust] = whole.trusts;
    const gone = newUuid();
    assert.deepEqual(await refused(orgId, { trusts: [trust, { ...trust, clientId: "Nobody" }] }), [
      "/trusts/1/clientId",
    ]);
    for (const [file, paths] of [
      [{ trusts: [{ ...trust, clientId: gone }] }, ["/trusts/0/clientId"]],
      [{ resources: [{ ...whole.resources[0], scopes: ["nothing"] }] }, ["/resources/0/scopes/0"]],
      [{ resources: [{ ...whole.resources[0], applicationId: gone }] }, ["/resources/0/applicationId"]],
      [
        { resources: [{ identifier: "https://signet.test/oauth/x", name: "Own" }] },
        ["/resources/0/identifier"],
      ],
      [
        { tokenExchangePolicies: [{ ...policy, scopes: ["nothing"] }] },
        ["/tokenExchangePolicies/0/scopes/0"],
      ],
      [
        { clientIdMetadataPolicy: { mode: "any", allowedScopes: ["nothing"] } },
        ["/clientIdMetadataPolicy/allowedScopes/0"],
      ],
      [
        { clientCertificateAuthorities: [{ name: "No CA", certificate: "none" }] },
        ["/clientCertificateAuthorities/0"],
      ],
    ] as const)
      assert.deepEqual(await refused(orgId, { policies: { passwordMinLength: 20 }, ...file }), paths);
    assert.equal(await own.dump(orgId), before);
  });

  test("an application that is pruned is named by nothing any more", async () => {
    const orgId = await applied();
    const { file } = await own.exported(orgId);
    const applications = file.applications?.filter(({ name }) => name !== "Shop") ?? [];
    await assert.rejects(own.apply(orgId, { ...file, applications }, true), InvalidFile);
    const { trusts: _, tokenExchangePolicies: __, ...others } = file;
    await own.apply(orgId, { ...others, applications }, true);
    const [shop] = await listApplications(own.deps.database.query, orgId, { limit: 9 });
    assert.equal(shop?.name, "Billing");
  });

  test("tokens with which clients register are in no file, and applying one leaves them", async () => {
    const orgId = await applied();
    const settings = {
      ...{ label: "Build agents", maxUses: 3, enabled: true, expiresAt: own.deps.clock() + 60_000 },
      ...{ allowedScopes: ["openid"], allowedResources: [], grantTypes: ["authorization_code"] as const },
    };
    const act = { orgId, actor };
    const { token } = await createInitialAccessToken(own.deps, { ...act, settings });
    const { text, file } = await own.exported(orgId);
    assert.ok(!text.includes("Build agents") && !text.includes(token));
    assert.deepEqual(await own.apply(orgId, file, true), []);
  });

  test("a reference follows an application that was made anew", async () => {
    const orgId = await applied();
    const { file } = await own.exported(orgId);
    const all = await listApplications(own.deps.database.query, orgId, { limit: 9 });
    const billing = all.find(({ name }) => name === "Billing");
    assert.ok(billing);
    await deleteApplication(own.deps, { orgId, actor, id: billing.id });
    await own.apply(orgId, file);
    assert.equal(portable((await own.exported(orgId)).text), portable(`${JSON.stringify(file, null, 2)}\n`));
  });
});

test("each fault of a record has its path, and what has a fault of its form is not looked at further", () => {
  const faulty = {
    format: FILE_FORMAT,
    authorizationDetailTypes: [{ ...whole.authorizationDetailTypes[0], template: "{", schema: { typo: 1 } }],
    resources: [
      { ...whole.resources[0], identifier: "no uri", accessTokenLifetimeSeconds: 1 },
      { ...whole.resources[1], secret: "x" },
      whole.resources[1],
      whole.resources[1],
    ],
    clientIdMetadataPolicy: { hosts: ["a b"] },
    clientCertificateAuthorities: [{ name: "Bank CA" }],
    trusts: [{ ...whole.trusts[0], subjectPattern: "**", jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } }],
    tokenExchangePolicies: [{ ...whole.tokenExchangePolicies[0], maxLifetimeSeconds: 1, scopes: [] }],
  };
  const paths = (() => {
    try {
      read(faulty);
      return [];
    } catch (error) {
      assert.ok(error instanceof InvalidFile);
      return error.faults.map(({ path }) => path);
    }
  })();
  for (const path of [
    ...["/authorizationDetailTypes/0/template", "/authorizationDetailTypes/0/schema/typo"],
    ...["/resources/0/identifier", "/resources/0/accessTokenLifetimeSeconds", "/resources/1/secret"],
    ...["/resources/3", "/clientIdMetadataPolicy/hosts/0", "/clientCertificateAuthorities/0/certificate"],
    ...["/trusts/0/subjectPattern", "/tokenExchangePolicies/0/maxLifetimeSeconds"],
    "/tokenExchangePolicies/0/scopes",
  ])
    assert.ok(paths.includes(path), `${path} of ${paths.join(" ")}`);
  assert.ok(
    paths.some((path) => path.startsWith("/trusts/0/jwks")),
    "a secret is no public key",
  );
});
