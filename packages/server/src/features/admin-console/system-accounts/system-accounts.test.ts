/** The pages on system accounts: made with keys that are shown once, changed by who has seen them, ended with care. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createApplication } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findSystemAccount, listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  rotateSystemAccountKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { callApi, makeSystemAccount } from "../../../testing/fixtures/system-account.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;

describe("system account pages", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: AdministeredOrganisation;
  let other: AdministeredOrganisation;
  let here: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
    org = await administeredOrganisation(running.service, "Acme");
    other = await administeredOrganisation(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;
  const accountOf = (id: string) => findSystemAccount(db(), orgId(), id);
  const make = async () => (await makeSystemAccount(running.service, org)).id;
  const uri = (rest: string) => `${running.baseUrl}/oauth/manage/${orgId()}${rest}`;
  const newest = async () => (await listAuditEvents(db(), orgId(), 1))[0];
  const newPath = () => `/system-accounts/new?application=${org.web.application.id}`;

  test("explains system accounts when there are none, and chooses the application first", async () => {
    const empty = await here.get("/system-accounts");
    assert.match(empty.body, /id="account-new"/);
    assert.match(empty.body, /No service accounts yet/);
    const choose = await here.get("/system-accounts/new");
    assert.match(choose.body, new RegExp(`id="choose-${org.web.application.id}"`));
    assert.ok(!choose.body.includes(other.web.application.id));
    assert.doesNotMatch((await here.get("/system-accounts/new?search=zzz")).body, /id="choose-/);
    assert.match((await here.get("/system-accounts/new?search=nAtiVe")).body, /id="choose-/);
    const theirs = await here.get(`/system-accounts/new?application=${other.web.application.id}`);
    assert.doesNotMatch(theirs.body, /id="account-form"/, "another organisation's cannot be chosen");
  });

  test("creates a system account whose keys are shown once and sign calls", async () => {
    const bad = await here.send(newPath(), { name: " ", kind: "administrator", strict: undefined });
    assert.equal(bad.status, 400);
    assert.match(bad.body, /id="name"[^>]*aria-invalid="true" autofocus/);
    assert.deepEqual([formOfPage(bad).get("kind"), formOfPage(bad).get("strict")], ["administrator", null]);
    const made = await here.send(newPath(), { name: "Terraform <1>", kind: "administrator" });
    assert.equal(made.headers.get("cache-control"), "no-store");
    const keys = new Map(
      (textOf(made, "keys") ?? "").split("\n").map((line) => line.split("=") as [string, string]),
    );
    const publicKey = keys.get("SYSTEM_ACCOUNT_PUBLIC_KEY") ?? "";
    const secret = keys.get("SYSTEM_ACCOUNT_SECRET_KEY") ?? "";
    assert.match(textOf(made, "sdk") ?? "", new RegExp(`managementClient[\\s\\S]*${publicKey}`));
    assert.match(textOf(made, "curl") ?? "", /\/legacy\/api\/oauth\/clients/);
    const answer = await callApi(
      `${running.baseUrl}/legacy/api/oauth/clients`,
      { publicKey, secret },
      { strictAt: clock() },
    );
    assert.equal(answer.status, 200);
    const event = await newest();
    assert.deepEqual(
      [event?.action, event?.actor, Boolean(event?.address)],
      ["system-account.created", `user:${org.administrator.id}`, true],
    );
    const id = event?.target ?? "";
    const account = await accountOf(id);
    assert.deepEqual([account?.isAdministrator, account?.requiresStrictSignature], [true, true]);
    for (const path of [`/system-accounts/${id}`, `/system-accounts/${id}/keys`, "/system-accounts"]) {
      const page = await here.get(path);
      assert.match(page.body, /Terraform &lt;1&gt;/);
      assert.ok(!page.body.includes(secret));
    }
    assert.match((await here.get("/system-accounts?search=terra")).body, new RegExp(`id="account-${id}"`));
    assert.doesNotMatch(
      (await here.get("/system-accounts?search=%25")).body,
      new RegExp(`id="account-${id}"`),
    );
  });

  test("lists 25 on a page and the rest on the next", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 26; index++) ids.push(await make());
    const first = await here.get("/system-accounts?search=Test");
    const next = /id="page-older" href="([^"]+)"/.exec(first.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = await here.browser.get(running.baseUrl + next);
    assert.deepEqual(
      ids.map((id) => [first, second].map((page) => page.body.includes(`id="account-${id}"`))),
      ids.map((_, index) => [index > 0, index === 0]),
    );
  });

  test("edits name and signature mode with optimistic locking", async () => {
    const id = await make();
    const page = await here.get(`/system-accounts/${id}/edit`);
    const change = {
      orgId: orgId(),
      id,
      name: "Faster",
      requiresStrictSignature: true,
      actor: `user:${org.user.id}`,
    };
    await changeSystemAccount(running.service, change);
    const late = await here.post(`/system-accounts/${id}/edit`, formOfPage(page, { name: "Slower" }));
    assert.equal(late.status, 409);
    assert.match(textOf(late, "name-now") ?? "", /Faster/);
    assert.match(late.body, /id="strict-now"/);
    assert.match(late.body, new RegExp(`Changed by ${org.user.email}`));
    assert.equal((await accountOf(id))?.name, "Faster");
    assert.equal(
      (await here.post(`/system-accounts/${id}/edit`, formOfPage(late, { name: "" }))).status,
      400,
    );
    const saved = await here.post(`/system-accounts/${id}/edit`, formOfPage(late));
    assert.equal(saved.location, uri(`/system-accounts/${id}/edit?done=saved`));
    const account = await accountOf(id);
    assert.deepEqual([account?.name, account?.requiresStrictSignature], ["Slower", false]);
  });

  test("gives and takes the right to tell end users' addresses", async () => {
    const id = await make();
    for (const [typed, has] of [
      [{ endUserAddress: "on" }, true],
      [{ name: "Renamed" }, true],
      ["nothing", false],
    ] as const) {
      const page = await here.get(`/system-accounts/${id}/edit`);
      const form = formOfPage(page, typed === "nothing" ? {} : typed);
      if (typed === "nothing") form.delete("endUserAddress");
      assert.equal((await here.post(`/system-accounts/${id}/edit`, form)).status, 303);
      assert.equal((await accountOf(id))?.allowsEndUserAddress, has);
      const shown = textOf(await here.get(`/system-accounts/${id}`), "account-end-user-address");
      assert.equal(shown, has ? "Yes" : "No");
    }
  });

  test("adds a second key pair, and ends the first at the chosen time or immediately", async () => {
    const { id, publicKey } = await makeSystemAccount(running.service, org);
    const bad = await here.send(`/system-accounts/${id}/keys/new`, {
      label: "x".repeat(101),
      lifetime: "5",
      others: "-1",
    });
    assert.equal(bad.status, 400);
    for (const field of ["label", "lifetime", "others"])
      assert.match(bad.body, new RegExp(`id="${field}-fault"`));
    clock.advance(1_000);
    const form = { label: "autumn", lifetime: "90", others: "7" };
    const shown = await here.send(`/system-accounts/${id}/keys/new`, form);
    assert.match(textOf(shown, "keys") ?? "", /SYSTEM_ACCOUNT_SECRET_KEY=sgn_sa_/);
    const [first, second] = await listKeys(db(), orgId(), id);
    assert.deepEqual(
      [first?.expiresAt, second?.label, second?.expiresAt],
      [clock() + 7 * DAY_MS, "autumn", clock() + 90 * DAY_MS],
    );
    const newer = second?.publicKey ?? "";
    const [asks, asksLast] = [
      `/system-accounts/${id}/keys/${publicKey}/end`,
      `/system-accounts/${id}/keys/${newer}/end`,
    ];
    assert.match((await here.get(asks)).body, /other keys keep working/);
    assert.equal((await here.send(asks)).location, uri(`/system-accounts/${id}/keys?done=keyEnded`));
    assert.equal((await listKeys(db(), orgId(), id))[0]?.revokedAt, clock());
    const over = uri(`/system-accounts/${id}/keys?done=already`);
    assert.equal((await here.get(asks)).location, over, "it has ended");
    assert.match((await here.get(asksLast)).body, /the only active key pair/);
    const elsewhere = await make();
    assert.equal((await here.get(`/system-accounts/${elsewhere}/keys/${newer}/end`)).status, 404);
    await assert.rejects(
      rotateSystemAccountKey(running.service, {
        orgId: orgId(),
        id,
        label: "a\u200bb",
        expiresAt: null,
        actor: "test",
      }),
      /label/,
    );
  });

  test("permits a system account to act for another application, and withdraws that", async () => {
    const id = await make();
    const applicationId = org.native.id;
    const page = await here.get(`/system-accounts/${id}/permissions/new`);
    assert.ok(!page.body.includes(org.web.application.id), "its own is no choice");
    assert.ok(!page.body.includes(other.native.id));
    const path = `/system-accounts/${id}/permissions/new`;
    for (const application of ["", "x", other.native.id, orgId()])
      assert.equal((await here.send(path, { application })).status, 400, application);
    assert.deepEqual((await accountOf(id))?.permissions, []);
    const added = await here.send(path, { application: applicationId });
    assert.equal(added.location, uri(`/system-accounts/${id}?done=granted`));
    assert.deepEqual((await accountOf(id))?.permissions, [applicationId]);
    const event = await newest();
    assert.deepEqual([event?.action, Boolean(event?.address)], ["system-account.permission-granted", true]);
    const over = uri(`/system-accounts/${id}?done=already`);
    const twice = formOfPage(await here.get(path), { application: applicationId });
    assert.equal((await here.post(path, twice)).location, over);
    const removal = `/system-accounts/${id}/permissions/${applicationId}/remove`;
    await here.send(removal);
    assert.deepEqual((await accountOf(id))?.permissions, []);
    assert.equal((await here.get(removal)).location, over);
    const theirs = await here.get(removal.replace(applicationId, other.native.id));
    assert.equal(theirs.status, 404);
    const gone = `/system-accounts/${id}/permissions/${org.web.application.id}/remove`;
    assert.equal((await here.get(gone)).status, 404, "its own is never taken away");
    for (let index = 0; index < 26; index++)
      await createApplication(running.service, {
        orgId: orgId(),
        name: `Many ${index}`,
        clientType: "native",
        settings: { redirectUris: ["http://127.0.0.1/callback"] },
        actor: "test",
      });
    const found = await here.get(`${path}?search=native`);
    assert.match(found.body, new RegExp(`value="${applicationId}"`), "found among many");
    for (const list of [path, "/system-accounts/new", "/consents/new", "/preauthorizations/new"]) {
      assert.match((await here.get(list)).body, /id="first-only"/, `${list} says that it is cut short`);
      assert.doesNotMatch((await here.get(`${list}?search=native`)).body, /id="first-only"/, list);
    }
  });

  test("disables, enables and deletes a system account, deletion after typing its name", async () => {
    const account = await makeSystemAccount(running.service, org);
    const { id } = account;
    const call = async () =>
      (await callApi(`${running.baseUrl}/legacy/api/Organisation/Application/List`, account)).status;
    assert.equal(await call(), 200);
    await here.send(`/system-accounts/${id}/disable`);
    assert.equal(await call(), 401);
    const before = `/system-accounts/${id}/edit?done=already`;
    assert.equal((await here.get(`/system-accounts/${id}/disable`)).location, uri(before));
    assert.match(
      (await here.get(before)).body,
      /id="done-notice"[^>]*>(?:<svg.*?<\/svg>)?<p[^>]*>Nothing was changed/,
    );
    await here.send(`/system-accounts/${id}/enable`);
    assert.equal(await call(), 200);
    assert.equal((await here.send(`/system-accounts/${id}/delete`, { name: "Tes" })).status, 400);
    const gone = await here.send(`/system-accounts/${id}/delete`, { name: "Test" });
    assert.equal(gone.location, uri("/system-accounts?done=deleted"));
    assert.equal(await accountOf(id), undefined);
    assert.equal(await call(), 401);
  });

  test("hides another organisation's records and rejects forms without a CSRF token", async () => {
    const theirs = (await makeSystemAccount(running.service, other)).id;
    const { csrf = "" } = (await here.get(newPath())).hidden;
    for (const rest of ["", "/edit", "/keys/new", "/permissions/new", "/disable", "/delete"])
      assert.equal((await here.get(`/system-accounts/${theirs}${rest}`)).status, 404, rest);
    for (const rest of ["/edit", "/keys/new", "/permissions/new", "/disable", "/delete"])
      assert.equal(
        (
          await here.post(`/system-accounts/${theirs}${rest}`, {
            csrf,
            name: "Test",
            lifetime: "never",
            others: "later",
          })
        ).status,
        404,
        rest,
      );
    const id = await make();
    const before = await accountOf(id);
    const forms = {
      "/edit": { name: "Changed" },
      "/keys/new": { lifetime: "never", others: "later" },
      "/permissions/new": { application: org.native.id },
      "/disable": {},
      "/delete": { name: "Test" },
    };
    for (const [rest, form] of Object.entries(forms))
      assert.equal(
        (await here.post(`/system-accounts/${id}${rest}`, { ...form, csrf: "forged" })).status,
        403,
        rest,
      );
    const made = await here.post("/system-accounts/new", {
      name: "x",
      application: org.native.id,
      csrf: "forged",
    });
    assert.equal(made.status, 403);
    assert.deepEqual(await accountOf(id), before);
    assert.equal((await listKeys(db(), orgId(), id)).length, 1);
  });
});
