/** The console's font. Sign-in pages use the reader's own. */
import { type Asset, readAsset } from "./asset.ts";

/** Inter, weights 400 to 600, Latin (which the five languages need): fonts/README.md. */
export const interFont: Asset = readAsset("inter", "woff2", ["fonts/inter-latin-400-600.woff2"]);

/**
 * Used where it is there within 100 ms, as it is from the second page on: a text that changes its font while it is read moves
 * what stands below it.
 */
export const interFace = `@font-face {
  font-family: "Inter";
  font-style: normal;
  font-weight: 400 600;
  font-display: optional;
  src: url("${interFont.path}") format("woff2");
}
`;
