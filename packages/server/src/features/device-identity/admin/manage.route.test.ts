/** devices/manage: who gets in, what the pages do, and that everything is of one organisation. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { enrol, enrolledByCode } from "../../../testing/fixtures/enrolments.ts";
import { giveAuthenticator, showsTwoFactor } from "../../../testing/fixtures/factors.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import { follow, logIn, showsLogin } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const codeOn = ({ body }: TestPage): string => /id="enrollment-code"[^>]*>([^<]+)</.exec(body)?.[1] ?? "";
const SECONDS_OF_FRESHNESS = 600;

describe("device administration", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let other: TestOrganisation;
    let clock: FakeClock;
    let account: TestAccount;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
      org = await withAdministrator("Acme");
      other = await withAdministrator("Other");
      account = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    /** With an administrator as its `user`. */
    async function withAdministrator(name: string): Promise<TestOrganisation> {
      const made = await makeOrganisation(running.service, name);
      const email = `admin@${name.toLowerCase()}.example`;
      const person = { email, password: PASSWORD, firstname: "Ada", surname: "Admin", emailVerified: true };
      const { organisation } = made;
      const role = "Administrator";
      const id = await createUser(running.service, { organisation, ...person, role, actor: "test" });
      return { ...made, user: { id, email, password: PASSWORD } };
    }

    const at = (rest = "", { organisation: { id } } = org) =>
      `${running.baseUrl}/devices/manage/${id}${rest}`;
    async function signedIn(here = org, path = ""): Promise<TestBrowser> {
      const browser = testBrowser();
      const page = await logIn(browser, here, await browser.get(at(path, here)));
      assert.equal(page.status, 200, page.body.slice(0, 300));
      return browser;
    }
    const registration = { name: "Till", attestation: "none", expiresIn: "86400", replaces: "" };
    /** Sends the list page's form. */
    async function register(browser: TestBrowser, more: Record<string, string> = {}): Promise<TestPage> {
      const { hidden } = await browser.get(at());
      return browser.post(at("/register"), { ...registration, ...hidden, ...more });
    }
    const lastAction = async () =>
      (await listAuditEvents(running.service.database.query, org.organisation.id, 1))[0]?.action;
    const deviceOf = (id: string) => findDevice(running.service.database.query, org.organisation.id, id);
    const enrolled = (name: string) => enrolledByCode(running.service, org.issuer, { name });
    const idsOn = ({ body }: TestPage) =>
      [...body.matchAll(/id="device-([0-9a-f-]{36})"/g)].map(([, id]) => id);

    test("a signed-out administrator signs in and returns; others are denied", async () => {
      const browser = testBrowser();
      const login = await browser.get(at("?search=till"));
      assert.ok(showsLogin(login));
      assert.match(login.body, /Sign in to the devices of Acme/);
      const page = await logIn(browser, org, login);
      assert.equal(page.url, at("?search=till"));
      assert.match(page.body, /id="device-register-submit"/);

      const standard = testBrowser();
      const user = { ...org, user: { ...org.user, email: "user@acme.example" } };
      const refused = await logIn(standard, user, await standard.get(at()));
      assert.equal(refused.status, 403);
      assert.match(refused.body, /Only administrators of the organisation can open this page/);
      const { id } = (await listOf(account))[0] ?? { id: newUuid() };
      for (const path of ["", "/policy", `/${id}`, `/${id}/revoke`, `/codes/${id}/withdraw`])
        assert.equal((await standard.get(at(path))).status, 403, path);
      for (const path of ["/register", "/policy", `/${id}/revoke`, `/codes/${id}/withdraw`])
        assert.equal((await standard.post(at(path), registration)).status, 403, path);

      const foreign = await signedIn(other);
      for (const path of ["", "/policy", `/${id}/revoke`])
        assert.ok(showsLogin(await foreign.get(at(path))), path);
      assert.ok(showsLogin(await foreign.post(at("/register"), registration)));
    });

    async function listOf(
      by: TestAccount,
      query = "",
    ): Promise<{ id: string; name: string; state: string }[]> {
      const { body } = await callApi(at(query), by);
      return body["items"] as { id: string; name: string; state: string }[];
    }

    test("registers, lists and revokes a device; the code is shown once", async () => {
      const browser = await signedIn();
      const shown = await register(browser, { name: "Till <4>" });
      assert.equal(shown.status, 200);
      assert.equal(shown.headers.get("cache-control"), "no-store");
      const code = codeOn(shown);
      assert.match(code, /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
      const { organisation } = org;
      assert.ok(
        shown.body.includes(
          `SIGNET_ENROLLMENT_CODE=${code} signet-device enroll --server ${running.baseUrl} --org ${organisation.id}<`,
        ),
      );
      assert.equal(await lastAction(), "enrollment-code.created");
      const waiting = await browser.get(at());
      assert.match(waiting.body, /Till &lt;4&gt;<\/bdi>/);
      assert.match(waiting.body, /created by admin@acme\.example/);
      assert.ok(!waiting.body.includes(code), "once");

      const { status, body } = await enrol(org.issuer, code);
      assert.equal(status, 201);
      const id = String(body["device_id"]);
      const list = await browser.get(at());
      assert.ok(idsOn(list).includes(id));
      assert.ok(!list.body.includes('class="code-withdraw"'), "the code is used");
      const question = await browser.get(at(`/${id}/revoke`));
      assert.match(question.body, /Revoke Till &lt;4&gt;\?/);
      assert.equal((await deviceOf(id))?.revokedAt, null, "asking changes nothing");
      const reason = "keyCompromise";
      const done = await browser.post(at(`/${id}/revoke`), { ...question.hidden, reason });
      assert.equal(done.location, at("?done=revoked"));
      const device = await deviceOf(id);
      assert.deepEqual([device?.revokedAt, device?.revokedReason], [clock(), reason]);
      assert.equal(await lastAction(), "device.revoked");
      assert.match((await browser.get(at("?done=revoked"))).body, /Device revoked/);
      const again = await browser.post(at(`/${id}/revoke`), { ...question.hidden, reason });
      assert.equal(again.location, at("?done=already"), "a second press");
    });

    test("the command has --key tpm when a TPM is required", async () => {
      const browser = await signedIn();
      const asked = await register(browser, { attestation: "required" });
      assert.match(asked.body, /--key tpm</);
    });

    test("an invalid registration shows its error, keeps the input, and creates no code", async () => {
      const browser = await signedIn();
      const foreign = await enrolledByCode(running.service, other.issuer);
      const revoked = await enrolled("Old");
      await callApi(at(`/${revoked.deviceId}/revoke`), account, { method: "POST", strictAt: clock() });
      const faults: [Record<string, string>, string][] = [
        [{ name: "x".repeat(101) }, "name-fault"],
        [{ name: "a\u0007b" }, "name-fault"],
        [{ replaces: "x" }, "replaces-fault"],
        [{ replaces: newUuid() }, "replaces-fault"],
        [{ replaces: foreign.deviceId }, "replaces-fault"],
        [{ replaces: revoked.deviceId }, "replaces-fault"],
        [{ attestation: "perhaps" }, "attestation-fault"],
        [{ expiresIn: "60" }, "expiresIn-fault"],
      ];
      for (const [more, where] of faults) {
        const page = await register(browser, { name: "Kept", ...more });
        assert.equal(page.status, 400, JSON.stringify(more));
        assert.ok(page.body.includes(`id="${where}"`), JSON.stringify(more));
        if (!more["name"]) assert.match(page.body, /name="name" type="text" value="Kept"/);
      }
      assert.doesNotMatch((await browser.get(at())).body, />Kept</);
    });

    test("a replacement revokes the replaced device when it is enrolled", async () => {
      const { deviceId } = await enrolled("Old till");
      const browser = await signedIn();
      const list = await browser.get(at());
      assert.ok(list.body.includes(`?replaces=${deviceId}#register`));
      const filled = await browser.get(at(`?replaces=${deviceId}`));
      assert.ok(filled.body.includes(`name="replaces" type="text" value="${deviceId}"`));
      const shown = await register(browser, { name: "New till", replaces: deviceId });
      assert.match((await browser.get(at())).body, /Replaces Old till/);
      assert.equal((await deviceOf(deviceId))?.revokedAt, null);
      await enrol(org.issuer, codeOn(shown));
      assert.equal((await deviceOf(deviceId))?.revokedReason, "superseded");
    });

    test("a withdrawn code enrols nothing", async () => {
      const browser = await signedIn();
      const code = codeOn(await register(browser, { name: "Lost" }));
      const [, path = ""] =
        /href="[^"]*(\/codes\/[^"]+)"[^>]*for Lost"/.exec((await browser.get(at())).body) ?? [];
      const question = await browser.get(at(path));
      assert.match(question.body, /Withdraw the code for Lost\?/);
      const done = await browser.post(at(path), question.hidden);
      assert.equal(done.location, at("?done=withdrawn"));
      assert.match((await browser.get(at("?done=withdrawn"))).body, /Code withdrawn/);
      assert.equal((await enrol(org.issuer, code)).body["error"], "invalid_code");
      assert.equal((await browser.post(at(path), question.hidden)).location, at("?done=already"));
      const unused = codeOn(await register(browser, { name: "" }));
      const unnamed = await browser.get(at());
      const [, other = ""] = /href="[^"]*(\/codes\/[^"]+)"[^>]*Unnamed device"/.exec(unnamed.body) ?? [];
      assert.match((await browser.get(at(other))).body, /Withdraw this code\?/);
      await enrol(org.issuer, unused);
      assert.equal((await browser.get(at(other))).location, at("?done=spent"), "used meanwhile");
      assert.match((await browser.get(at("?done=spent"))).body, /Code not withdrawn: it was already used/);
    });

    test("a new policy applies to later enrolments", async () => {
      const browser = await signedIn();
      const page = await browser.get(at("/policy"));
      assert.match(page.body, /value="optional" checked/);
      assert.match(page.body, new RegExp(`signet device-roots import --org ${org.organisation.id}`));
      const chosen = { attestation: "required", ekTrust: "both" };
      const saved = await browser.post(at("/policy"), { ...page.hidden, ...chosen });
      assert.equal(saved.location, at("/policy?done=saved"));
      const told = await callApi(at("/policy"), account);
      assert.deepEqual(told.body, chosen);
      const shown = await register(browser, { name: "Needs a TPM" });
      assert.match(shown.body, /--key tpm</);
      assert.equal((await enrol(org.issuer, codeOn(shown))).body["error"], "attestation_required");
      const settings = { deviceAttestation: "optional", deviceEkTrust: "chain" } as const;
      const { service } = running;
      await changeOrganisationSettings(service, { orgId: org.organisation.id, settings, actor: "test" });
    });

    test("rejects forms that are foreign, stale or from another browser", async () => {
      const { deviceId } = await enrolled("Stays");
      const browser = await signedIn();
      const { hidden } = await browser.get(at());
      const stranger = await signedIn();
      const { hidden: theirs } = await stranger.get(at());
      const crossSite = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
      for (const path of ["/register", "/policy", `/${deviceId}/revoke`]) {
        const form = { ...registration, attestation: "required" };
        const before = await lastAction();
        for (const csrf of [undefined, "", "x", theirs["csrf"]]) {
          const sent = csrf === undefined ? form : { ...form, csrf };
          const answer = await browser.post(at(path), sent);
          assert.equal(answer.status, 403, path);
          assert.match(answer.body, /This page has expired/);
        }
        assert.equal((await browser.post(at(path), { ...form, ...hidden }, crossSite)).status, 403, path);
        assert.equal(await lastAction(), before);
      }
      assert.equal((await deviceOf(deviceId))?.revokedAt, null);
    });

    test("changes require recent authentication with a second factor; reading doesn't", async () => {
      const { deviceId } = await enrolled("Fresh");
      const browser = await signedIn();
      const { hidden } = await browser.get(at());
      clock.advance(SECONDS_OF_FRESHNESS * 1000);
      assert.match((await browser.get(at())).body, /id="device-register-submit"/);
      assert.match((await browser.get(at("/policy"))).body, /id="policy-save"/);
      assert.ok(showsLogin(await browser.get(at(`/${deviceId}/revoke`))));
      const before = await lastAction();
      const asksForProof = ({ status, body }: TestPage) =>
        status === 403 && body.includes('id="prove-go-on"');
      for (const path of ["/policy", `/${deviceId}/revoke`])
        assert.ok(asksForProof(await browser.post(at(path), hidden)), path);
      const asked = await browser.post(at("/register"), { ...registration, ...hidden, name: "Typed before" });
      assert.ok(asksForProof(asked));
      assert.equal(await lastAction(), before);
      const { organisation } = org;
      const beside = `${running.baseUrl}/oauth/manage/${organisation.id}/confirm-identity`;
      const login = await browser.get(beside);
      assert.ok(showsLogin(login));
      await logIn(browser, org, login);
      // The sign-in has made another session: its form comes back once, with what was typed.
      const goneOn = await browser.post(at("/register"), asked.hidden);
      assert.match(goneOn.body, /Typed before/);
      const typed = { ...registration, name: "Typed before" };
      const made =
        goneOn.status === 200 ? goneOn : await browser.post(at("/register"), { ...typed, ...goneOn.hidden });
      assert.ok(codeOn(made), "what was typed goes on");

      const app = await giveAuthenticator(running.service, org);
      const { hidden: sealed } = await browser.get(at());
      assert.ok(
        asksForProof(await browser.post(at("/register"), { ...registration, ...sealed })),
        "requires the second factor of users who have one",
      );
      const second = await browser.get(beside);
      assert.ok(showsTwoFactor(second));
      const code = app.code(clock());
      const proven = await browser.post(`${org.issuer}/twofactor`, { ...second.hidden, code });
      assert.equal((await follow(browser, proven)).status, 200);
      assert.ok(codeOn(await register(browser, { name: "Proven" })));
    });

    test("searches by name, id and status, with pages, newest first", async () => {
      const here = await withAdministrator(`List${randomUUID().slice(0, 8)}`);
      const admin = await makeSystemAccount(running.service, here, { administrator: true });
      const ids: string[] = [];
      for (const name of ["Till 1", "Till 2", "100% sure", "under_score"]) {
        const { deviceId } = await enrolledByCode(running.service, here.issuer, { name });
        ids.push(deviceId);
      }
      const [first = "", second = ""] = ids;
      const list = async (query: string) =>
        (await callApi(at(query, here), admin)).body as {
          items: { id: string; name: string }[];
          nextCursor: string | null;
        };
      const names = async (query: string) => (await list(query)).items.map(({ name }) => name);
      assert.deepEqual(await names(""), ["under_score", "100% sure", "Till 2", "Till 1"]);
      assert.deepEqual(await names("?search=tILL"), ["Till 2", "Till 1"]);
      assert.deepEqual(await names(`?search=${first.slice(20).toUpperCase()}`), ["Till 1"]);
      assert.deepEqual(await names("?search=%25"), ["100% sure"], "no wildcard");
      assert.deepEqual(await names("?search=_"), ["under_score"], "neither");
      assert.deepEqual(await names("?search=%21"), []);
      const page = await list("?limit=3");
      assert.equal(page.items.length, 3);
      assert.deepEqual(await names(`?limit=3&cursor=${page.nextCursor}`), ["Till 1"]);

      await callApi(at(`/${second}/revoke`, here), admin, { method: "POST", strictAt: clock() });
      assert.deepEqual(await names("?state=revoked"), ["Till 2"]);
      assert.deepEqual(await names("?state=active"), ["under_score", "100% sure", "Till 1"]);
      assert.deepEqual(await names("?state=expired"), []);
      clock.advance(91 * 86_400_000);
      assert.deepEqual(await names("?state=expired"), ["under_score", "100% sure", "Till 1"]);
      assert.deepEqual(await names("?state=active"), []);
      const browser = await signedIn(here);
      const shown = await browser.get(at("?search=till&state=expired", here));
      assert.deepEqual(idsOn(shown), [first]);
      assert.match((await browser.get(at("?search=nothing", here))).body, /No results/);
      const cursor = `${Buffer.from(second).toString("base64url")}.${second}`;
      const older = await browser.get(at(`?after=${cursor}`, here));
      assert.deepEqual(idsOn(older), [first]);
      assert.match(older.body, /id="page-newest"/);
      for (const odd of ["?after=x", "?state=odd", "?sort=x"])
        assert.equal((await browser.get(at(odd, here))).status, 200, odd);
    });

    test("accepts JSON from our pages with a CSRF token only", async () => {
      const { deviceId } = await enrolled("By script");
      // The administrator has a second factor by now.
      const here = await withAdministrator(`Json${randomUUID().slice(0, 8)}`);
      const browser = await signedIn(here);
      const { hidden } = await browser.get(at("", here));
      const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
      const send = (path: string, body: object, headers: Record<string, string> = {}, target = here) =>
        callApi(at(path, target), undefined, { body, headers: { cookie, ...headers } });
      const token = { "x-csrf-token": hidden["csrf"] ?? "" };
      const made = await send("/register", { name: "Script" }, token);
      assert.equal(made.status, 201, made.text);
      assert.equal((await send("/register", {})).body["error"], "csrf");
      assert.equal((await send("/register", {}, { "x-csrf-token": "x" })).status, 403);
      assert.equal((await send(`/${deviceId}/revoke`, {}, token)).status, 404, "another organisation's");
      assert.equal((await send(`/${deviceId}/revoke`, {}, token, org)).status, 401);
      const listed = await callApi(at("", here), undefined, {
        headers: { cookie, accept: "application/json" },
      });
      assert.deepEqual(listed.body["items"], []);
      clock.advance(SECONDS_OF_FRESHNESS * 1000);
      assert.equal((await send("/register", {}, token)).body["error"], "interaction_required");
    });

    test("an Idempotency-Key creates one code and returns it once", async () => {
      const headers = { "idempotency-key": randomUUID() };
      const body = { name: "Again", expiresIn: 600 };
      const first = await callApi(at("/register"), account, { body, headers, strictAt: clock() });
      assert.equal(first.status, 201, first.text);
      assert.equal(first.body["expiresAt"], new Date(clock() + 600_000).toISOString());
      const again = await callApi(at("/register"), account, { body, headers, strictAt: clock() });
      assert.deepEqual(again.body, { ...first.body, code: null });
      assert.equal((await enrol(org.issuer, String(first.body["code"]))).status, 201);
    });

    test("requires strict signatures for every change", async () => {
      const { deviceId } = await enrolled("Strict");
      const made = await callApi(at("/register"), account, { body: {}, strictAt: clock() });
      for (const [path, body] of [
        ["/register", { name: "Once" }],
        [`/${deviceId}/revoke`, { reason: "superseded" }],
        [`/${deviceId}/revoke`, undefined],
        [`/codes/${made.body["id"]}/withdraw`, undefined],
        ["/policy", { attestation: "none" }],
      ] as const) {
        const asked = { method: "POST", ...(body ? { body } : {}) };
        assert.equal((await callApi(at(path), account, asked)).status, 401, path);
        const answer = await callApi(at(path), account, { ...asked, strictAt: clock() });
        assert.ok(answer.status < 300, `${path}: ${answer.text}`);
      }
      assert.equal((await deviceOf(deviceId))?.revokedReason, "superseded");
      const back = { attestation: "optional" };
      await callApi(at("/policy"), account, { method: "POST", body: back, strictAt: clock() });
    });
  });
});
