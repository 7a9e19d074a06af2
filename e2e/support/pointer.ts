/**
 * Operates pages by mouse, or by a finger on a phone: the steps of keyboard.ts. Playwright presses only what is seen, stands
 * still and is covered by nothing; that it is large enough to be hit is asserted here.
 */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { byId } from "./keyboard.ts";
import { questionOrPage } from "./question.ts";

interface Pointer {
  /** Of what is no link within a text, in pixels. */
  readonly leastHeight: number;
  press(target: Locator): Promise<void>;
}

const pointers = {
  /** WCAG 2.2, 2.5.8. */
  mouse: { leastHeight: 24, press: (target) => target.click() },
  /** 44 pixels, of which a fraction may be lost between those of the screen. */
  touch: { leastHeight: 43.5, press: (target) => target.tap() },
} satisfies Record<string, Pointer>;

/** Scripts for the page are text, as in keyboard.ts. */
const lookAt = (page: Page, selector: string): Promise<Target> =>
  page.evaluate(`(${describe})(document.querySelector(${JSON.stringify(selector)}))`) as Promise<Target>;

const describe = `(element) => {
  const isLabelled = element.matches("input[type=checkbox], input[type=radio]") && element.labels.length > 0;
  const pressed = isLabelled ? element.labels[0] : element;
  const { height, width } = pressed.getBoundingClientRect();
  // A card, or a row, that is one link as a whole.
  const after = getComputedStyle(pressed, "::after");
  const isWhole = after.position === "absolute" && after.content !== "none" && after.content !== "normal";
  const whole = isWhole ? pressed.offsetParent.getBoundingClientRect() : { height, width };
  const closed = element.checkVisibility() ? null : element.closest("[popover]:not(:popover-open), details:not([open])");
  return {
    height: Math.max(height, whole.height),
    width: Math.max(width, whole.width),
    isText: pressed.matches("a") && getComputedStyle(pressed).display === "inline",
    label: !isLabelled || element.id === "" ? "" : pressed.htmlFor !== "" ? \`label[for="\${element.id}"]\` : \`label:has([id="\${element.id}"])\`,
    opener: closed === null ? "" : closed.matches("details") ? "#" + CSS.escape(closed.id) + " > summary" : \`[popovertarget="\${closed.id}"]\`,
    asks: element.matches("a[data-dialog]"),
    text: pressed.outerHTML.slice(0, 120),
  };
}`;

type Target = {
  height: number;
  width: number;
  isText: boolean;
  /** Of a box or a choice: what is pressed for it. */
  label: string;
  /** What has to be pressed before, where the target is in a menu that is closed. */
  opener: string;
  /** Its question may open in a dialog. */
  asks: boolean;
  text: string;
};

/** Comes to where it can be pressed. */
async function reach(pointer: Pointer, page: Page, target: string): Promise<Locator> {
  const element = page.locator(byId(target)).first();
  await element.waitFor({ state: "attached" });
  await page.waitForLoadState("load");
  const found = await lookAt(page, byId(target));
  if (found.opener !== "") {
    await pointer.press(page.locator(found.opener).first());
    await element.waitFor();
    return reach(pointer, page, target);
  }
  const { height, width, isText, text } = found;
  assert.ok(
    isText || (height >= pointer.leastHeight && width >= 24),
    `${text} is ${width} × ${height} pixels`,
  );
  return element;
}

export function pointerHand(kind: keyof typeof pointers) {
  const pointer: Pointer = pointers[kind];

  /** Presses it, and waits for nothing. */
  async function press(page: Page, target: string): Promise<void> {
    const element = await reach(pointer, page, target);
    const { label } = await lookAt(page, byId(target));
    await pointer.press(label === "" ? element : page.locator(label));
  }

  async function enter(page: Page, target: string): Promise<void> {
    const element = await reach(pointer, page, target);
    const { asks } = await lookAt(page, byId(target));
    await Promise.all([asks ? questionOrPage(page) : page.waitForEvent("load"), pointer.press(element)]);
  }

  async function type(page: Page, target: string, text: string): Promise<void> {
    const element = await reach(pointer, page, target);
    await pointer.press(element);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    if (text.length > 100) await page.keyboard.insertText(text);
    else await page.keyboard.type(text);
    assert.equal(await element.inputValue(), text, `what is typed into ${target}`);
  }

  async function choose(page: Page, name: string, value: string): Promise<void> {
    const choice = `input[name="${name}"][value="${value}"]`;
    await press(page, choice);
    assert.ok(await page.locator(choice).isChecked());
  }

  /** The list that opens is the browser's own. */
  async function pick(page: Page, id: string, value: string): Promise<void> {
    await (await reach(pointer, page, id)).selectOption(value);
  }

  async function tick(page: Page, target: string, isTicked = true): Promise<void> {
    const box = page.locator(byId(target)).first();
    if ((await box.isChecked()) !== isTicked) await press(page, target);
    assert.equal(await box.isChecked(), isTicked);
  }

  return { press, enter, type, choose, pick, tick };
}
