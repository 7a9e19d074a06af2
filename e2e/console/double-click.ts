import type { Page } from "playwright-core";

/** Where an answer takes half a second, so that the second click comes before it. */
export async function doubleClick(page: Page, button: string): Promise<void> {
  const network = await page.context().newCDPSession(page);
  const answersAfter = (latency: number) =>
    network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
  await answersAfter(500);
  await page.locator(button).dblclick({ delay: 50 });
  await page.locator(button).waitFor({ state: "detached" });
  await answersAfter(0);
}
