import { type Asset, readAsset } from "./asset.ts";

/** The one stylesheet of every page, in the order of its cascade. */
export const stylesheet: Asset = readAsset("signet", "css", [
  "styles/base.css",
  "styles/frame.css",
  "styles/forms.css",
  "styles/messages.css",
  "styles/reading.css",
]);
