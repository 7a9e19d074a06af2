import assert from "node:assert/strict";
import { test } from "node:test";
import { testAccountFrame } from "../../testing/fixtures/account-frame.ts";
import { html, render } from "../html.ts";
import { confirmActPage } from "./act.page.ts";

test("only destructive confirmations have a red button", () => {
  const view = {
    ...testAccountFrame("security"),
    breadcrumbs: [],
    csrf: "the-csrf",
    action: "/x",
    heading: "Disable Payroll?",
    text: html`<p>Nobody can sign in to it.</p>`,
    confirm: "Disable",
    confirmId: "act",
    backUri: "/",
  };
  const looks = (page: string) => [
    /<section class="([^"]*)" data-dialog-content>/.exec(page)?.[1],
    /<button class="([^"]*)" id="act"/.exec(page)?.[1],
  ];
  assert.deepEqual(looks(render(confirmActPage(view))), ["card confirm danger", "button dangerous"]);
  const harmless = render(confirmActPage({ ...view, isHarmless: true }));
  assert.deepEqual(looks(harmless), ["card confirm", "button primary"]);
});
