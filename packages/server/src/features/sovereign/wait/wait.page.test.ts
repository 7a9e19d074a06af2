import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { messages } from "../../../html/messages/messages.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../testing/probes/page-checks.ts";
import { failReasons } from "../requests/signing-request.ts";
import { waitPage } from "./wait.page.ts";
import type { WaitView } from "./wait-challenge.ts";
import type { ShownChallenge, WaitStatus } from "./wait-status.ts";

const waiting: WaitStatus = { requestId: "r-1", status: "pending", seq: 1, expiresIn: 290 };
const continueUrl = "https://id.example/oauth/1/sovereign/wait/r-1/continue";
const view: WaitView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  status: waiting,
  polledFor: undefined,
  path: "/oauth/1/sovereign/wait/r-1",
  csrf: "the-csrf",
};
const challenge: ShownChallenge = {
  challengeId: "c-1",
  type: "number_match",
  prompt: "Sign in to Payroll?",
  display: "42",
  options: ["Yes, it is me", "No"],
  publicKey: { challenge: "abc", rpId: "id.example" },
  expiresIn: 118,
};
const asked = (type: ShownChallenge["type"]): WaitView => ({
  ...view,
  status: { ...waiting, status: "challenge", challenge: { ...challenge, type } },
});
const page = (status: Partial<WaitStatus>, more: Partial<WaitView> = {}): string =>
  render(waitPage({ ...view, status: { ...waiting, ...status }, ...more }));

const everyView: WaitView[] = [
  view,
  ...(["no_agent", "answered", "withdrawn"] as const).map((detail) => ({
    ...view,
    status: { ...waiting, detail },
  })),
  ...(["number_match", "webauthn", "pin", "confirm"] as const).map(asked),
  ...(["stale", "page-too-old"] as const).map((error) => ({ ...view, error })),
  ...(["device", "request", undefined] as const).flatMap((polledFor) =>
    [continueUrl, undefined].flatMap((url) =>
      [
        { status: "signed" as const },
        { status: "expired" as const },
        ...failReasons.map((reason) => ({ status: "failed" as const, reason })),
      ].map((end) => ({
        ...view,
        polledFor,
        status: { ...waiting, ...end, ...(url === undefined ? {} : { continueUrl: url }) },
      })),
    ),
  ),
];

test("every state is well-formed HTML and escapes its values", () => {
  for (const one of everyView) {
    assertWellMade(waitPage(one));
    assertEscapes(waitPage, one);
  }
});

test("every state offers an action or says that the page can be closed, in every language", () => {
  for (const locale of ["en", "de", "fr", "es", "da"]) {
    const text = messages([locale]);
    for (const one of everyView) {
      const shown = render(waitPage({ ...one, messages: text }));
      const isClosing =
        [text.wait.backOnDevice, text.approvalRequest.backThere].some((words) => shown.includes(words)) ||
        /id="(?:device|request)-done"/.test(shown);
      assert.ok(
        /<button |<a class="button/.test(shown) || isClosing,
        `${locale}: ${JSON.stringify(one.status)}`,
      );
    }
  }
});

test("a pending request can be cancelled, refreshes without scripts, and says when no agent is online", () => {
  const shown = page({});
  assert.match(shown, /<h1[^>]*>Waiting for Acme to confirm<\/h1>/);
  assert.match(
    shown,
    /<noscript><meta http-equiv="refresh" content="4;url=\/oauth\/1\/sovereign\/wait\/r-1"><\/noscript>/,
  );
  assert.match(
    shown,
    /action="\/oauth\/1\/sovereign\/wait\/r-1\/respond">\n<input type="hidden" name="csrf" value="the-csrf">\n\n<button class="button" id="respond-cancel" type="submit" name="cancel" value="true"/,
  );
  assert.match(page({ detail: "no_agent" }), /Acme can’t confirm right now[\s\S]*keeps trying for 5 minutes/);
  assert.match(page({ detail: "answered" }), /Checking your answer/);
  assert.match(page({ detail: "withdrawn" }), /id="wait-withdrawn" role="status"/);
});

