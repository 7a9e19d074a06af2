import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { testAccountFrame } from "../../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../../testing/probes/page-checks.ts";
import { type ConsentsView, consentsPage } from "./consents.page.ts";

const view: ConsentsView = {
  ...testAccountFrame("consents"),
  isDone: true,
  others: [{ applicationName: "Shop", lastUsedAt: 0 }],
  consents: [
    {
      applicationName: "Payroll",
      grantedAt: 0,
      scopes: [{ name: "openid" }, { name: "pay", displayName: "See your pay", sensitive: true }],
      revokeUri: "/user/consents?id=1",
    },
    { applicationName: "Wiki", grantedAt: 86_400_000, scopes: [], revokeUri: "/user/consents?id=2" },
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
  assert.match(page, /href="\/user\/consents\?id=1" aria-label="Revoke access for Payroll"/);
  assert.match(page, /id="consents-done"/);
});

test("an empty list explains what will appear", () => {
  const page = render(consentsPage({ ...view, consents: [], others: [], isDone: false }));
  assert.match(page, /No applications have access yet/);
  assert.doesNotMatch(page, /id="consents-done"/);
});
