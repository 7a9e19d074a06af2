/** What follows when a question is asked for: a dialog of the page, or a page. */
import type { Page } from "playwright-core";

/** A question opens in a dialog of the page; where a sign-in comes first, the browser goes there. */
export async function questionOrPage(page: Page): Promise<void> {
  const loaded = page.waitForEvent("load");
  const opened = page.locator("dialog[open]").waitFor();
  // The one that doesn't come ends with its page.
  for (const one of [loaded, opened]) one.catch(() => {});
  await Promise.race([loaded, opened]);
}
