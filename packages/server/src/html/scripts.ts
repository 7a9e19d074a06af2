import { type Asset, readAsset } from "./asset.ts";

/** Sends the form_post response on its way as soon as it is read; without it the page's button does the same. */
export const formPostScript: Asset = readAsset("form-post", "js", ["scripts/form-post.js"]);

/** Makes the copy buttons of content pages appear and work; without it the text can still be selected. */
export const copyScript: Asset = readAsset("copy", "js", ["scripts/copy.js"]);

/** Asks the browser for passkeys; without it, or without passkeys, pages work with passwords and codes. */
export const passkeyScript: Asset = readAsset("passkey", "js", ["scripts/passkey.js"]);

/** Keeps the wait page up to date; without it the page looks again by itself, and every answer is a plain form. */
export const waitScript: Asset = readAsset("wait", "js", ["scripts/wait.js"]);

/** Keeps pieces of a page up to date while it is looked at; without it they are as old as the page. */
export const liveScript: Asset = readAsset("live", "js", ["scripts/live.js"]);

/** Says of fields what is wrong with them while they are typed; without it the answer to the form does. */
export const checksScript: Asset = readAsset("checks", "js", ["scripts/checks.js"]);

/** Puts the ring of the focus around a frame that has it; without it the browser alone shows where it is. */
export const framesScript: Asset = readAsset("frames", "js", ["scripts/frames.js"]);

/** Keeps the second click of a double click from sending a form that does its work once; without it the server says so. */
export const onceScript: Asset = readAsset("once", "js", ["scripts/once.js"]);
