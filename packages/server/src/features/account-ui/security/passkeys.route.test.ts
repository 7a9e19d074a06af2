// Adding, renaming and removing passkeys: which responses are accepted, and whose passkeys can be changed.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listPasskeys } from "../../../core/second-factors/passkeys/passkeys.store.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { softPasskey } from "../../../testing/fakes/soft-passkey.ts";
import {
  givePasskey,
  giveRecoveryCodes,
  ownerIn,
  passkeyOptions,
  showFactor,
  showsRecoveryCodes,
} from "../../../testing/fixtures/factors.ts";
import { follow, logIn, tokensOf, withUser } from "../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../testing/probes/answers.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(60 * MINUTE);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
  });

  const url = (rest = "") => `${org.issuer}/account/security${rest === "" ? "" : `/${rest}`}`;
  const summary = () => findFactorSummary(running.service.database.query, ownerIn(org));
  const showsSecurity = ({ body }: TestPage) => body.includes('id="totp-title"');
  const open = async (browser: TestBrowser, rest = "") => follow(browser, await browser.get(url(rest)));
  const send = async (browser: TestBrowser, rest: string, form: Record<string, string>) =>
    follow(browser, await browser.post(url(rest), form));
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 30))
      .filter(({ target }) => target === org.user.id)
      .map(({ action }) => action);

  async function signedIn(): Promise<TestBrowser> {
    const browser = testBrowser();
    const page = await logIn(browser, org, await open(browser));
    assert.ok(showsSecurity(page));
    return browser;
  }
  const addPasskey = async (browser: TestBrowser, name = "Laptop") => {
    const passkey = softPasskey({ origin: running.service.config.baseUrl });
    const page = await open(browser, "passkeys");
    const answer = passkey.register(passkeyOptions(page));
    const after = await send(browser, "passkeys", { ...page.hidden, passkey: answer, name });
    return { passkey, answer, page, after };
  };

  test("adds, renames and removes a passkey", async () => {
    const browser = await signedIn();
    const { after, passkey } = await addPasskey(browser, "  Work <laptop> ");
    assert.ok(showsRecoveryCodes(after));
    assert.equal(payloadOf((await tokensOf(browser, org)).idToken)["acr"], "phr");
    const list = await open(browser);
    assert.match(list.body, /Work &lt;laptop&gt;/);
    const page = await open(browser, `passkey?id=${passkey.id}`);
    const bad = await send(browser, "passkey", { ...page.hidden, change: "name", name: " \u202E" });
    assert.equal(bad.status, 422);
    assert.match(
      (await send(browser, "passkey", { ...page.hidden, change: "name", name: "Phone" })).body,
      /Phone/,
    );
    assert.ok(showsSecurity(await send(browser, "passkey", { ...page.hidden, change: "removal" })));
    assert.deepEqual(await summary(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
    assert.deepEqual((await actions()).slice(0, 2), ["passkey.removed", "passkey.renamed"]);
  });

  test("rejects a response to another browser's, another user's or an expired challenge", async () => {
    const browser = await signedIn();
    const other = await signedIn();
    const passkey = softPasskey({ origin: running.service.config.baseUrl });
    const here = await open(browser, "passkeys");
    const refused = async (answer: string) => {
      const page = await send(browser, "passkeys", { ...here.hidden, passkey: answer });
      assert.ok([403, 422].includes(page.status), String(page.status));
      assert.equal((await summary()).passkeys, 0);
    };
    await refused(passkey.register(passkeyOptions(await open(other, "passkeys"))));
    const options = passkeyOptions<Parameters<typeof passkey.register>[0]>(here);
    for (const wrong of [
      { origin: "https://evil.example" },
      { rpId: "evil.example" },
      { type: "webauthn.get" },
      { userPresent: false },
      { challenge: "AAAA" },
    ])
      await refused(passkey.register(options, wrong));
    await refused("");
    await refused("{");
    const mine = org;
    org = await withUser(running.service, home, `mallory${count}@acme.example`);
    const theirs = passkey.register(passkeyOptions(await open(await signedIn(), "passkeys")));
    org = mine;
    await refused(theirs);
    clock.advance(9 * MINUTE);
    const fine = await send(browser, "passkeys", { ...here.hidden, passkey: passkey.register(options) });
    assert.ok(showsRecoveryCodes(fine));
  });

  test("a response adds one passkey, and a passkey can be registered only once", async () => {
    const browser = await signedIn();
    const { answer, page } = await addPasskey(browser);
    const again = await send(browser, "passkeys", { ...page.hidden, passkey: answer });
    assert.ok([403, 422].includes(again.status));
    const [{ id = "" } = {}] = await listPasskeys(running.service.database.query, ownerIn(org));
    org = await withUser(running.service, home, `mallory${count}@acme.example`);
    const mallory = await signedIn();
    const next = await open(mallory, "passkeys");
    const stolen = softPasskey({ origin: running.service.config.baseUrl, credentialId: id });
    const taken = await send(mallory, "passkeys", {
      ...next.hidden,
      passkey: stolen.register(passkeyOptions(next)),
    });
    assert.equal(taken.status, 422);
    assert.equal((await summary()).passkeys, 0);
  });

  test("limits an account to twenty passkeys", async () => {
    for (let made = 0; made < 20; made++) await givePasskey(running.service, org);
    await running.service.database.query
      .deleteFrom("totp_credential")
      .where("user_id", "=", org.user.id)
      .execute();
    const browser = testBrowser();
    const factor = await logIn(browser, org, await open(browser));
    const [code = ""] = await giveRecoveryCodes(running.service, org);
    assert.ok(showsSecurity(await showFactor(browser, org, factor, { method: "recovery", code })));
    const { after } = await addPasskey(browser);
    assert.equal(after.status, 422);
    assert.equal((await summary()).passkeys, 20);
  });

  test("returns 404 for another user's passkey and trusted browser", async () => {
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    const theirs = await givePasskey(running.service, otto);
    const browser = await signedIn();
    for (const rest of [`passkey?id=${theirs.id}`, "passkey?id=x", "passkey", "browsers?id=x"])
      assert.equal((await open(browser, rest)).status, 404, rest);
    const { csrf = "" } = (await open(browser, "authenticator")).hidden;
    for (const change of ["name", "removal"]) {
      const page = await send(browser, "passkey", { csrf, id: theirs.id, change, name: "mine" });
      assert.equal(page.status, 404);
    }
    const [kept] = await listPasskeys(running.service.database.query, ownerIn(otto));
    assert.equal(kept?.name, "Test");
  });

  test("writes the audit event", () => assertAudited(running.service.database.query, "passkey.added"));
});
