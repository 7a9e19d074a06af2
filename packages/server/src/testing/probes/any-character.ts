/** Any code point, including lone surrogates: fast-check's own unit "binary" takes two seconds to build. */
import fc from "fast-check";

export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff).map(
  (point) => String.fromCodePoint(point),
  // The inverse mapping lets fast-check try dangerous strings such as `__proto__`.
  (character) => {
    const [first, ...more] = typeof character === "string" ? character : "";
    if (first === undefined || more.length > 0) throw new Error("not one character");
    return first.codePointAt(0) ?? 0;
  },
);
