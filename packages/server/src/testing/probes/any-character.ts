/** Any code point, halves of surrogate pairs too: what fast-check's own unit "binary" is, which takes two seconds to make. */
import fc from "fast-check";

export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff).map(
  (point) => String.fromCodePoint(point),
  // The way back lets fast-check try its dangerous words, like `__proto__`.
  (character) => {
    const [first, ...more] = typeof character === "string" ? character : "";
    if (first === undefined || more.length > 0) throw new Error("not one character");
    return first.codePointAt(0) ?? 0;
  },
);
