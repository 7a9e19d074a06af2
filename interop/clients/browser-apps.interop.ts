/** Browser libraries sign a person in, refresh, and sign out in real Chromium with what `app create --for` prints. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launchBrowser } from "../../e2e/support/browser.ts";
import type { StackName } from "../../packages/server/src/core/stacks/stacks.ts";
import { missingNpmClients } from "./node-program.ts";
import { type SinglePageApp, startSinglePageApp } from "./spa.ts";
import { type StackService, startStackService } from "./stack-service.ts";

const timeout = 240_000;
const skip = missingNpmClients();

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

let service: StackService;
let browser: Browser;
before(async () => {
  service = await startStackService();
  if (!skip) browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await service.close();
});

const apps = {
  react: { ours: "react.jsx", as: "App.jsx", entry: "main.tsx" },
  angular: { ours: "angular.mjs", entry: "angular.mjs" },
} as const satisfies Partial<Record<StackName, SinglePageApp>>;

/** From the application's page through Signet's pages back to it. */
async function signIn(page: Page): Promise<void> {
  const { email, password } = service.org.user;
  await page.locator("#sign-in").click();
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(password);
  await page.locator("#login-submit").click();
  await page.locator("#consent-allow").click();
  await page.locator("#user").waitFor();
}

async function signInAndOut(stack: keyof typeof apps): Promise<void> {
  const start = (files: Parameters<typeof startSinglePageApp>[0]) => startSinglePageApp(files, apps[stack]);
  await service.withServer(stack, start, async ({ address, redirectUri }) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("pageerror", ({ message }) => faults.push(message));
      await page.goto(`${address}/`);
      await signIn(page);
      const { sub, name, email } = JSON.parse(await page.locator("#user").innerText()) as Record<
        string,
        unknown
      >;
      const { user } = service.org;
      assert.deepEqual([sub, name, email], [user.id, "Uma User", user.email]);
      assert.equal(page.url(), redirectUri, "the code is gone from the address");

      const token = await page.locator("#token").innerText();
      await page.locator("#refresh").click();
      await page.locator("#token").filter({ hasNotText: token }).waitFor();
      assert.match(await page.locator("#token").innerText(), /^[\w-]+\.[\w-]+\.[\w-]+$/);

      await page.locator("#sign-out").click();
      await page.locator("#sign-in").click();
      await page.locator("#login-submit").waitFor();
      assert.deepEqual(faults, []);
    } finally {
      await context.close();
    }
  });
}

test("react-oidc-context", { skip, timeout }, () => signInAndOut("react"));
test("angular-auth-oidc-client", { skip, timeout }, () => signInAndOut("angular"));
