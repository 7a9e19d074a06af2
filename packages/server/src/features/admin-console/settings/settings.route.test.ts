/** The settings' pages: one rule set with the command line, nothing hostile in a page, and nobody overwritten unseen. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { pngOf } from "../../../testing/fixtures/images.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { visit } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

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

  const files = (kind: string, file: Buffer, type = "image/png") => ({
    [kind]: new Blob([new Uint8Array(file)], { type }),
  });

  /** Sends the form of the images as a browser does: with every file field, empty or not. */
  async function upload(sent: Readonly<Record<string, Blob | string>>, seen?: string, rest = "") {
    const { hidden } = await here.get("/settings/logo");
    const body = new FormData();
    for (const [field, value] of Object.entries(hidden)) body.set(field, value);
    if (seen !== undefined) body.set("seen", seen);
    for (const kind of ["logo", "darkLogo", "favicon", "panel"]) body.set(kind, new Blob([]), "");
    for (const [field, value] of Object.entries(sent))
      if (typeof value === "string") body.set(field, value);
      else body.set(field, value, "image.svg");
    const cookie = [...here.browser.cookies].map((pair) => pair.join("=")).join("; ");
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/settings/logo${rest}`;
    const answer = await fetch(url, { method: "POST", body, headers: { cookie }, redirect: "manual" });
    const canUndo = answer.headers.getSetCookie().some((one) => /^signet-undo-[^=]+=v1/.test(one));
    return {
      ...{ status: answer.status, location: answer.headers.get("location"), canUndo },
      body: await answer.text(),
    };
  }

  test("uploads images, shows them at sign-in, and removes one alone", async () => {
    const sent = { ...files("logo", pngOf(64, 64)), ...files("panel", pngOf(800, 600)) };
    const uploaded = await upload(sent);
    assert.match(uploaded.location ?? "", /\/settings\/branding\?done=images$/);
    assert.equal(uploaded.canUndo, false, "a file that was replaced is gone");
    const { images } = (await record()).settings;
    assert.deepEqual(Object.keys(images).sort(), ["logo", "panel"]);
    const { body } = await visit(testBrowser(), org);
    assert.ok(
      body.includes(`/images/${images.logo?.digest}`) && body.includes(`/images/${images.panel?.digest}`),
    );
    const page = (await here.get("/settings/logo")).body;
    assert.match(page, /id="remove-logo"/);
    assert.doesNotMatch(page, /id="remove-favicon"/);
    assert.equal((await upload({ "remove-panel": "on" })).status, 303);
    assert.deepEqual((await record()).settings.images, { logo: images.logo });
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.action, event?.details], ["organisation.changed", { settings: ["images"] }]);
    assert.equal((await upload({ "remove-logo": "on" })).status, 303);
    assert.deepEqual((await record()).settings.images, {});
  });

  test("the live preview shows images that are chosen, and those that stay, and stores none", async () => {
    assert.equal((await upload(files("logo", pngOf(64, 64)))).status, 303);
    const before = (await record()).settings.images;
    const shown = async (sent: Parameters<typeof upload>[0]) =>
      (await upload(sent, undefined, "/preview")).body;
    const panel = `url("data:image/png;base64,${pngOf(800, 600).toString("base64")}")`;
    const chosen = await shown({ ...files("panel", pngOf(800, 600)), ...files("darkLogo", pngOf(40, 40)) });
    assert.ok(chosen.includes(panel));
    assert.match(
      chosen,
      /<source srcset="data:image\/png;base64,[^"]+" media="\(prefers-color-scheme: dark\)">/,
    );
    assert.ok(chosen.includes(`/images/${before.logo?.digest}`), "the stored logo");
    assert.doesNotMatch(await shown({ "remove-logo": "on" }), /<img/);
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`);
    assert.ok(
      (await shown(files("logo", svg))).includes(`/images/${before.logo?.digest}`),
      "what can't be saved isn't shown",
    );
    assert.deepEqual((await record()).settings.images, before);
    assert.equal((await upload({ "remove-logo": "on" })).status, 303);
  });

  test("rejects files that are no small image, whatever their name and type, each at its field", async () => {
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);
    const cases: [Record<string, Blob>, string, string][] = [
      [files("logo", svg), "logo", "SVG isn’t accepted"],
      [
        files("darkLogo", Buffer.concat([pngOf(16, 16).subarray(0, 8), svg])),
        "darkLogo",
        "SVG isn’t accepted",
      ],
      [files("favicon", Buffer.concat([pngOf(64, 64), Buffer.alloc(33_000)])), "favicon", "too large"],
      [files("panel", pngOf(319, 400)), "panel", "too few or too many pixels"],
      [{}, "logo", "Choose a file"],
    ];
    for (const [sent, kind, reason] of cases) {
      const page = await upload({
        ...files("favicon", pngOf(32, 32)),
        ...sent,
        ...(kind === "logo" && Object.keys(sent).length === 0 ? { favicon: new Blob([]) } : {}),
      });
      assert.equal(page.status, 400, reason);
      assert.match(page.body, new RegExp(`id="${kind}-fault">[^<]*${reason}`));
    }
    const typed = await upload({ logo: "https://evil.example/x.png" });
    assert.equal(typed.status, 400);
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/settings/logo`;
    const broken = await here.browser.post(url, {}, { "content-type": "multipart/form-data; boundary=x" });
    assert.equal(broken.status, 400);
    const whole = Buffer.concat([pngOf(800, 600), Buffer.alloc(1_100_000)]);
    assert.equal((await upload(files("panel", whole))).status, 413);
    assert.equal((await upload(files("logo", pngOf(32, 32)), "stale")).status, 409);
    assert.deepEqual((await record()).settings.images, {}, "one fault saves none of them");
  });

  test("saves images also when the sign-in is older than ten minutes", async () => {
    clock.advance(601_000);
    assert.equal((await upload(files("logo", pngOf(48, 48)))).status, 303);
    assert.equal((await upload({ "remove-logo": "on" })).status, 303);
    assert.deepEqual((await record()).settings.images, {});
    here = await consoleBrowser(running, org);
  });

  const policies = {
    passwordMinLength: "14",
    secondFactor: "optional",
    requireVerifiedEmail: undefined,
    sessionLifetimeSeconds: "600",
    "sessionLifetimeSeconds-unit": "minutes",
    sessionIdleSeconds: "30",
    "sessionIdleSeconds-unit": "minutes",
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
    const shown = (await here.get("/settings/policies")).body;
    assert.match(shown, /id="sessionLifetimeSeconds"[^>]* value="10"/);
    assert.match(shown, /id="sessionLifetimeSeconds-unit"[\s\S]*?value="hours" selected/);
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

  test("saves how long the audit log is kept; the settings' page says it", async () => {
    const saved = async () => (await record()).settings.auditRetentionMonths;
    assert.equal(await saved(), 0);
    assert.match((await here.get("/settings")).body, /kept for ever/);
    await here.send("/settings/policies", { ...policies, defaultLocale: "en", auditRetentionMonths: "6" });
    assert.equal(await saved(), 6);
    assert.match((await here.get("/settings")).body, /kept for 6 months/);
    await here.send("/settings/policies", { ...policies, defaultLocale: "en", auditRetentionMonths: "" });
    assert.equal(await saved(), 0, "nothing typed: for ever");
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
      [{ sessionLifetimeSeconds: "366", "sessionLifetimeSeconds-unit": "days" }, "sessionLifetimeSeconds"],
      [{ sessionLifetimeSeconds: "10.5" }, "sessionLifetimeSeconds"],
      [{ sessionIdleSeconds: "0" }, "sessionIdleSeconds"],
      [{ sessionIdleSeconds: "601" }, "sessionIdleSeconds"],
      [{ defaultLocale: "xx" }, "defaultLocale"],
      [{ auditRetentionMonths: "241" }, "auditRetentionMonths"],
      [{ auditRetentionMonths: "1.5" }, "auditRetentionMonths"],
      [{ auditRetentionMonths: "-1" }, "auditRetentionMonths"],
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
