/**
 * How the person of a journey uses the pages: SIGNET_TEST_HAND is `keyboard`, as in `npm test`, or `mouse`, `touch` (a phone) or
 * `plain` (by keyboard, without JavaScript), with which `npm run interop` repeats every journey.
 */
import type { BrowserContextOptions } from "playwright-core";
import * as keyboard from "./keyboard.ts";
import { pointerHand } from "./pointer.ts";

const hands = {
  keyboard: { options: { viewport: { width: 1280, height: 800 } }, act: keyboard },
  plain: { options: { viewport: { width: 1280, height: 800 }, javaScriptEnabled: false }, act: keyboard },
  mouse: { options: { viewport: { width: 1280, height: 800 } }, act: pointerHand("mouse") },
  touch: {
    options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    act: pointerHand("touch"),
  },
} as const satisfies Record<string, { options: BrowserContextOptions; act: unknown }>;

export type HandName = keyof typeof hands;

const wanted = process.env["SIGNET_TEST_HAND"] ?? "keyboard";
if (!Object.hasOwn(hands, wanted))
  throw new Error(`SIGNET_TEST_HAND is none of ${Object.keys(hands).join(", ")}`);

export const handName = wanted as HandName;
export const hasScripts = handName !== "plain";
export const isByKeyboard = handName === "keyboard";
export const hasPointer = handName === "mouse" || handName === "touch";
export const browserOptions: BrowserContextOptions = hands[handName].options;
export const { press, enter, type, choose, pick, tick } = hands[handName].act;
export { isReady, pressEnter } from "./keyboard.ts";
