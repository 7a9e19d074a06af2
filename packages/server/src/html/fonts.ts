/** The console's font. Sign-in pages use the reader's own. */
import { type Asset, readAsset } from "./asset.ts";

/** Inter, variable weight, Latin (which the five languages need). */
export const interFont: Asset = readAsset("inter", "woff2", [
  import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"),
]);

/**
 * Used where it is there within 100 ms, as it is from the second page on: a text that changes its font while it is read moves
 * what stands below it.
 */
export const interFace = `@font-face {
  font-family: "Inter";
  font-style: normal;
  font-weight: 100 900;
  font-display: optional;
  src: url("${interFont.path}") format("woff2");
}
`;
