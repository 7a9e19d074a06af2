import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./browser.ts";

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

// Scripts for the page are text, as the compiler knows only Node's names.
const readOtherOrigin = (url: string) => `fetch("${url}").then(() => "read", () => "refused")`;

test("a page can't read responses of another origin: the browser's CORS rules are in force", async (t) => {
  const server = createServer((_request, response) =>
    response.end("<!doctype html><title>page</title>"),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const page = await browser.newPage();
  await page.goto(`http://localhost:${port}/`);
  assert.equal(await page.evaluate(readOtherOrigin(`http://localhost:${port}/`)), "read");
  assert.equal(await page.evaluate(readOtherOrigin(`http://127.0.0.1:${port}/`)), "refused");
  await page.close();
});

test("text uses the bundled font in both weights", async () => {
  const page = await browser.newPage();
  await page.setContent('<body style="font: 40px sans-serif"><span>Signet</span><br><b>Signet</b>');
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  for (const selector of ["span", "b"]) {
    const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
    assert.deepEqual(
      fonts.map(({ familyName }) => familyName),
      ["Open Sans"],
      selector,
    );
  }
  assert.ok(
    (await page.locator("b").boundingBox())?.width !== (await page.locator("span").boundingBox())?.width,
  );
  await page.close();
});
