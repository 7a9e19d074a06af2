/** The scripts of pages. */
import { type Asset, readAsset } from "./asset.ts";

/** Submits the form_post response; without it the page's button does. */
export const formPostScript: Asset = readAsset("form-post", "js", ["scripts/form-post.js"]);

/** Times in the reader's zone, where a page has no other script of the console; without it they are UTC, and say so. */
export const timesScript: Asset = readAsset("times", "js", ["scripts/relative-time.js"]);

/** Copy buttons; without it the text can be selected. */
export const copyScript: Asset = readAsset("copy", "js", ["scripts/copy.js"]);

/** Passkeys; without it pages work with passwords and codes. */
export const passkeyScript: Asset = readAsset("passkey", "js", ["scripts/passkey.js"]);

/** What the sign-in page has: passkeys, and a button that shows the password. */
export const signInScript: Asset = readAsset("sign-in", "js", ["scripts/passkey.js", "scripts/reveal.js"]);

/** Updates the wait page; without it the page reloads, and every answer is a plain form. */
export const waitScript: Asset = readAsset("wait", "js", ["scripts/wait.js"]);

/** Updates the live parts of a page while it is visible. */
export const liveScript: Asset = readAsset("live", "js", ["scripts/live.js"]);

/** The command menu; without it its button leads to the search page. */
export const commandMenuScript: Asset = readAsset("command-menu", "js", ["scripts/command-menu.js"]);

/** What the components of console and account pages add where scripts run: on each of these pages. */
export const consoleScript: Asset = readAsset("console", "js", [
  "scripts/copy.js",
  "scripts/relative-time.js",
  "scripts/dialog.js",
  "scripts/drawer.js",
  "scripts/toast.js",
  "scripts/filter-bar.js",
  "scripts/bulk-bar.js",
  "scripts/save-bar.js",
  "scripts/uri-list.js",
  "scripts/scope-picker.js",
  "scripts/event-picker.js",
  "scripts/colour-field.js",
  "scripts/code-block.js",
  "scripts/secret-reveal.js",
  "scripts/reveal.js",
  "scripts/chart.js",
  "scripts/menu-keys.js",
  "scripts/list-keys.js",
  "scripts/file-text.js",
]);

/** Narrows the quickstart's gallery; without it all cards stand there. */
export const galleryScript: Asset = readAsset("gallery", "js", ["scripts/gallery.js"]);

export const checksScript: Asset = readAsset("checks", "js", ["scripts/checks.js"]);

/** Draws the focus ring around a frame that has the focus. */
export const framesScript: Asset = readAsset("frames", "js", ["scripts/frames.js"]);

/** Shows what is typed in the page's preview frame; without it a button does. */
export const draftPreviewScript: Asset = readAsset("draft-preview", "js", ["scripts/draft-preview.js"]);

/** Ignores the second click of a double click; without it the server reports a duplicate submission. */
export const doubleSubmitScript: Asset = readAsset("once", "js", ["scripts/once.js"]);
