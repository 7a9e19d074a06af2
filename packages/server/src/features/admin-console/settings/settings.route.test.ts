/** The settings' pages: one rule set with the command line, nothing hostile in a page, and nobody overwritten unseen. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { visit } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

/** A PNG of one colour; its checksums are left empty, as no reader of ours looks at them. */
function png(side: number, filling = 0): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.alloc(side * (side + 1)))),
    chunk("tEXt", Buffer.alloc(filling)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

describe("organisation settings pages", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const record = async () => {
    const found = await findOrganisation(running.service.database.query, org.organisation.id);
    assert.ok(found);
    return found;
  };
  const byAnother = (settings: Parameters<typeof changeOrganisationSettings>[1]["settings"]) => {
    const change = { orgId: org.organisation.id, settings, actor: `user:${org.user.id}` };
    return changeOrganisationSettings(running.service, change);
  };

  test("previews name and colour without saving, then saves them", async () => {
    const typed = { name: "Acme & Co", accentColor: "#B00020" };
    const preview = await here.send("/settings/branding", { ...typed, preview: "1" });
    assert.equal(preview.status, 200);
    assert.match(preview.body, /\.preview-light\{--fill:#b00020;/);
    assert.match(preview.body, /<bdi>Acme &amp; Co<\/bdi>/);
    assert.equal((await record()).name, "Acme");
    const saved = await here.send("/settings/branding", typed);
    assert.match(saved.location ?? "", /\/settings\/branding\?done=branding$/);
    const { name, settings } = await record();
    assert.deepEqual([name, settings.branding], ["Acme & Co", { accentColor: "#b00020" }]);
    const login = await visit(testBrowser(), org);
    assert.match(login.body, /Acme &amp; Co/);
    assert.match(login.body, /--fill:#b00020/);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.details],
      ["organisation.changed", `user:${org.administrator.id}`, { settings: ["branding"], name: "Acme & Co" }],
    );
    assert.ok(event?.address);
    const page = await here.get("/settings");
    assert.match(page.body, /id="last-change">[^<]*admin@acme\.example/);
    assert.equal(
      (await here.send("/settings/branding", { name: "Acme", accentColor: undefined })).status,
      303,
    );
    assert.deepEqual((await record()).settings.branding, {}, "Signet's own colour again");
  });

  test("rejects an accent that is no colour and an empty name", async () => {
    const faults: [Record<string, string | undefined>, string][] = [
      [{ accentColor: "red" }, "accentColor"],
      [{ accentColor: "#12345" }, "accentColor"],
      [{ accentColor: "#12345g" }, "accentColor"],
      [{ accentColor: "#fff;}*{x:y" }, "accentColor"],
      [{ accentColor: "</style>" }, "accentColor"],
      [{ name: undefined }, "name"],
      [{ name: "x".repeat(101) }, "name"],
      [{ name: "a‮b" }, "name"],
    ];
    const before = await record();
    for (const [change, field] of faults) {
      for (const preview of [{}, { preview: "1" }]) {
        if (field === "name" && "preview" in preview) continue;
        const page = await here.send("/settings/branding", { ...change, ...preview });
        assert.equal(page.status, 400, JSON.stringify(change));
        assert.ok(page.body.includes(`href="#${field}"`), JSON.stringify(change));
        const styles = page.body.match(/<style[^>]*>[\s\S]*?<\/style>/g) ?? [];
        assert.ok(!styles.some((style) => style.includes("x:y")));
        assert.equal(styles.length, page.body.split("</style>").length - 1);
      }
    }
    const hostile = await here.send("/settings/branding", { name: "<script>x</script>", preview: "1" });
    assert.doesNotMatch(hostile.body, /<script>x/);
    assert.deepEqual(await record(), before);
  });

  test("texts and links: saved, shown at sign-in in the reader's language, and taken back", async () => {
    const typed = {
      ...{
        "heading-en": "Welcome aboard",
        "text-en": " For  crews\nand guests. ",
        "heading-da": "Velkommen",
      },
      ...{ helpUri: "mailto:help@acme.example", privacyUri: "https://acme.example/privacy" },
    };
    assert.equal((await here.send("/settings/branding", typed)).status, 303);
    const { helpUri, privacyUri } = typed;
    assert.deepEqual((await record()).settings.branding, {
      ...{ helpUri, privacyUri },
      signInTexts: {
        en: { heading: "Welcome aboard", text: "For crews and guests." },
        da: { heading: "Velkommen" },
      },
    });
    const login = async (language: string) => {
      const url = `${org.issuer}/account/security`;
      return (await testBrowser().get(url, { "accept-language": language })).body;
    };
    const english = await login("en");
    assert.match(english, /<h1>Welcome aboard<\/h1>\s*<p class="own-text">For crews and guests\.<\/p>/);
    assert.match(english, /<p class="own-title">Sign in to [^<]*<\/p>/, "and where it leads");
    assert.match(english, /id="foot-help" href="mailto:help@acme\.example"/);
    const danish = await login("da");
    assert.match(danish, /<h1>Velkommen<\/h1>\s*<p class="own-text">For crews and guests\.<\/p>/);
    await byAnother(({ settings: { branding } }) => ({
      branding: { ...branding, signInTexts: { ...branding.signInTexts, fi: { heading: "Tervetuloa" } } },
    }));
    const without = Object.fromEntries(Object.keys(typed).map((name) => [name, undefined]));
    assert.equal((await here.send("/settings/branding", without)).status, 303);
    assert.deepEqual(
      (await record()).settings.branding,
      { signInTexts: { fi: { heading: "Tervetuloa" } } },
      "a language that the form does not show keeps its text",
    );
    await byAnother({ branding: {} });
    assert.match(await login("en"), /<h1>Sign in to /);
  });

  test("rejects texts that are too long or deceive, and links that are none", async () => {
    const before = await record();
    for (const [field, value] of [
      ["heading-en", "x".repeat(81)],
      ["text-de", "x".repeat(301)],
      ["heading-fr", "a\u202eb"],
      ["helpUri", "http://acme.example"],
      ["privacyUri", "mailto:a@b.example"],
      ["termsUri", "javascript:alert(1)"],
    ] as const) {
      const page = await here.send("/settings/branding", { [field]: value });
      assert.equal(page.status, 400, field);
      assert.ok(page.body.includes(`id="${field}-fault"`), field);
    }
    const hostile = await here.send("/settings/branding", { "heading-en": "<b>x</b>", preview: "1" });
    assert.doesNotMatch(hostile.body, /<b>x/);
    assert.deepEqual(await record(), before);
  });

  /** Sends the logo form as a browser does. */
  async function upload(file: Buffer, name = "logo.png", type = "image/png", seen?: string) {
    const { hidden } = await here.get("/settings/logo");
    const body = new FormData();
    for (const [field, value] of Object.entries(hidden)) if (field !== "remove") body.set(field, value);
    if (seen !== undefined) body.set("seen", seen);
    body.set("logo", new Blob([new Uint8Array(file)], { type }), name);
    const cookie = [...here.browser.cookies].map((pair) => pair.join("=")).join("; ");
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/settings/logo`;
    const answer = await fetch(url, { method: "POST", body, headers: { cookie }, redirect: "manual" });
    return { status: answer.status, location: answer.headers.get("location"), body: await answer.text() };
  }

  test("uploads a small PNG as the logo, shows it at sign-in, and removes it", async () => {
    const file = png(64);
    assert.match((await upload(file)).location ?? "", /done=logo$/);
    const { logoUri } = (await record()).settings.branding;
    assert.equal(logoUri, `data:image/png;base64,${file.toString("base64")}`);
    assert.ok((await visit(testBrowser(), org)).body.includes(`<img class="mark large" src="${logoUri}"`));
    const page = await here.get("/settings/logo");
    const removed = await here.post("/settings/logo", { ...page.hidden, remove: "1" });
    assert.match(removed.location ?? "", /done=logoRemoved$/);
    assert.equal((await record()).settings.branding.logoUri, undefined);
  });

  test("rejects a logo that is no small PNG, whatever its content type", async () => {
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);
    const files: [Buffer, string][] = [
      [svg, "This isn’t a PNG file"],
      [Buffer.concat([png(16).subarray(0, 8), svg]), "This isn’t a PNG file"],
      [png(64, 9_000), "larger than 8 KiB"],
      [png(15), "must be 16 to 1024"],
      [Buffer.alloc(0), "Choose a file"],
    ];
    for (const [file, reason] of files) {
      const page = await upload(file);
      assert.equal(page.status, 400, reason);
      assert.match(page.body, new RegExp(`id="logo-fault">[^<]*${reason}`));
    }
    const { hidden } = await here.get("/settings/logo");
    const typed = await here.post("/settings/logo", { ...hidden, logo: "https://evil.example/x.png" });
    assert.equal(typed.status, 400);
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/settings/logo`;
    const broken = await here.browser.post(url, {}, { "content-type": "multipart/form-data; boundary=x" });
    assert.equal(broken.status, 400);
    assert.equal((await upload(png(32), "a.png", "image/png", "stale")).status, 409);
    assert.equal((await record()).settings.branding.logoUri, undefined);
  });

  test("saves branding also when the sign-in is older than ten minutes", async () => {
    const file = png(48);
    const { hidden } = await here.get("/settings/logo");
    clock.advance(601_000);
    const logo = `data:application/octet-stream;base64,${file.toString("base64")}`;
    assert.match((await here.post("/settings/logo", { ...hidden, logo })).location ?? "", /done=logo$/);
    assert.ok((await record()).settings.branding.logoUri?.includes(file.toString("base64")));
    await here.post("/settings/logo", { ...(await here.get("/settings/logo")).hidden, remove: "1" });
    assert.equal((await record()).settings.branding.logoUri, undefined);
    here = await consoleBrowser(running, org);
  });

  const policies = {
    passwordMinLength: "14",
    secondFactor: "optional",
    requireVerifiedEmail: undefined,
    sessionLifetimeSeconds: "600",
    sessionIdleSeconds: "30",
    defaultLocale: "de",
  };

  test("saves policies, and uses the default language for readers of other languages", async () => {
    assert.match((await here.send("/settings/policies", policies)).location ?? "", /done=policies$/);
    const { settings } = await record();
    assert.deepEqual(
      [settings.passwordMinLength, settings.sessionLifetimeSeconds, settings.sessionIdleSeconds],
      [14, 36_000, 1_800],
    );
    const login = async (language: string) => {
      const url = `${org.issuer}/account/security`;
      return (await testBrowser().get(url, { "accept-language": language })).body;
    };
    assert.match(await login("fi"), /<html lang="de">/);
    assert.match(await login("fr"), /<html lang="fr">/);
    await byAnother({ defaultLocale: "en" });
  });

  test("saves whether users may delete their accounts, and keeps it when untouched", async () => {
    const mayDelete = async () => (await record()).settings.allowAccountDeletion;
    assert.ok(await mayDelete());
    await here.send("/settings/policies", { allowAccountDeletion: undefined });
    assert.equal(await mayDelete(), false);
    await here.send("/settings/policies", { ...policies, defaultLocale: "en" });
    assert.equal(await mayDelete(), false);
    const page = await here.get("/settings/policies");
    await byAnother({ allowAccountDeletion: true, passwordMinLength: 15 });
    const stale = await here.post("/settings/policies", formOfPage(page));
    assert.equal(stale.status, 409);
    assert.match(stale.body, /id="allowAccountDeletion-now">[^<]*Yes/);
  });

  test("refuses to require verified addresses when that would lock out the administrator", async () => {
    const typed = { ...policies, requireVerifiedEmail: "1" };
    const confirmed = (at: number | null) =>
      running.service.database.query
        .updateTable("user_account")
        .set({ email_verified_at: at })
        .where("id", "=", org.administrator.id)
        .execute();
    await confirmed(null);
    const refused = await here.send("/settings/policies", typed);
    assert.equal(refused.status, 400);
    assert.match(refused.body, /id="requireVerifiedEmail-fault">[^<]*this server can’t send email/);
    assert.equal((await record()).settings.requireVerifiedEmail, false);
    await confirmed(1);
    assert.equal((await here.send("/settings/policies", typed)).status, 303);
    assert.ok((await record()).settings.requireVerifiedEmail);
    assert.equal((await here.send("/settings/policies", { ...policies, defaultLocale: "en" })).status, 303);
  });

  test("validates the range of every policy at its field", async () => {
    const faults: [Record<string, string>, string][] = [
      [{ passwordMinLength: "7" }, "passwordMinLength"],
      [{ passwordMinLength: "129" }, "passwordMinLength"],
      [{ passwordMinLength: "1e1" }, "passwordMinLength"],
      [{ passwordMinLength: "12.5" }, "passwordMinLength"],
      [{ secondFactor: "never" }, "secondFactor"],
      [{ sessionLifetimeSeconds: "4" }, "sessionLifetimeSeconds"],
      [{ sessionLifetimeSeconds: "525601" }, "sessionLifetimeSeconds"],
      [{ sessionIdleSeconds: "0" }, "sessionIdleSeconds"],
      [{ sessionIdleSeconds: "601" }, "sessionIdleSeconds"],
      [{ defaultLocale: "xx" }, "defaultLocale"],
    ];
    const before = await record();
    for (const [change, field] of faults) {
      const page = await here.send("/settings/policies", { ...policies, ...change });
      assert.equal(page.status, 400, JSON.stringify(change));
      assert.ok(page.body.includes(`href="#${field}"`), JSON.stringify(change));
    }
    assert.deepEqual(await record(), before);
  });

  test("detects a conflicting change of a policy, and ignores changes of other forms' members", async () => {
    const page = await here.get("/settings/policies");
    // The session stays good under the policy of the other one.
    const { query } = running.service.database;
    await query.updateTable("browser_session").set({ acr: acrValues.multiFactor }).execute();
    await byAnother({ secondFactor: "required", deviceAttestation: "required" });
    const stale = await here.post("/settings/policies", formOfPage(page, { passwordMinLength: "20" }));
    assert.equal(stale.status, 409);
    assert.match(stale.body, /Changed by user@acme\.example/);
    assert.match(stale.body, /id="secondFactor-now">Current value: Required/);
    assert.doesNotMatch(stale.body, /id="defaultLocale-now"/);
    assert.equal((await record()).settings.secondFactor, "required");
    assert.equal((await here.post("/settings/policies", formOfPage(stale))).status, 303);
    const { settings } = await record();
    assert.deepEqual(
      [settings.secondFactor, settings.passwordMinLength, settings.deviceAttestation],
      ["optional", 20, "required"],
    );
  });
});
