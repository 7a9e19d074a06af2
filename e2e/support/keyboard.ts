/**
 * Operates pages with the keyboard alone: Tab to the target, then Enter, Space, arrows and letters. Each step fails when
 * the focus isn't visible or the target isn't reached.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { questionOrPage } from "./question.ts";

/** More than the tab stops of the longest page: one full round before giving up. */
const MOST_STEPS = 200;

type Stop = {
  isThere: boolean;
  /** The skip link, when the target is in the content. */
  isWayThere: boolean;
  isSeen: boolean;
  /** The target precedes the focus in the page. */
  isPast: boolean;
  name: string;
  value: string;
};

/** Scripts for the page are text, as the compiler knows only Node's names. */
function lookAtFocus(page: Page, selector: string): Promise<Stop> {
  return page.evaluate(`(() => {
    const element = document.activeElement ?? document.body;
    // A card that is one link as a whole has its frame around all of it.
    const isFramed = [undefined, "::after"].some((part) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element, part);
      return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    });
    // What stays at the top, or at the bottom, while the page moves must not hide it (WCAG 2.2, 2.4.11).
    const box = element.getBoundingClientRect();
    const content = document.getElementById("content");
    const top = content?.contains(element) ? document.querySelector(".top").getBoundingClientRect().bottom : 0;
    const isUnder = [...document.querySelectorAll(".save-bar, .bulk-bar")].some((bar) => {
      const { top, bottom } = bar.getBoundingClientRect();
      return !bar.contains(element) && box.top >= top && box.bottom <= bottom;
    });
    const meant = document.querySelector(${JSON.stringify(selector)});
    const order = meant ? element.compareDocumentPosition(meant) : 0;
    return {
      isThere: element.matches(${JSON.stringify(selector)}),
      isPast: order === Node.DOCUMENT_POSITION_PRECEDING,
      isWayThere: element.matches("a.skip") && Boolean(content?.contains(meant)),
      isSeen: isFramed && box.bottom > top && box.top < innerHeight && !isUnder,
      name: element === document.body ? "" : element.id || element.textContent.trim().slice(0, 40),
      value: element.value ?? "",
    };
  })()`) as Promise<Stop>;
}

export const byId = (id: string): string => (/^[\w-]+$/.test(id) ? `#${id}` : id);

/**
 * Presses Tab, or Shift and Tab, until it has the focus: what comes before the content is passed by its own link.
 * @param target an id, or a selector
 */
export async function reach(page: Page, target: string): Promise<void> {
  const selector = byId(target);
  await page.locator(selector).first().waitFor();
  // A page can have its elements before its stylesheet, and then the focus is seen as the browser draws it.
  await page.waitForLoadState("load");
  const visited: string[] = [];
  let stop = await lookAtFocus(page, selector);
  const onward = stop.isPast ? "Shift+Tab" : "Tab";
  while (!stop.isThere) {
    assert.ok(visited.length < MOST_STEPS, `${target} is not reached by ${visited.join(", ")}`);
    await page.keyboard.press(stop.isWayThere ? "Enter" : onward);
    stop = await lookAtFocus(page, selector);
    // The content as a whole has the focus after the link to it; between the last stop and the first, nothing has.
    assert.ok(stop.isSeen || stop.name === "content" || stop.name === "", `focus on ${stop.name} is seen`);
    visited.push(stop.name);
  }
}

/** After which it is looked where the key went. */
const NOWHERE_MS = 5_000;

/** Presses a button, and waits for nothing. */
export async function press(page: Page, target: string): Promise<void> {
  await reach(page, target);
  await page.keyboard.press("Enter");
}

/**
 * Follows a link or presses a button, and waits for the page that it leads to. Chromium without windows may take the focus
 * away between the last Tab and Enter (see sign-in-steps.ts): where nothing has it any more, the key was pressed for nobody.
 */
export async function enter(page: Page, target: string): Promise<void> {
  await reach(page, target);
  let hasLeft = false;
  page.once("framenavigated", () => {
    hasLeft = true;
  });
  const loaded = pressEnter(page);
  loaded.catch(() => {});
  await Promise.race([loaded, delay(NOWHERE_MS, undefined, { ref: false })]);
  // Of a page that is just being left nothing can be asked.
  const stop = hasLeft ? undefined : await lookAtFocus(page, "body").catch(() => undefined);
  if (stop?.isThere && !hasLeft) {
    await reach(page, target);
    await page.keyboard.press("Enter");
  }
  await loaded;
}

/** Where the focus is already. */
export async function pressEnter(page: Page): Promise<void> {
  // The load of the page that is left would be taken for that of the next one.
  await page.waitForLoadState("load");
  const asks = await page.evaluate("Boolean(document.activeElement?.matches('a[data-dialog]'))");
  await Promise.all([asks ? questionOrPage(page) : page.waitForEvent("load"), page.keyboard.press("Enter")]);
}

const MOST_ATTEMPTS = 3;

/** In place of what stands there. A longer text is pasted. Once more where the focus was lost on the way, as in `enter`. */
export async function type(page: Page, target: string, text: string): Promise<void> {
  const field = page.locator(byId(target));
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    await reach(page, target);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    if (text.length > 100) await page.keyboard.insertText(text);
    else await page.keyboard.type(text);
    if ((await field.inputValue()) === text) return;
  }
  assert.equal(await field.inputValue(), text, `what is typed into ${target}`);
}

/** One of a few choices, by the arrows: Tab comes to the group. */
export async function choose(page: Page, name: string, value: string): Promise<void> {
  const selector = `input[name="${name}"]`;
  await reach(page, selector);
  for (let step = 0; (await lookAtFocus(page, selector)).value !== value; step += 1) {
    assert.ok(step < 20, `${name} has ${value}`);
    await page.keyboard.press("ArrowDown");
  }
  await page.locator(`${selector}:checked:focus`).waitFor();
}

/** One of a list that opens. */
export async function pick(page: Page, id: string, value: string): Promise<void> {
  await reach(page, id);
  await page.keyboard.press("Home");
  for (let step = 0; (await page.locator(byId(id)).inputValue()) !== value; step += 1) {
    assert.ok(step < 100, `${id} has ${value}`);
    await page.keyboard.press("ArrowDown");
  }
}

/** A box that is ticked, or no longer. */
export async function tick(page: Page, target: string, isTicked = true): Promise<void> {
  await reach(page, target);
  const box = page.locator(byId(target));
  if ((await box.isChecked()) !== isTicked) await page.keyboard.press("Space");
  assert.equal(await box.isChecked(), isTicked);
}

/**
 * That the page has put the focus there by itself. Chromium without windows may take it away from the first page of a
 * window, see sign-in-steps.ts; loaded once more, a page keeps it.
 */
export async function isReady(page: Page, id: string): Promise<void> {
  const focused = page.locator(`${byId(id)}:focus`);
  const isFocused = await focused.waitFor({ timeout: 5_000 }).then(
    () => true,
    () => false,
  );
  if (isFocused) return;
  await page.reload();
  await focused.waitFor();
}
