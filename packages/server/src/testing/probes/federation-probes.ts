/** For organisation-isolation.test.ts: the federation names an application, and by it the organisation. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../fakes/browser.ts";
import { federate, keyOf, loginAddress, makeFederatedApp, RETURN_URL } from "../fixtures/federation.ts";
import { follow, logIn, showsLogin } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  readonly browser: TestBrowser;
  readonly consent: TestPage;
}

async function applications({ service, a, b }: Loot) {
  const ofA = await makeFederatedApp(service, a, { returnUrls: ["https://only-at-a.example/"] });
  return { ofA, ofB: await makeFederatedApp(service, b) };
}

export const federationProbes = {
  "GET /federation/Login": async (loot: Loot) => {
    const { browser, a, b, consent } = loot;
    const { ofA, ofB } = await applications(loot);
    const returnUrl = "https://only-at-a.example/";
    assert.ok(
      keyOf(await federate(browser, loot, ofA, { returnUrl, prompt: "none" })),
      "at A it is a session",
    );
    const silent = await federate(browser, loot, ofB, { prompt: "none" });
    assert.equal(silent.location, `${RETURN_URL}?error=login_required`, "A's session");
    const elsewhere = await federate(browser, loot, ofB, { returnUrl });
    assert.deepEqual([elsewhere.status, elsewhere.location], [400, undefined], "A's return address");
    const own = testBrowser();
    const page = await federate(own, loot, ofB);
    assert.ok(showsLogin(page));
    const { email, password } = a.user;
    const foreignUser = await own.post(`${b.issuer}/login`, { ...page.hidden, email, password });
    assert.equal(foreignUser.status, 401, "A's user");
    const flow = consent.hidden["flow"] ?? "";
    assert.equal((await own.post(`${b.issuer}/login`, { ...page.hidden, flow })).status, 400, "A's flow");
    const toA = await own.get(`${a.issuer}/authorize?flow=${page.hidden["flow"]}`);
    assert.equal(toA.status, 400, "B's flow at A");
    assert.ok(keyOf(await logIn(own, b, page)));
  },
  "POST /federation/Login": async (loot: Loot) => {
    const { ofA, ofB } = await applications(loot);
    const address = `${loot.service.config.baseUrl}/federation/Login`;
    const foreign = { appId: ofA.id, returnUrl: RETURN_URL };
    assert.equal(
      (await loot.browser.post(address, foreign)).status,
      400,
      "B's return address for A's application",
    );
    const posted = await loot.browser.post(address, { appId: ofB.id, returnUrl: RETURN_URL });
    assert.equal(posted.location, loginAddress(loot, ofB));
    assert.ok(showsLogin(await follow(loot.browser, posted)), "A's session");
  },
};
