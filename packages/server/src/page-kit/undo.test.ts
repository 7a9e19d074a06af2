// The way back that a toast offers after an edit: once, for the session that saved, and never over what was saved since.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { changeApplication } from "../core/applications/application-changes.ts";
import { findApplication } from "../core/applications/applications.store.ts";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { forEachDatabase } from "../testing/databases.ts";
import type { TestPage } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage, plain } from "../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const MINUTE = 60_000;

/** The toast's form: where it goes and what it sends. */
function undoForm({ body }: TestPage): { action: string; fields: Record<string, string> } | undefined {
  const [, toast] = /id="done-notice"[\s\S]*?<form method="post" action="([^"]*)">/.exec(body) ?? [];
  const form = /id="done-notice"[\s\S]*?<form[^>]*>([\s\S]*?id="undo"[\s\S]*?)<\/form>/.exec(body)?.[1];
  if (toast === undefined || form === undefined) return undefined;
  const fields = [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  return {
    action: plain(toast),
    fields: Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, plain(value)])),
  };
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: SeededRecords;
  let other: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
  });
  beforeEach(async () => {
    here = await consoleBrowser(running, org);
    await rename("Payroll");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const key = () => ({ orgId: org.organisation.id, id: org.ids["applications"] ?? "" });
  const rename = (name: string) =>
    changeApplication(running.service, { ...key(), actor: "test" }, ({ settings }) => ({
      ...{ name, settings },
      disabled: false,
    }));
  const nameNow = async () => {
    const { orgId, id } = key();
    return (await findApplication(running.service.database.query, orgId, id))?.name;
  };
  const cookieName = (orgId = org.organisation.id) => `signet-undo-${orgId}`;
  const address = () => `/applications/${key().id}`;
  const follow = ({ location }: TestPage) => here.browser.get(location ?? "");
  const edit = async (name = "Wages") => {
    const saved = await here.send(address(), { name });
    assert.deepEqual([saved.status, await nameNow()], [303, name]);
    return saved;
  };
  const send = ({ action, fields }: NonNullable<ReturnType<typeof undoForm>>, browser = here.browser) =>
    browser.post(running.baseUrl + action, fields);
  async function offered(name?: string) {
    const form = undoForm(await follow(await edit(name)));
    assert.ok(form, "the toast has a way back");
    return form;
  }
  const isRefused = async (answer: TestPage, name = "Wages") => {
    assert.equal(answer.status, 409);
    assert.match(answer.body, /Not undone/);
    assert.equal(await nameNow(), name);
  };

  describe("undo of an edit", () => {
    test("the toast of a saved edit takes it back, and says so", async () => {
      const undone = await send(await offered());
      assert.equal(undone.status, 303);
      assert.equal(await nameNow(), "Payroll");
      const page = await follow(undone);
      assert.match(page.body, /id="done-notice"[\s\S]*Change undone/);
      assert.equal(undoForm(page), undefined);
      const [event] = await listAuditEvents(running.service.database.query, key().orgId, 1);
      assert.deepEqual(
        [event?.action, event?.actor],
        ["application.changed", `user:${org.administrator.id}`],
      );
    });

    test("happens once, also where the record has become what it was", async () => {
      const form = await offered();
      const cookie = here.browser.cookies.get(cookieName()) ?? "";
      assert.equal((await send(form)).status, 303);
      assert.equal(here.browser.cookies.get(cookieName()), undefined);
      here.browser.cookies.set(cookieName(), cookie);
      await isRefused(await send(form), "Payroll");
      await rename("Wages");
      await isRefused(await send(form));
    });

    test("never overwrites what anybody has saved since", async () => {
      const form = await offered();
      await rename("Salaries");
      await isRefused(await send(form), "Salaries");
    });

    test("ends after ten minutes", async () => {
      const late = await offered();
      clock.advance(10 * MINUTE);
      await isRefused(await send(late));
      await rename("Payroll");
      const inTime = await offered();
      clock.advance(10 * MINUTE - 1);
      assert.equal((await send(inTime)).status, 303);
    });

    test("belongs to the session that saved", async () => {
      const form = await offered();
      const cookie = here.browser.cookies.get(cookieName()) ?? "";
      const elsewhere = await consoleBrowser(running, org);
      elsewhere.browser.cookies.set(cookieName(), cookie);
      const csrf = formOfPage(await elsewhere.get(address())).get("csrf") ?? "";
      await isRefused(await send({ ...form, fields: { ...form.fields, csrf } }, elsewhere.browser));
    });

    test("belongs to the organisation: another's administrator has no use of it", async () => {
      const form = await offered();
      const cookie = here.browser.cookies.get(cookieName()) ?? "";
      const theirs = await consoleBrowser(running, other);
      theirs.browser.cookies.set(cookieName(other.organisation.id), cookie);
      const csrf =
        formOfPage(await theirs.get(`/applications/${other.ids["applications"]}`)).get("csrf") ?? "";
      const sent = { ...form.fields, csrf };
      assert.equal((await theirs.post(address(), sent)).status, 404);
      const own = await theirs.post(`/applications/${other.ids["applications"]}`, sent);
      assert.equal(own.status, 409);
      assert.equal(await nameNow(), "Wages");
    });

    test("belongs to the record and to the form", async () => {
      const { fields } = await offered();
      const others = ["/access", "/tokens"].map((tab) => address() + tab);
      for (const rest of [...others, `/scopes/${org.ids["scopes"]}/edit`])
        await isRefused(await here.post(rest, fields));
      const user = `/users/${org.ids["users"]}`;
      const saved = await here.send(`${user}/edit`, { firstname: "Grace" });
      const ofUser = undoForm(await follow(saved));
      assert.ok(ofUser);
      await isRefused(await here.post(`${user}/address`, ofUser.fields));
      assert.equal((await send(ofUser)).status, 303);
    });

    test("belongs to the language of an email's text", async () => {
      const path = "/mail-templates/ResetPassword";
      const change = (language: string) =>
        here.send(`${path}/text?language=${language}`, { subject: "Your new password" });
      await change("da");
      const saved = await change("en");
      const form = undoForm(await follow(saved));
      assert.ok(form);
      const other = await send({ ...form, fields: { ...form.fields, language: "da" } });
      assert.equal(other.status, 409);
      assert.equal((await send(form)).status, 303);
    });

    test("an older toast takes back nothing but its own edit", async () => {
      const older = await offered();
      await offered("Salaries");
      await isRefused(await send(older), "Salaries");
    });

    test("asks for the form's token like every form", async () => {
      const form = await offered();
      for (const csrf of ["", "another's"]) {
        const answer = await send({ ...form, fields: { ...form.fields, csrf } });
        assert.equal(answer.status, 403);
        assert.equal(await nameNow(), "Wages");
      }
    });

    test("a cookie that was changed, or of another kind, is none", async () => {
      const form = await offered();
      const cookie = here.browser.cookies.get(cookieName()) ?? "";
      const turned = cookie.slice(0, -3) + (cookie.at(-3) === "A" ? "B" : "A") + cookie.slice(-2);
      for (const value of ["", "x", "v1.", "v1.AAAA", turned, "A".repeat(10_000)]) {
        here.browser.cookies.set(cookieName(), value);
        await isRefused(await send(form));
      }
    });

    test("the cookie is for the console's pages alone, and short-lived", async () => {
      const line = (await edit()).headers.getSetCookie().find((one) => one.startsWith(cookieName())) ?? "";
      const [pair = "", ...rest] = line.split("; ");
      assert.ok(pair.length < 2_600, `${pair.length}`);
      assert.deepEqual(rest.filter((one) => !one.startsWith("Expires")).sort(), [
        "HttpOnly",
        "Max-Age=600",
        `Path=/oauth/manage/${org.organisation.id}`,
        "SameSite=Lax",
      ]);
      assert.doesNotMatch(
        Buffer.from(pair.split(".").at(-1) ?? "", "base64url").toString("latin1"),
        /Payroll/,
      );
    });

    test("is offered by the page that the edit led to, and by no other", async () => {
      const saved = await edit();
      for (const rest of [
        address(),
        `${address()}/urls?done=saved`,
        `/scopes/${org.ids["scopes"]}?done=saved`,
      ])
        assert.equal(undoForm(await here.get(rest)), undefined, rest);
      assert.ok(undoForm(await follow(saved)));
    });

    test("is not offered where nothing has changed, nor where it could not take everything back", async () => {
      await offered();
      assert.equal(undoForm(await follow(await edit())), undefined, "nothing has changed");
      const user = `/users/${org.ids["users"]}`;
      const moved = await here.send(`${user}/address`, { newEmail: "new@acme.example", known: "on" });
      assert.equal(moved.status, 303);
      assert.equal(undoForm(await follow(moved)), undefined, "an address was vouched for");
      const granted = { consentMode: "organisation", consentScopes: "email" };
      const consented = await here.send(`${address()}/access`, granted);
      assert.equal(consented.status, 303);
      assert.equal(undoForm(await follow(consented)), undefined, "an administrator consented");
      const freed = await here.send(`${address()}/access`, { consentMode: "user", consentScopes: undefined });
      assert.ok(undoForm(await follow(freed)), "nobody consented");
    });

    test("is not offered for an edit that no cookie can hold", async () => {
      const noise = Array.from(
        { length: 48 },
        () => `https://${randomBytes(20).toString("hex")}.example/${randomBytes(60).toString("hex")}`,
      );
      const change = async (values: readonly string[]) => {
        const form = formOfPage(await here.get(`${address()}/urls`));
        form.delete("redirectUris");
        for (const value of values) form.append("redirectUris", value);
        const saved = await here.post(`${address()}/urls`, form);
        assert.equal(saved.status, 303);
        return undoForm(await follow(saved));
      };
      assert.ok(await change(noise), "what was before is small");
      assert.equal(await change(["https://acme.example/callback"]), undefined);
    });
  });

  describe("what can be taken back", () => {
    const changes: Readonly<Record<string, Record<string, string | undefined>>> = {
      "/applications/:id": { name: "Wages", description: "Who earns what" },
      "/applications/:id/tokens": { accessTokenLifetimeSeconds: "7" },
      "/applications/:id/urls": { backchannelLogoutUri: "https://wages.example/logout" },
      "/scopes/:id/edit": { displayName: "Other words" },
      "/users/:id/edit": { firstname: "Other", groups: "staff\nadmins" },
      "/system-accounts/:id/edit": { name: "Other account" },
      "/pools/:id/settings": { name: "Other pool", maxPending: "7" },
      "/settings/branding": { name: "Acme Limited", accentColor: "#0b6b5f" },
      "/settings/policies": { passwordMinLength: "20" },
      "/settings/sign-in-methods": { offersTotp: undefined },
      "/mail-templates/ResetPassword/text": { subject: "Your new password" },
    };
    const shown = async (rest: string) => {
      const form = formOfPage(await here.get(rest));
      for (const name of ["csrf", "seen", "once"]) form.delete(name);
      return String(form);
    };
    for (const [path, changed] of Object.entries(changes))
      test(`${path}: the form shows what it showed before`, async () => {
        const [, noun = ""] = path.split("/");
        const rest = path.replace(":id", org.ids[noun === "pools" ? "pool" : noun] ?? "");
        const before = await shown(rest);
        const saved = await here.send(rest, changed);
        assert.equal(saved.status, 303, saved.body);
        assert.notEqual(await shown(rest), before);
        const form = undoForm(await follow(saved));
        assert.ok(form);
        const undone = await send(form);
        assert.equal(undone.status, 303, undone.body);
        assert.equal(await shown(rest), before);
        assert.match((await follow(undone)).body, /Change undone/);
      });
  });
});
