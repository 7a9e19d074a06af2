// Whatever stands in a stored name or comes with a request is text on every page (quality.md, "Attacks").

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication } from "../../../../core/applications/applications.ts";
import { createOrganisation } from "../../../../core/organisations/organisations.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { defineScopes } from "../../../../testing/fixtures/scopes.ts";
import {
  answerOf,
  decide,
  logIn,
  requestQuery,
  showsAccountChoice,
  showsConsent,
  visit,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const PROBE = `"'></title></style><img src=x onerror=alert(1)><script>alert(1)</script>`;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let browser: TestBrowser;
  let clientId: string;
  const clock = fakeClock();
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      demo: async (service) => {
        const { id } = await createOrganisation(service, service.database.query, {
          name: `Listed ${PROBE}`,
          actor: "test",
        });
        return { organisationIds: [id], orgId: id, clientId: id, credentialsFile: PROBE };
      },
    });
    const { service } = running;
    const made = await makeOrganisation(service);
    const organisation = await createOrganisation(service, service.database.query, {
      name: `Org ${PROBE}`,
      actor: "test",
    });
    const email = `${PROBE.replaceAll(" ", "/")}@acme.example`.slice(-64 - "@acme.example".length);
    await createUser(service, {
      organisation,
      email,
      password: PASSWORD,
      firstname: PROBE,
      surname: PROBE,
      role: "Standard",
      emailVerified: true,
      actor: "test",
    });
    await defineScopes(service, organisation.id, "<img/src=x/onerror=alert(1)>", "'onload=alert(1)");
    const application = await createApplication(service, {
      orgId: organisation.id,
      name: `App ${PROBE}`,
      clientType: "confidential",
      settings: {
        redirectUris: [REDIRECT_URI],
        homepageUri: `https://app.example/?${PROBE}`,
        logoUri: `https://evil.example/${PROBE}`,
        allowedScopes: ["openid", "<img/src=x/onerror=alert(1)>", "'onload=alert(1)"],
        postLogoutRedirectUris: ["https://app.example/bye"],
      },
      actor: "test",
    });
    clientId = application.id;
    const issuer = made.issuer.replace(made.organisation.id, organisation.id);
    org = { ...made, organisation, issuer, user: { id: "", email, password: PASSWORD } };
    browser = testBrowser();
  });
  after(() => running.close());

  const ask = (more: Record<string, string> = {}) =>
    visit(browser, org, {
      clientId,
      more: { scope: "openid <img/src=x/onerror=alert(1)> 'onload=alert(1)", ...more },
    });

  /** Nothing of the probe made a tag, an attribute or an address that a browser follows. */
  function assertInert({ body }: TestPage, what: string) {
    assert.doesNotMatch(body, /<img src=x|<img\/src|<script>|<\/title><\/style>/, what);
    for (const tag of body.match(/<(?:"[^"]*"|[^">])*>/g) ?? []) {
      assert.doesNotMatch(tag.replace(/"[^"]*"/g, '""'), /onerror|onload|alert/, `${what}: ${tag}`);
    }
    for (const [, address = ""] of body.matchAll(/\s(?:src|href|action)="([^"]*)"/g))
      assert.doesNotMatch(address, /^\s*(?:javascript|data:text)|evil/i, what);
  }
  function assertText(page: TestPage, what: string) {
    assertInert(page, what);
    assert.ok(page.body.includes("&lt;"), `${what}: the probe is on the page`);
  }

  test("hostile names of organisations, applications, users and scopes are escaped on every page", async () => {
    const login = await ask({ login_hint: PROBE, ui_locales: PROBE });
    assertText(login, "login");
    const wrong = await logIn(browser, org, login, { email: PROBE, password: PROBE });
    assert.equal(wrong.status, 401);
    assertText(wrong, "login failed");
    const consent = await logIn(browser, org, login);
    assert.ok(showsConsent(consent), consent.body);
    assertText(consent, "consent");
    clock.advance(1_000);
    const account = await ask({ prompt: "select_account" });
    assert.ok(showsAccountChoice(account));
    assertText(account, "account");
    const answer = answerOf(await decide(browser, org, consent));
    assert.ok(answer.get("code"));
    const signOut = await browser.get(
      `${org.issuer}/end_session?${new URLSearchParams({ client_id: clientId, state: PROBE, ui_locales: PROBE })}`,
    );
    assertText(signOut, "sign out");
    assert.equal(signOut.hidden["state"], PROBE, "carried along as it was");
    assertText(
      await browser.get(
        `${org.issuer}/end_session?client_id=${clientId}&id_token_hint=${encodeURIComponent(PROBE)}`,
      ),
      "sign out with a hint",
    );
    assertText(await testBrowser().get(`${org.issuer}/end_session?client_id=${clientId}`), "signed out");
  });

  test("a hostile state of a form_post response arrives unchanged", async () => {
    const page = await visit(testBrowser(), org, {
      clientId,
      more: { response_mode: "form_post", prompt: "none", state: PROBE },
    });
    assertText(page, "form post");
    assert.equal(page.hidden["state"], PROBE);
  });

  test("a hostile parameter name is escaped in the error", async () => {
    const name = encodeURIComponent(PROBE.slice(0, 60));
    for (const address of [
      `${org.issuer}/end_session?${name}=1&${name}=2`,
      `${org.issuer}/consent?${name}=1&${name}=2`,
    ]) {
      const page = await browser.get(address);
      assert.equal(page.status, 400, address);
      assertText(page, address);
    }
    const form = await fetch(`${org.issuer}/login`, {
      method: "POST",
      body: `${name}=1&${name}=2`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    assert.doesNotMatch(await form.text(), /<img|<script>/);
  });

  test("hostile names are escaped on the landing page", async () => {
    assertText(await browser.get(`${running.baseUrl}/`), "landing");
  });

  test("hostile language, path and content type are handled", async () => {
    for (const page of [
      await browser.get(`${org.issuer}/authorize?${requestQuery(org)}`, {
        "accept-language": `${PROBE},en;q=${PROBE}`,
      }),
      await browser.get(`${org.issuer}/authorize?${encodeURIComponent(PROBE)}`),
      await browser.get(`${running.baseUrl}/oauth/${encodeURIComponent(PROBE)}/authorize`),
      await browser.get(`${running.baseUrl}/assets/${encodeURIComponent(PROBE)}`),
      await browser.post(`${org.issuer}/login`, {}, { "content-type": `text/${PROBE}` }),
    ])
      assertInert(page, page.url);
  });

  test("an error description sent to the client is plain text", async () => {
    const { location } = await ask({ response_mode: PROBE, state: PROBE });
    const answer = answerOf({ location } as TestPage);
    assert.equal(answer.get("error"), "invalid_request");
    assert.match(answer.get("error_description") ?? "", /^[\w ]+$/);
    assert.equal(answer.get("state"), PROBE);
    assert.doesNotMatch(location ?? "", /[<>"\s]/);
  });
});
