import assert from "node:assert/strict";
import { test } from "node:test";
import { assertEscapes, assertWellMade, testFrame } from "../testing/probes/page-checks.ts";
import { html, render } from "./html.ts";
import { contentLayout, type LayoutView, signInLayout } from "./layout.ts";

const view: LayoutView = {
  ...testFrame,
  title: "Sign in",
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "data:image/png;base64,AA==" },
  body: html`<h1>Hello</h1>`,
};

for (const [name, layout] of [
  ["the sign-in layout", signInLayout],
  ["the content layout", contentLayout],
] as const) {
  test(`${name} is well-formed and escapes everything`, () => {
    assertWellMade(layout(view));
    assertEscapes(({ title, organisation }) => layout({ ...view, title, organisation }), {
      title: "Sign in",
      organisation: view.organisation,
    });
  });

  test(`${name} puts the accent in a style element with the response's nonce`, () => {
    assert.match(render(layout(view)), /<style nonce="dGVzdA">:root\{--fill:#aa3300;/);
  });

  test(`${name} ignores an accent that is not a plain colour`, () => {
    const page = render(layout({ ...view, organisation: { name: "Acme", accentColor: "red}</style>" } }));
    assert.doesNotMatch(page, /<style|red\}/);
  });

  test(`${name} declares its language and both colour schemes`, () => {
    const page = render(layout(view));
    assert.match(page, /<meta name="color-scheme" content="light dark">/);
    assert.match(page, /<meta name="referrer" content="no-referrer">/);
    assert.match(page, /<bdi class="brand-name">Acme<\/bdi>/);
  });
}

test("renders a page without an organisation as Signet", () => {
  assert.match(
    render(signInLayout({ ...view, organisation: undefined })),
    /<bdi class="brand-name">Signet<\/bdi>/,
  );
});

test("the sign-in's foot links to help, privacy and terms, and to nothing unsafe", () => {
  const links = {
    help: "mailto:help@acme.example",
    privacy: "https://acme.example/privacy",
    terms: "https://acme.example/terms",
  };
  const shown = render(signInLayout({ ...view, organisation: { name: "Acme", links } }));
  for (const [id, uri] of Object.entries(links))
    assert.match(
      shown,
      new RegExp(`id="foot-${id}" href="${uri}" target="_blank" rel="noopener noreferrer"`),
    );
  const unsafe = { help: "javascript:alert(1)", privacy: "data:,x", terms: "mailto:a@b.example" };
  const page = render(signInLayout({ ...view, organisation: { name: "Acme", links: unsafe } }));
  assert.doesNotMatch(page, /id="foot-(?:help|privacy|terms)"/);
});
