import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../testing/probes/page-checks.ts";
import {
  type CodeView,
  codePage,
  type DeviceDoneView,
  type DeviceQuestionView,
  deviceAdministratorPage,
  deviceDonePage,
  deviceQuestionPage,
} from "./verify.page.ts";
import { requesterName } from "./verify.route.ts";

const common = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  action: "/oauth/1/device/verify",
  csrf: "the-csrf",
  user: { email: "ada@acme.example" },
  otherAccountUri: "/oauth/1/authorize?flow=x",
  userCode: "BCDF-GHJK",
};
const application = { name: "Television", homepageUri: "https://tv.example/", logoUri: "/tv.png" };
const code: CodeView = common;
const question: DeviceQuestionView = {
  ...common,
  application,
  scopes: [{ name: "openid" }, { name: "records:read", description: "See your records", sensitive: true }],
  asked: "what-is-asked",
  origin: { address: "203.0.113.9", device: "SmartTV/7.1", secondsAgo: 30 },
};
const done: DeviceDoneView = {
  ...testFrame,
  organisation: common.organisation,
  application,
  decision: "allow",
};

test("renders well-formed pages that escape every value", () => {
  for (const error of [undefined, "wrong-code", "used-code", "rate-limited", "session-expired"] as const)
    assertWellMade(codePage({ ...code, error }));
  assertWellMade(deviceQuestionPage(question));
  assertWellMade(deviceAdministratorPage(question));
  for (const decision of ["allow", "deny"] as const) assertWellMade(deviceDonePage({ ...done, decision }));
  assertEscapes(codePage, code);
  assertEscapes(deviceQuestionPage, question);
  assertEscapes(deviceAdministratorPage, question);
  assertEscapes(deviceDonePage, done);
});

test("shows the error of a wrong code at its field and keeps the input", () => {
  const page = render(codePage({ ...code, error: "wrong-code" }));
  assert.match(
    page,
    /id="user_code" name="user_code" value="BCDF-GHJK"[^>]*aria-invalid="true" aria-describedby="device-notice"/,
  );
  assert.match(page, /id="device-notice" role="alert"/);
});

test("has both decisions as buttons of one form, and describes the approval by the warning", () => {
  const page = render(deviceQuestionPage(question));
  assert.match(
    page,
    /name="csrf" value="the-csrf">\n<input type="hidden" name="user_code" value="BCDF-GHJK">/,
  );
  assert.match(
    page,
    /id="device-allow" type="submit" name="decision" value="allow" aria-describedby="device-warning">Allow</,
  );
  assert.match(page, /id="device-deny" type="submit" name="decision" value="deny">Deny</);
  assert.match(page, /id="device-warning"/);
  assert.match(page, /just now/);
});

test("names the requester by a known browser or by one plain product token", () => {
  for (const [userAgent, name] of [
    ["curl/8.5.0", "curl/8.5.0"],
    ["openid-client/v6.8.9", "openid-client/v6.8.9"],
    ["node", "node"],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
    ["Your own phone, please allow", undefined],
    ["Signet\u202e/1", undefined],
    ["<b>x", undefined],
    ["", undefined],
  ] as const)
    assert.equal(requesterName(userAgent), name, userAgent);
});
