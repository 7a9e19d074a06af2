import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { testAccountFrame } from "../../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../../testing/probes/page-checks.ts";
import { type ConsentsView, consentsPage } from "./consents.page.ts";

const view: ConsentsView = {
  ...testAccountFrame("consents"),
  isDone: true,
  csrf: "token",
  others: [{ applicationName: "Shop", lastUsedAt: 0, resources: [], actors: [] }],
  consents: [
    {
      ...{ applicationName: "Payroll", grantedAt: 0, lastUsedAt: 0 },
      ...{ resources: ["Invoices"], actors: ["Nightly batch"] },
      agent: { host: "agent.example", action: "/user/consents/1/revoke" },
      scopes: [{ name: "openid" }, { name: "pay", displayName: "See your pay", sensitive: true }],
      revokeUri: "/user/consents?id=1",
    },
    {
      ...{
        applicationName: "Wiki",
        grantedAt: 86_400_000,
        lastUsedAt: null,
        scopes: [],
        resources: [],
        actors: [],
      },
      revokeUri: "/user/consents?id=2",
    },
  ],
};

test("renders valid HTML and escapes every value", () => {
  assertEscapes(consentsPage, view);
  assertWellMade(consentsPage(view));
});

test("shows scopes, date and revoke link of each application", () => {
  const page = render(consentsPage(view));
  assert.match(page, /<bdi>Payroll<\/bdi>/);
  assert.match(page, /Allowed on <time [^>]*data-day>2 Jan 1970</);
  assert.match(page, /See your pay<\/bdi> <span class="state warn">Sensitive/);
  assert.match(page, /href="\/user\/consents\?id=2" aria-label="Revoke access for Wiki"/);
  assert.match(page, /action="\/user\/consents\/1\/revoke"/);
  assert.match(page, /Identifies itself by agent\.example\./);
  assert.match(page, /Can use: Invoices</);
  assert.match(page, /Acting through it: Nightly batch</);
  assert.match(page, /id="consents-done"/);
});

test("an empty list explains what will appear", () => {
  const page = render(consentsPage({ ...view, consents: [], others: [], isDone: false }));
  assert.match(page, /No agents or applications have access yet/);
  assert.doesNotMatch(page, /id="consents-done"/);
});
