/** What a person does on the pages, in a real browser: with the pointer, or with the keyboard alone. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";

export type Person = { email: string; password: string };

export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.locator("#email").fill(email);
  await page.locator("#password").fill(password);
  await page.locator("#login-submit").click();
}

export async function allow(page: Page): Promise<void> {
  await page.locator("#consent-allow").click();
}

/** Where a consent may be remembered: waits for the question or for what comes `after` it, and ends there. */
export async function allowIfAsked(page: Page, after: Locator): Promise<void> {
  const button = page.locator("#consent-allow");
  await after.or(button).first().waitFor();
  if (await button.isVisible()) await allow(page);
  await after.first().waitFor();
}

/** The page must be ready to type in, where it knows the address after that; the fields follow each other, and Enter sends. */
export async function signInByKeyboard(page: Page, person: Person): Promise<void> {
  await page.locator("#login-submit").waitFor();
  await page.waitForLoadState("load");
  await typeAtOnce(page, person);
  // Past the button that shows the password, and the link for those who forgot it.
  for (let presses = 0; presses < 3 && (await focusedId(page)) !== "login-submit"; presses += 1)
    await page.keyboard.press("Tab");
  assert.equal(await focusedId(page), "login-submit");
  assert.ok(await isFocusVisible(page));
  await page.keyboard.press("Enter");
}

/**
 * Types into the field that the page has put the focus on by itself, and into the one after it. Chromium without windows gives a
 * new page its own first focus when it gets to that, on a busy machine after the page has been drawn, and takes it from the
 * field; loaded once more, the page keeps it. (Seen in 1 of 200 sign-ins under load.)
 */
async function typeAtOnce(page: Page, { email, password }: Person): Promise<void> {
  const typed = async () => [
    await page.locator("#email").inputValue(),
    await page.locator("#password").inputValue(),
  ];
  for (let attempt = 1; ; attempt += 1) {
    const isKnown = (await page.locator("#email").inputValue()) === email;
    if (await isFocused(page, isKnown ? "password" : "email")) {
      if (!isKnown) {
        await page.keyboard.type(email);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.type(password);
      if (String(await typed()) === String([email, password])) return;
    }
    assert.ok(attempt < 4, "the fields are not ready to be typed into");
    await page.reload();
    await page.locator("#email").waitFor();
  }
}

/** Autofocus comes with a page's first drawing, which a busy machine may do after the field is there. */
async function isFocused(page: Page, id: string): Promise<boolean> {
  const focused = page.locator(`#${id}:focus`).waitFor({ timeout: 5_000 });
  return focused.then(
    () => true,
    () => false,
  );
}

/** @returns what the Tab key visits from the top of the page to the allow button, which Enter then presses */
export async function allowByKeyboard(page: Page): Promise<string[]> {
  await page.locator("#consent-allow").waitFor();
  const visited = await tabTo(page, "consent-allow");
  await page.keyboard.press("Enter");
  return visited;
}

/** Presses Tab until the element is there, and fails unless it and all before it are seen to be. @returns all of them */
export async function tabTo(page: Page, id: string): Promise<string[]> {
  // A page can have its elements before its stylesheet, and then the focus is seen as the browser draws it.
  await page.waitForLoadState("load");
  const visited: string[] = [];
  while (visited.at(-1) !== id) {
    assert.ok(visited.length < 60, `${id} is not reached by ${visited.join(", ")}`);
    await page.keyboard.press("Tab");
    visited.push(await focusedId(page));
    assert.ok(await isFocusVisible(page), `focus on ${visited.at(-1)} is visible`);
  }
  return visited;
}

/** The element's id, or else its text. */
function focusedId(page: Page): Promise<string> {
  return page.evaluate(
    "document.activeElement?.id || document.activeElement?.textContent.trim() || ''",
  ) as Promise<string>;
}

function isFocusVisible(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  })()`) as Promise<boolean>;
}
