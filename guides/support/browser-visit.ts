/** The person of a guide in real Chromium, for applications that are scripts. */
import assert from "node:assert/strict";
import { launchBrowser } from "../../e2e/support/browser.ts";
import type { TestUser } from "../../packages/server/src/testing/test-service.ts";

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

/** @returns what the page tells after the sign-in, and after the token was renewed; then signs out */
export async function visitInBrowser(
  address: string,
  { email, password }: Pick<TestUser, "email" | "password">,
): Promise<{ readonly first: Record<string, string>; readonly again: Record<string, string> }> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    await page.goto(`${address}/`);
    await page.locator("#sign-in").click();
    await page.locator("input[name=email]").fill(email);
    await page.locator("input[name=password]").fill(password);
    await page.locator("#login-submit").click();
    await page.locator("#consent-allow").click();
    await page.locator("#sign-out").waitFor();
    const first = await factsIn(page);
    await page.locator("#refresh").click();
    await page
      .locator("dd")
      .filter({ hasText: first["token"] ?? "" })
      .waitFor({ state: "detached" });
    const again = await factsIn(page);
    await page.locator("#sign-out").click();
    await page.locator("#sign-in").click();
    await page.locator("#login-submit").waitFor();
    assert.deepEqual(faults, []);
    return { first, again };
  } finally {
    await browser.close();
  }
}

async function factsIn(page: Page): Promise<Record<string, string>> {
  const [terms, texts] = await Promise.all([
    page.locator("dt").allInnerTexts(),
    page.locator("dd").allInnerTexts(),
  ]);
  return Object.fromEntries(terms.map((term, at) => [term, texts[at] ?? ""]));
}
