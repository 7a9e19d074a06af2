import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { testAccountFrame } from "../../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../../testing/probes/page-checks.ts";
import { type SessionsView, sessionsPage } from "./sessions.page.ts";

const view: SessionsView = {
  ...testAccountFrame("sessions"),
  isDone: true,
  sessions: [
    {
      name: "Firefox, Windows",
      isCurrent: true,
      isBound: true,
      isOnDevice: true,
      signedInAt: 0,
      lastUsedAt: 86_400_000,
      address: "192.0.2.7",
      applications: ["Payroll", "Wiki"],
      endUri: "/end_session",
    },
    {
      name: undefined,
      isCurrent: false,
      isBound: false,
      isOnDevice: false,
      signedInAt: 0,
      lastUsedAt: 0,
      address: "2001:db8::1",
      applications: [],
      endUri: "/account/sessions/end?id=1",
    },
  ],
  everywhereUri: "/account/sessions/end",
};

test("renders valid HTML and escapes every value", () => {
  assertEscapes(sessionsPage, view);
  assertWellMade(sessionsPage(view));
});

test("shows browser, times, IP address and applications of each session, and marks the current one", () => {
  const page = render(sessionsPage(view)).replace(/\s+/g, " ");
  assert.match(page, /Firefox, Windows <span class="state good">This browser<\/span>/);
  for (const once of [/copied cookies don’t work elsewhere/g, /Ends when the device is revoked/g])
    assert.equal(page.match(once)?.length, 1);
  assert.equal(page.match(/This browser/g)?.length, 1);
  assert.match(page, /Last used <time [^>]*>2 Jan 1970, 00:00 UTC</);
  assert.match(page, /Signed in since <time [^>]*data-day>1 Jan 1970<\/time>, from 192\.0\.2\.7/);
  assert.match(page, /Used for Payroll and Wiki/);
  assert.match(page, /Unknown browser<\/span>/);
  assert.match(page, /href="\/account\/sessions\/end\?id=1" aria-label="Sign out Unknown browser"/);
  assert.match(page, /aria-current="page"><svg [^\n]*<\/svg>Page sessions/);
  assert.match(page, /Session ended\./);
  assert.doesNotMatch(render(sessionsPage({ ...view, isDone: false })), /Session ended\./);
});