test("number matching shows the number and confirms this challenge", () => {
  const shown = render(waitPage(asked("number_match")));
  assert.match(shown, /<strong id="match-number">42<\/strong>/);
  assert.match(shown, /<input type="hidden" name="challengeId" value="c-1">/);
  assert.match(
    shown,
    /id="respond-submit" type="submit" name="answer" value="done">I’ve entered the number</,
  );
  assert.match(shown, /data-seconds-left="118">1:58</);
  assert.doesNotMatch(shown, /Yes, it is me/, "the choice is at the agent's channel");
});

test("a PIN challenge has a field that cancel ignores", () => {
  const shown = render(waitPage(asked("pin")));
  assert.match(
    shown,
    /<label for="answer">Code<\/label>\n<input id="answer" name="answer" autocomplete="one-time-code"/,
  );
  assert.match(shown, /id="respond-cancel" type="submit" name="cancel" value="true" formnovalidate>/);
  assert.match(shown, /content="119;url=/, "nothing reloads under the hands of somebody who types");
});

test("a confirmation shows the transaction and the agent's options", () => {
  const { options: _, ...plain } = challenge;
  const shown = page({ status: "challenge", challenge: { ...plain, type: "confirm" } });
  assert.match(
    shown,
    /<figcaption>Message from Acme<\/figcaption>[\s\S]*Sign in to Payroll\?[\s\S]*class="transaction">42</,
  );
  assert.match(shown, /id="respond-submit" type="submit" name="answer" value="confirmed">Confirm</);
  const choice = render(waitPage(asked("confirm")));
  assert.match(choice, /id="respond-option-1" type="submit" name="answer" value="Yes, it is me">/);
  assert.doesNotMatch(choice, /respond-submit/);
  assert.match(choice, /respond-cancel/);
});

test("the passkey button needs the script, which gets the agent's options", () => {
  const shown = render(waitPage(asked("webauthn")));
  assert.match(
    shown,
    /data-passkey-options="{&quot;challenge&quot;:&quot;abc&quot;,&quot;rpId&quot;:&quot;id.example&quot;}"/,
  );
  assert.match(shown, /id="respond-submit" type="submit" data-passkey-button hidden>Use passkey</);
  assert.match(shown, /<noscript><p class="quiet">Passkeys need JavaScript/);
});

test("a signed request continues once, with and without scripts", () => {
  const shown = page({ status: "signed", continueUrl });
  assert.match(shown, /data-goes-on="\/oauth\/1\/sovereign\/wait\/r-1\/continue"/);
  assert.match(
    shown,
    /<meta http-equiv="refresh" content="0;url=\/oauth\/1\/sovereign\/wait\/r-1\/continue">/,
  );
  const again = page({ status: "signed" });
  assert.match(again, /Already completed/);
  assert.match(again, /<a class="button" href="https:\/\/payroll.example\/">Go to Payroll<\/a>/);
  assert.doesNotMatch(again, /continue"/);
});

test("a failure returns to the application; the device grant says to start again", () => {
  for (const reason of failReasons) {
    const shown = page({ status: "failed", reason, continueUrl });
    assert.match(
      shown,
      /id="wait-continue" href="\/oauth\/1\/sovereign\/wait\/r-1\/continue">Go back to Payroll</,
      reason,
    );
    assert.doesNotMatch(shown, /http-equiv="refresh"|spinner/, "nothing goes on by itself");
    assert.match(
      page({ status: "failed", reason }, { polledFor: "device" }),
      /get a new code on your device/,
    );
  }
  assert.match(page({ status: "failed", reason: "max_attempts", continueUrl }), /<code>r-1<\/code>/);
  assert.match(page({ status: "expired", continueUrl }), /Timed out/);
});

test("the page contains its display key for the script", () => {
  assert.match(page({}), /data-shows="pending"/);
  assert.match(page({ detail: "no_agent" }), /data-shows="pending no_agent"/);
  assert.match(render(waitPage(asked("pin"))), /data-shows="challenge c-1"/);
  assert.match(page({ status: "signed", continueUrl }), /data-shows="signed on"/);
});
