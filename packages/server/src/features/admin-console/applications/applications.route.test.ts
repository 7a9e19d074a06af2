import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { defineScopes } from "../../../testing/fixtures/scopes.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let clock: FakeClock;
  let console: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    const known = await listCustomScopes(running.service.database.query, org.organisation.id);
    const wanted = ["jobs:run", "jobs:stop"].filter((name) => !known.some((scope) => scope.name === name));
    await defineScopes(running.service, org.organisation.id, ...wanted);
    other = await seedRecords(running.service, "Beta");
    console = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const found = async (id: string): Promise<Application> => {
    const application = await findApplication(running.service.database.query, org.organisation.id, id);
    assert.ok(application);
    return application;
  };
  const newest = async () => {
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    return event;
  };
  const idIn = (location: string | undefined): string =>
    /applications\/([0-9a-f-]{36})/.exec(location ?? "")?.[1] ?? "";

  /** @returns the id of a new application */
  async function make(kind: string, changes: Record<string, string>): Promise<string> {
    const page = await console.send(`/applications/new?kind=${kind}`, changes);
    return page.status === 303 ? idIn(page.location) : (textOf(page, "client-id") ?? "");
  }

  test("creates each kind of application with its default settings", async () => {
    const web = await found(
      await make("web", { name: "Shop", redirectUris: "https://shop.example/callback" }),
    );
    assert.deepEqual(
      [web.clientType, web.settings.redirectUris],
      ["confidential", ["https://shop.example/callback"]],
    );
    const spa = await found(await make("spa", { name: "Spa", redirectUris: "https://spa.example/" }));
    assert.deepEqual([spa.clientType, spa.settings.requireConsent, spa.secrets], ["spa", true, []]);
    const native = await found(await make("native", { name: "Phone" }));
    assert.deepEqual(
      [native.clientType, native.settings.redirectUris],
      ["native", ["http://127.0.0.1/callback"]],
    );
    const service = await found(await make("service", { name: "Batch", otherScopes: "jobs:run\njobs:stop" }));
    assert.deepEqual(service.settings.grantTypes, ["client_credentials"]);
    assert.deepEqual(service.settings.allowedScopes, ["jobs:run", "jobs:stop"]);
    const device = await found(await make("device", { name: "TV" }));
    assert.ok(!device.settings.grantTypes.includes("authorization_code"));
    const legacy = await found(await make("legacy", { name: "Old", returnUrls: "https://old.example/" }));
    assert.deepEqual([legacy.settings.returnUrls, legacy.secrets], [["https://old.example/"], []]);
  });

  test("shows a working client secret once and records the administrator", async () => {
    const page = await console.send("/applications/new?kind=service", {
      name: "Once",
      otherScopes: "jobs:run",
    });
    const secret = textOf(page, "client-secret") ?? "";
    const id = textOf(page, "client-id") ?? "";
    assert.match(secret, /^sgn_cs_/);
    assert.equal(page.headers.get("cache-control"), "no-store");
    const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
    const record = await console.get(`/applications/${id}/credentials`);
    assert.ok(!record.body.includes(secret));
    assert.ok(record.body.includes(`…${secret.slice(-4)}`));
    assert.match(record.body, new RegExp(`Last changed by ${org.administrator.email}`));
    const made = (await listAuditEvents(running.service.database.query, org.organisation.id, 5)).find(
      ({ action, target }) => action === "application.created" && target === id,
    );
    assert.deepEqual([made?.actor, made?.address], [`user:${org.administrator.id}`, "127.0.0.1"]);
  });

  test("reports faults at their fields, keeps what was typed, and creates nothing", async () => {
    const before = await console.get("/applications");
    const page = await console.send("/applications/new?kind=web", {
      name: "",
      redirectUris: "http://shop.example/cb",
    });
    assert.equal(page.status, 400);
    assert.match(page.body, /id="name"[^>]*aria-invalid="true"[^>]*autofocus/);
    assert.match(page.body, /<a href="#redirectUris">/);
    assert.match(textOf(page, "redirectUris-fault") ?? "", /^Must use https/);
    assert.match(page.body, /id="redirectUris"[^>]*value="http:\/\/shop\.example\/cb"/);
    const rows = (body: string) => body.match(/<tr role="row" id="application-/g)?.length;
    assert.equal(rows((await console.get("/applications")).body), rows(before.body));
  });

  test("returns to the choice of kinds for an unknown kind", async () => {
    const own = formOfPage(await console.get("/applications/new?kind=web"), { name: "X", kind: "other" });
    const page = await console.post("/applications/new", own);
    assert.match(page.location ?? "", /\/applications\/new$/);
  });

  test("searches and filters the list, and reports when nothing matches", async () => {
    const listed = async (query: string) => (await console.get(`/applications?${query}`)).body;
    assert.match(await listed("search=shop"), /Shop/);
    assert.match(await listed("search=nothing-such"), /No results/);
    assert.match(await listed("type=native&state=enabled"), /Phone/);
    assert.doesNotMatch(await listed("type=spa"), /Phone/);
    assert.doesNotMatch(await listed(`search=${other.ids["applications"]}`), /id="application-[0-9a-f]{8}-/);
    // What no filter knows is no filter.
    assert.match(await listed("type=x&state=y&after=z"), /Phone/);
  });

  test("a filter is called as the column that it narrows", async () => {
    const { body } = await console.get("/applications");
    const headers = [...body.matchAll(/<th role="columnheader".*?<\/th>/gs)].map(([cell]) =>
      cell.replaceAll(/<[^>]+>/g, "").trim(),
    );
    for (const id of ["type", "state"]) {
      const label = new RegExp(`<label for="${id}">([^<]+)</label>`).exec(body)?.[1] ?? "no label";
      assert.ok(headers.includes(label), `${label} is none of ${headers.join(", ")}`);
    }
  });

  test("sorts the list by its headers, says where in it one is, and keeps the filters", async () => {
    const page = async (query: string) => (await console.get(`/applications?${query}`)).body;
    const names = (body: string) =>
      [...body.matchAll(/class="item-name"[^>]*>(?:<bdi>)?([^<]+)/g)].map(([, name = ""]) =>
        name.toLowerCase(),
      );
    const plain = await page("");
    assert.match(plain, /id="page-range">1–\d+ of \d+</);
    assert.match(plain, /<th[^>]*aria-sort="descending"/);
    const byName = names(await page("sort=name"));
    assert.ok(byName.length > 2);
    assert.deepEqual(byName, byName.toSorted());
    assert.deepEqual(names(await page("sort=-name")), byName.toReversed());
    assert.match(await page("type=native"), /href="[^"]*type=native&amp;sort=name"/);
    for (const odd of ["sort=x", "size=7", "after=x", "before=..", "from=0"])
      assert.deepEqual(names(await page(odd)), names(plain), odd);
  });

  test("adds a client secret with an expiry, expires the others, and revokes one", async () => {
    const { application: batch } = org.batch;
    const { id } = batch;
    const added = await console.send(`/applications/${id}/secrets/new`, {
      label: "autumn",
      lifetime: "30",
      others: "7",
    });
    const plaintext = textOf(added, "client-secret") ?? "";
    assert.match(plaintext, /^sgn_cs_/);
    const { secrets } = await found(id);
    const days = (at: number | null | undefined) => Math.round(((at ?? 0) - clock()) / 86_400_000);
    const [first, second] = secrets;
    assert.deepEqual([days(first?.expiresAt), days(second?.expiresAt)], [7, 30]);
    assert.deepEqual([second?.label, second?.hint], ["autumn", plaintext.slice(-4)]);
    assert.match(
      (await console.get(`/applications/${id}/credentials`)).body,
      /id="secret-advice">All secrets expire within/,
    );

    const custom = { lifetime: "custom", period: "36", "period-unit": "hours" };
    await console.send(`/applications/${id}/secrets/new`, { label: "short", ...custom });
    const short = (await found(id)).secrets.find(({ label }) => label === "short");
    assert.equal((short?.expiresAt ?? 0) - (short?.createdAt ?? 0), 36 * 3_600_000, "a period of one's own");

    const path = `/applications/${id}/secrets/${first?.id}/end`;
    assert.equal((await found(id)).secrets[0]?.revokedAt, null, "asking ends nothing");
    const ended = await console.send(path);
    assert.match(ended.location ?? "", /done=secretEnded/);
    assert.notEqual((await found(id)).secrets[0]?.revokedAt, null);
    const old = { grant_type: "client_credentials", ...credentials(org.batch) };
    assert.equal((await postForm(`${org.issuer}/token`, old)).status, 401);
    // The button pressed twice says how it stands.
    assert.match((await console.get(path)).location ?? "", /done=already/);
  });

  test("validates label and choices of a client secret, and offers none to public clients", async () => {
    const id = org.web.application.id;
    const before = (await found(id)).secrets.length;
    for (const typed of [
      { label: "x".repeat(101) },
      { lifetime: "9999" },
      ...["", "0", "-1", "3651", "99999999999999"].map((period) => ({ lifetime: "custom", period })),
      { others: "-1" },
      { label: "a\u202eb" },
    ])
      assert.equal(
        (await console.send(`/applications/${id}/secrets/new`, typed)).status,
        400,
        JSON.stringify(typed),
      );
    assert.equal((await found(id)).secrets.length, before);
    const begun = await console.get(`/applications/${id}/secrets/new`);
    assert.match(begun.body, /<input id="label"[^>]* autofocus/, "its label is typed without a click");
    const own = formOfPage(begun);
    const spa = await make("spa", { name: "Secretless", redirectUris: "https://secretless.example/" });
    assert.equal((await console.get(`/applications/${spa}/secrets/new`)).status, 303);
    assert.equal((await console.post(`/applications/${spa}/secrets/new`, own)).status, 303);
    assert.deepEqual((await found(spa)).secrets, []);
  });

  test("assigns users by email address, lists and unassigns them", async () => {
    const id = await make("spa", { name: "Assigned", redirectUris: "https://assigned.example/" });
    const unknown = await console.send(`/applications/${id}/users`, { email: other.user.email });
    assert.equal(unknown.status, 400);
    assert.match(textOf(unknown, "email-fault") ?? "", /No user of Acme/);
    const done = await console.send(`/applications/${id}/users`, {
      email: ` ${org.user.email.toUpperCase()} `,
    });
    assert.match(done.location ?? "", /done=assigned/);
    const twice = await console.send(`/applications/${id}/users`, { email: org.user.email });
    assert.match(twice.location ?? "", /done=already/);
    const list = await console.get(`/applications/${id}/users`);
    assert.ok(list.body.includes(`id="user-${org.user.id}"`));
    assert.ok(list.body.includes(org.administrator.email), "who assigned them");
    assert.match((await console.get(`/applications/${id}/access`)).body, /1 user is assigned/);
    await console.send(`/applications/${id}/users/${org.user.id}/take-off`);
    assert.ok(!(await console.get(`/applications/${id}/users`)).body.includes(`id="user-${org.user.id}"`));
    const over = await console.get(`/applications/${id}/users/${org.user.id}/take-off`);
    assert.match(over.location ?? "", new RegExp(`/applications/${id}/users\\?done=already$`));
    const theirs = await console.get(`/applications/${id}/users/${other.user.id}/take-off`);
    assert.equal(theirs.status, 404);
  });

  /** The form of the toast. */
  const undoIn = ({ body }: { body: string }) =>
    /id="done-notice"[\s\S]*?<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(body);
  const pressUndo = async (page: { body: string }) => {
    const [, action = "", fields = ""] = undoIn(page) ?? [];
    const sent = [...fields.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    return console.browser.post(running.baseUrl + action, Object.fromEntries(sent) as Record<string, string>);
  };

  test("the toast of an unassigned user assigns them again, and is there only while they aren't", async () => {
    const id = await make("spa", { name: "Taken off", redirectUris: "https://off.example/" });
    await console.send(`/applications/${id}/users`, { email: org.user.email });
    const off = await console.send(`/applications/${id}/users/${org.user.id}/take-off`);
    const page = await console.browser.get(off.location ?? "");
    assert.match((await pressUndo(page)).location ?? "", /done=assigned$/);
    const back = await console.browser.get(off.location ?? "");
    assert.ok(back.body.includes(`id="user-${org.user.id}"`));
    assert.equal(undoIn(back), null);
    for (const user of [other.user.id, "x", ""])
      assert.equal(undoIn(await console.get(`/applications/${id}/users?done=takenOff&user=${user}`)), null);
  });

  test("the toast of a disabled application enables it, and the other way round", async () => {
    const id = await make("spa", { name: "To and fro", redirectUris: "https://fro.example/" });
    const off = await console.send(`/applications/${id}/disable`);
    const on = await pressUndo(await console.browser.get(off.location ?? ""));
    assert.equal((await found(id)).disabledAt, null);
    assert.equal(undoIn(await console.browser.get(off.location ?? "")), null, "it is enabled");
    await pressUndo(await console.browser.get(on.location ?? ""));
    assert.notEqual((await found(id)).disabledAt, null);
  });

  test("disables, enables and deletes after confirmation, deletion after typing the name", async () => {
    const id = await make("spa", { name: "Ended", redirectUris: "https://ended.example/" });
    await console.send(`/applications/${id}/disable`);
    assert.notEqual((await found(id)).disabledAt, null);
    const event = await newest();
    assert.deepEqual([event?.action, event?.address], ["application.disabled", "127.0.0.1"]);
    assert.match(
      (await console.get(`/applications/${id}`)).body,
      /id="application-state"><span class="state bad">/,
    );
    const again = { orgId: org.organisation.id, id, disabled: true, actor: "operator" };
    assert.equal(await setApplicationStatus(running.service, again), false, "it was so already");
    assert.deepEqual((await newest())?.id, event?.id, "and nothing is written");
    const form = formOfPage(await console.get(`/applications/${id}/enable`));
    const press = () => console.post(`/applications/${id}/enable`, form);
    const places = (await Promise.all([press(), press()])).map(({ location = "" }) => location);
    assert.deepEqual(places.map((place) => place.replace(/^.*=/, "")).sort(), ["already", "enabled"]);
    assert.equal((await found(id)).disabledAt, null);
    const wrong = await console.send(`/applications/${id}/delete`, { name: "ended" });
    assert.equal(wrong.status, 400);
    assert.ok(await found(id));
    const deleted = await console.send(`/applications/${id}/delete`, { name: "Ended" });
    assert.match(deleted.location ?? "", /\/applications\?done=deleted$/);
    assert.equal((await console.get(`/applications/${id}`)).status, 404);
    assert.equal((await newest())?.action, "application.deleted");
  });

  test("answers 404 for another organisation's application at every address", async () => {
    const id = other.web.application.id;
    const before = await findApplication(running.service.database.query, other.organisation.id, id);
    const own = formOfPage(await console.get(`/applications/${org.web.application.id}`), {
      name: "Taken",
    });
    const tabs = ["", "/urls", "/credentials", "/tokens", "/access", "/advanced"];
    for (const rest of [...tabs, "/settings", "/secrets/new", "/users", "/disable", "/delete"])
      assert.equal((await console.get(`/applications/${id}${rest}`)).status, 404, rest);
    for (const rest of [...tabs, "/secrets/new", "/users", "/disable", "/delete"])
      assert.equal((await console.post(`/applications/${id}${rest}`, own)).status, 404, rest);
    assert.deepEqual(
      await findApplication(running.service.database.query, other.organisation.id, id),
      before,
    );
  });

  test("rejects another site's form on every route", async () => {
    const id = org.native.id;
    const before = await found(id);
    for (const rest of [
      "/new",
      `/${id}`,
      `/${id}/urls`,
      `/${id}/secrets/new`,
      `/${id}/users`,
      `/${id}/disable`,
    ]) {
      const page = await console.post(`/applications${rest}`, { csrf: "forged", name: "Taken", kind: "web" });
      assert.ok(page.status === 403 || page.status === 303, `${rest}: ${page.status}`);
    }
    assert.deepEqual(await found(id), before);
  });

  test("a check while typing reports what the form would report", async () => {
    const check = async (name: string, value: string, type = "confidential") =>
      JSON.parse(
        (await console.get(`/checks/${name}?${new URLSearchParams({ type, value })}`)).body,
      ) as unknown;
    assert.deepEqual(await check("redirect-uris", "https://fine.example/cb"), {
      ok: true,
      text: "Looks good.",
    });
    assert.deepEqual(await check("redirect-uris", "com.example.app:/cb", "native"), {
      ok: true,
      text: "Looks good.",
    });
    const bad = (await check("redirect-uris", "https://fine.example/cb\nhttps://*.example/")) as {
      ok: boolean;
      text: string;
    };
    assert.ok(!bad.ok && bad.text.startsWith("Line 2: "));
    assert.equal(((await check("return-urls", "https://a.example//b")) as { ok: boolean }).ok, false);
    assert.equal((await console.get("/checks/passwords?value=x")).status, 404);
  });
});
