import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  applicationIn,
  nothing,
  type TestConfiguration,
  testConfiguration,
  withApplication,
} from "../../testing/fixtures/configuration.ts";
import { furnishedOrganisation } from "../../testing/fixtures/furnished-organisation.ts";
import { listApplications } from "../applications/applications.store.ts";
import { listConsents, listPreauthorizations } from "../consents/consents.store.ts";
import { countsOf } from "./entries.ts";
import { InvalidFile, type OrganisationFile } from "./organisation-file.ts";

forEachDatabase(({ fresh }) => {
  let running: TestConfiguration;
  before(async () => {
    running = await testConfiguration(await fresh());
  });
  after(() => running.close());
  const furnished = () => furnishedOrganisation(running.deps);

  test("differences list each member's old and new value, and are applied as shown", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const wanted: OrganisationFile = {
      ...withApplication(file, "Shop", {
        name: "Shop 2",
        externalKey: "shop",
        audience: undefined,
        consentMode: "preauthorized",
        redirectUris: ["https://shop.example/a", "https://shop.example/new"],
        organisationConsent: ["openid"],
      }),
      policies: { ...file.policies, secondFactor: "optional" },
      branding: { accentColor: "#123456" },
      scopes: [{ name: "payroll", displayName: "Pay", description: "See it", sensitive: false, claims: [] }],
    };
    const shown = await running.shownOf(orgId, wanted);
    const told = shown.filter(({ act }) => act !== "unchanged");
    assert.deepEqual(
      told.map(({ act, kind, changes: members }) => [
        act,
        kind,
        ...members.map(
          ({ member, before, after }) => `${member}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
        ),
      ]),
      [
        [
          "changed",
          "organisation",
          'branding.logoUri: "https://acme.example/logo.png" -> undefined',
          'branding.signInTexts: {"en":{"heading":"Welcome","text":"For everyone"},"da":{"heading":"Velkommen"}} -> undefined',
          'policies.secondFactor: "required" -> "optional"',
        ],
        [
          "changed",
          "scope",
          "sensitive: true -> false",
          'claims: [{"name":"department","source":"user","path":"attributes.department"},{"name":"tier","source":"static","value":{"b":[1,"x"],"a":null}}] -> []',
        ],
        ["left-alone", "scope"],
        [
          "changed",
          "application",
          'externalKey: undefined -> "shop"',
          'name: "Shop" -> "Shop 2"',
          'redirectUris: ["https://shop.example/a","https://shop.example/z"] -> ["https://shop.example/a","https://shop.example/new"]',
          'consentMode: "organisation" -> "preauthorized"',
          'audience: "https://api.shop.example" -> undefined',
        ],
        ["changed", "organisation-consent", 'scopes: ["email","openid"] -> ["openid"]'],
      ],
    );
    await running.apply(orgId, wanted);
    const back = await running.exported(orgId);
    const shop = applicationIn(back.file, "Shop 2");
    assert.deepEqual(
      [shop.externalKey, shop.audience, shop.consentMode, shop.organisationConsent],
      ["shop", undefined, "preauthorized", ["openid"]],
    );
    assert.deepEqual(back.file.branding, { accentColor: "#123456" });
    assert.deepEqual(countsOf(await running.shownOf(orgId, wanted)), nothing);
    // By its key, under whatever name.
    const renamed = withApplication(wanted, "Shop 2", { name: "Store", id: undefined });
    assert.deepEqual(
      (await running.apply(orgId, renamed)).filter((line) => line.includes("application")),
      ["changed application Store"],
    );
  });

  test("ignores the order of lists that are sets", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const shop = applicationIn(file, "Shop");
    const wanted = withApplication(file, "Shop", {
      redirectUris: shop.redirectUris?.toReversed(),
      allowedScopes: [...(shop.allowedScopes ?? []), ...(shop.allowedScopes ?? [])].reverse(),
      preauthorizations: shop.preauthorizations?.toReversed(),
    });
    assert.deepEqual(countsOf(await running.shownOf(orgId, wanted)), nothing);
    assert.equal(
      (
        await running.shownOf(orgId, withApplication(file, "Shop", { contacts: shop.contacts?.toReversed() }))
      ).filter(({ act }) => act === "changed").length,
      1,
    );
    await running.apply(orgId, withApplication(file, "Shop", { audience: "https://other.example" }));
    const stored = (await listApplications(running.deps.database.query, orgId, { limit: 9 })).find(
      ({ name }) => name === "Shop",
    );
    assert.deepEqual(stored?.settings.redirectUris, ["https://shop.example/z", "https://shop.example/a"]);
  });

  test("omitted members get their defaults; omitted sections stay unchanged", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const { id } = applicationIn(file, "Phone");
    const short: OrganisationFile = {
      format: file.format,
      applications: [{ ...(id === undefined ? {} : { id }), name: "Phone", clientType: "native" }],
    };
    const done = await running.apply(orgId, short);
    assert.deepEqual(
      done.filter((line) => !line.startsWith("left-alone")),
      ["changed application Phone"],
    );
    const back = await running.exported(orgId);
    assert.deepEqual(
      [applicationIn(back.file, "Phone").enabled, applicationIn(back.file, "Phone").redirectUris],
      [true, []],
    );
    assert.deepEqual(
      [back.file.branding, back.file.policies, back.file.scopes],
      [file.branding, file.policies, file.scopes],
    );
    assert.deepEqual(applicationIn(back.file, "Shop"), applicationIn(file, "Shop"));
  });

  test("a narrower organisation consent revokes tokens of the wider one; a wider one revokes nothing", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const living = async () => {
      const given = await listConsents(running.deps.database.query, orgId, {
        limit: 9,
        kind: "organisation",
      });
      return given.map(({ id, scopes }) => [id, scopes.toSorted().join(" ")]);
    };
    const [[first] = []] = await living();
    await running.apply(
      orgId,
      withApplication(file, "Shop", { organisationConsent: ["email", "openid", "payroll"] }),
    );
    assert.deepEqual(await living(), [[first, "email openid payroll"]]);
    await running.apply(orgId, withApplication(file, "Shop", { organisationConsent: ["openid"] }));
    const [[second, scopes] = []] = await living();
    assert.deepEqual([second === first, scopes], [false, "openid"]);
  });

  test("external keys may move between applications", async () => {
    const orgId = await running.makeOrg();
    const spa = { clientType: "spa" } as const;
    const format = "signet-organisation/1";
    await running.apply(orgId, {
      format,
      applications: [
        { ...spa, name: "A", externalKey: "one" },
        { ...spa, name: "B", externalKey: "two" },
      ],
    });
    const { file } = await running.exported(orgId);
    const swapped = withApplication(withApplication(file, "A", { externalKey: "two" }), "B", {
      externalKey: "one",
    });
    await running.apply(orgId, swapped);
    assert.deepEqual(await running.exported(orgId).then(({ file: back }) => back), swapped);
  });

  test("prune removes unnamed records, and without it they stay", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const wanted: OrganisationFile = {
      ...withApplication(file, "Shop", { organisationConsent: [], preauthorizations: [["openid"]] }),
      scopes: file.scopes?.filter(({ name }) => name === "payroll") ?? [],
    };
    wanted.applications = wanted.applications?.filter(({ name }) => name !== "Bank") ?? [];
    const before = await running.exported(orgId);
    assert.deepEqual(await running.apply(orgId, wanted), [
      "left-alone scope agenda",
      "left-alone organisation-consent Shop",
      "left-alone preauthorization Shop",
      "left-alone application Bank",
    ]);
    assert.equal((await running.exported(orgId)).text, before.text);
    assert.deepEqual(await running.apply(orgId, wanted, true), [
      "removed scope agenda",
      "removed organisation-consent Shop",
      "removed preauthorization Shop",
      "removed application Bank",
    ]);
    assert.deepEqual((await running.exported(orgId)).file, wanted);
    assert.equal((await listPreauthorizations(running.deps.database.query, orgId, { limit: 9 })).length, 1);
  });

  test("a scope that the file removes is refused where its applications still have it", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const at = (file.applications ?? []).findIndex(({ name }) => name === "Shop");
    const wanted = { ...file, scopes: file.scopes?.filter(({ name }) => name !== "payroll") ?? [] };
    assert.deepEqual(await running.apply(orgId, wanted), ["left-alone scope payroll"]);
    await assert.rejects(running.apply(orgId, wanted, true), (error: unknown) => {
      assert.ok(error instanceof InvalidFile);
      assert.match(error.faults[0]?.path ?? "", new RegExp(`^/applications/${at}/allowedScopes/`));
      assert.match(error.faults[0]?.message ?? "", /^payroll is not a scope of the organisation/);
      return true;
    });
  });

  test("prune considers only sections that the file has", async () => {
    const orgId = await furnished();
    const before = await running.exported(orgId);
    assert.deepEqual(countsOf(await running.shownOf(orgId, { format: before.file.format }, true)), nothing);
    const none = { format: before.file.format, scopes: [] };
    assert.deepEqual(countsOf(await running.shownOf(orgId, none, true)), { ...nothing, removed: 2 });
  });
});
