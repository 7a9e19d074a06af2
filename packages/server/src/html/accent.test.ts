import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { accentRules, accentShades, contrast, DEFAULT_ACCENT, isAccentColour } from "./accent.ts";
import { stylesheet } from "./stylesheet.ts";

const colour = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, "0")}`);

test("computes the WCAG contrast ratio", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#777777"), 1);
  assert.equal(Math.round(contrast("#767676", "#ffffff") * 100) / 100, 4.54);
});

test("reaches a contrast of 4.5 for text and 3 for edges with every accent, on light and on dark", () => {
  fc.assert(
    fc.property(colour, (accent) => {
      const { light, dark } = accentShades(accent);
      for (const [shade, surfaces] of [
        [light, ["#ffffff", "#fbfbfa"]],
        [dark, ["#101314", "#171a1d"]],
      ] as const) {
        assert.ok(contrast(shade.onFill, shade.fill) >= 4.5);
        assert.ok(contrast(shade.onFill, shade.hover) >= 4.5);
        for (const surface of surfaces) {
          assert.ok(contrast(shade.accent, surface) >= 4.5);
          assert.ok(contrast(shade.edge, surface) >= 3);
        }
      }
    }),
  );
});

test("fills buttons with the organisation's colour", () => {
  assert.equal(accentShades("#ffcc00").light.fill, "#ffcc00");
  assert.equal(accentShades("#ffcc00").dark.fill, "#ffcc00");
});

test("accepts only six hexadecimal digits as a colour", () => {
  assert.ok(isAccentColour("#A1b2c3"));
  for (const text of ["#fff", "red", "#12345g", "#123456;}", "#123456\n", "}</style>", "", undefined]) {
    assert.equal(isAccentColour(text), false, String(text));
  }
});

test("the stylesheet's accent is the default accent", () => {
  const css = stylesheet.bytes.toString();
  const declared = (block: string): string[] =>
    ["fill", "fill-hover", "edge", "on-fill", "accent"].map(
      (name) => `--${name}:${new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(block)?.[1]}`,
    );
  const [light = "", dark = ""] = css.split("@media (prefers-color-scheme: dark)");
  const rules = [light, dark].map((block) => declared(block).join(";"));
  assert.equal(
    accentRules(DEFAULT_ACCENT),
    `:root{${rules[0]}}@media(prefers-color-scheme:dark){:root{${rules[1]}}}`,
  );
});
