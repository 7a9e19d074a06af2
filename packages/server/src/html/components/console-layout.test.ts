import assert from "node:assert/strict";
import { test } from "node:test";
import { testAccountFrame } from "../../testing/fixtures/account-frame.ts";
import { html, render } from "../html.ts";
import { consoleLayout } from "./console-layout.ts";

test("the document title names page, record and area", () => {
  const frame = testAccountFrame("consents");
  const titleOf = (navigation: string, title: string, above: readonly string[]) => {
    const page = consoleLayout({
      ...frame,
      navigation: { ...frame.navigation, label: navigation },
      title,
      breadcrumbs: above.map((label) => ({ label, uri: "/" })),
      body: html``,
    });
    return /<title>([^<]*)</.exec(render(page))?.[1];
  };
  assert.equal(titleOf("Console", "Applications", []), "Applications · Console · Acme");
  assert.equal(
    titleOf("Console", "Client secrets", ["Applications", "Payroll <1>"]),
    "Client secrets · Payroll &lt;1&gt; · Applications · Console · Acme",
  );
  assert.equal(
    titleOf("Your account", "Applications with access", []),
    "Applications with access · Your account · Acme",
  );
});
