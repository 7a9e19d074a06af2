/**
 * `npm run screenshots`: every page of the console and of an account, at both sizes, into the folder `screenshots`, which git does
 * not keep (or into the one that is named; `--dark` in dark too): to be looked at. Small files: WebP, which the browser itself
 * makes. With `--only account,portal` just the pages whose name begins so, beside those that are there. The few that the documentation
 * shows are copied to docs/screenshots.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { createPortalLink } from "../packages/server/src/core/portal-links/portal-links.ts";
import { addTotp, newTotpSecret } from "../packages/server/src/core/second-factors/totp/totp.ts";
import { findUser } from "../packages/server/src/core/users/users.store.ts";
import { disablePool } from "../packages/server/src/features/sovereign/admin-api/pools.ts";
import { PASSWORD } from "../packages/server/src/testing/test-service.ts";
import { type ConsoleFixture, consoleFixture, signInAt } from "./console/console-fixture.ts";
import { addVirtualAuthenticator } from "./journeys/virtual-authenticator.ts";
import { launchBrowser } from "./support/browser.ts";

const sizes = [
  { name: "phone", width: 390, height: 844 },
  { name: "desk", width: 1280, height: 800 },
] as const;

async function shoot(
  folder: string,
  schemes: ReadonlyArray<"light" | "dark">,
  { isPng, only }: { isPng: boolean; only: string },
): Promise<number> {
  if (only === "") await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const fixture = await consoleFixture();
  const browser = await launchBrowser();
  try {
    const { orgId, user } = fixture;
    const owner = { homeOrgId: orgId, userId: user.id };
    const { service } = fixture.running;
    const now = service.clock();
    await addTotp(service, service.database.query, owner, { secret: await newTotpSecret(), step: 0, now });
    const page = await securedPage(browser, fixture);
    const further = [
      ...(await passkeyPage(page, fixture)),
      ...(await leavePage(browser, fixture)),
      ...(await portalPages(browser, fixture)),
    ];
    const all = [...fixture.pages.map((one) => ({ ...one, page })), ...further];
    let count = 0;
    for (const colorScheme of schemes) count += await shootAll(all, { folder, colorScheme, isPng, only });
    await disablePool(
      { ...service, baseUrl: fixture.baseUrl },
      { orgId, actor: "operator" },
      { id: fixture.ids["pool"] ?? "", disabled: true },
    );
    const enabling = all.filter(({ name }) => name === "console-pools-pool-enable");
    for (const colorScheme of schemes)
      count += await shootAll(enabling, { folder, colorScheme, isPng, only });
    return count;
  } finally {
    await browser.close();
    await fixture.close();
  }
}

/** The administrator's, whose account has a passkey and recovery codes, as its pages are meant to be seen. */
async function securedPage(browser: Browser, fixture: ConsoleFixture): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await signInAt(page, `${fixture.baseUrl}/oauth/manage/${fixture.orgId}/confirm-identity`, fixture.admin);
  await addVirtualAuthenticator(page);
  await page.goto(`${fixture.baseUrl}/oauth/${fixture.orgId}/account/security/passkeys`);
  await page.locator("#passkey-create").click();
  await page.locator(".codes").first().waitFor();
  return page;
}

/** What somebody without an account sees who has a portal link. */
async function portalPages(
  browser: Browser,
  { baseUrl, orgId, ids, running: { service } }: ConsoleFixture,
): Promise<Shot[]> {
  const purposes = ["connections", "domains", "scim"] as const;
  const wanted = { purposes, returnUrl: null, scopes: ["signet:organisation:write"] as const };
  const newLink = async () => {
    const { token } = await createPortalLink(service, { orgId, actor: "test", wanted });
    return `${baseUrl}/portal/${token}`;
  };
  const page = await (await browser.newContext()).newPage();
  await page.goto(await newLink());
  await page.locator("#portal-open").click();
  await page.locator("#portal-close").waitFor();
  const console = `${baseUrl}/oauth/manage/${orgId}`;
  const shot = (name: string, url: string) => ({ name: `portal-${name}`, url, page });
  return [
    shot("home", `${console}/portal`),
    shot("connection", `${console}/connections/${ids["connections/sign-ins"]}`),
    shot("connection-settings", `${console}/connections/${ids["connections/sign-ins"]}/settings`),
    shot("connections-new", `${console}/connections/new`),
    shot("domain", `${console}/domains/${ids["domains"]}`),
    shot("ended", `${baseUrl}/portal`),
    shot("broken", `${baseUrl}/portal/x`),
    shot("open", await newLink()),
  ];
}

interface Shot {
  readonly name: string;
  readonly url: string;
  /** Where the one who sees it is signed in. */
  readonly page: Page;
}

/** Of the passkey that was just made. */
async function passkeyPage(page: Page, { baseUrl, orgId }: ConsoleFixture): Promise<Shot[]> {
  await page.goto(`${baseUrl}/oauth/${orgId}/account/security`);
  const link = page.getByRole("link", { name: /^Edit the passkey/ });
  const url = new URL((await link.getAttribute("href")) ?? "", baseUrl);
  return [{ name: "account-security-passkey", url: url.href, page }];
}

/** Which only a guest is offered. */
async function leavePage(
  browser: Browser,
  { baseUrl, orgId, ids, running }: ConsoleFixture,
): Promise<Shot[]> {
  const guest = await findUser(running.service.database.query, orgId, ids["users/remove"] ?? "");
  if (!guest) throw new Error("the fixture has no guest");
  const context = await browser.newContext();
  const page = await context.newPage();
  const url = `${baseUrl}/oauth/${orgId}/account/leave`;
  await signInAt(page, url, { email: guest.email, password: PASSWORD });
  return [{ name: "account-leave", url, page }];
}

async function shootAll(
  shots: readonly Shot[],
  {
    folder,
    colorScheme,
    isPng,
    only,
  }: { folder: string; colorScheme: "light" | "dark"; isPng: boolean; only: string },
): Promise<number> {
  let count = 0;
  const isWanted = ({ name }: Shot) => only.split(",").some((beginning) => name.startsWith(beginning));
  for (const { name, url, page } of shots.filter(isWanted)) {
    if (!(await isPageOfItsOwn(page, url))) continue;
    await page.emulateMedia({ colorScheme });
    const converter = await page.context().newPage();
    for (const { name: size, width, height } of sizes) {
      await page.setViewportSize({ width, height });
      await page.goto(url);
      // A window as high as the page: what is kept in sight at the foot of a window stands at the foot of the page.
      const whole = Number(await page.evaluate("document.documentElement.scrollHeight"));
      await page.setViewportSize({ width, height: Math.max(height, whole) });
      const png = await page.screenshot();
      const file = path.join(folder, `${name}-${size}${colorScheme === "dark" ? "-dark" : ""}`);
      if (isPng) await writeFile(`${file}.png`, png);
      else await writeFile(`${file}.webp`, await webp(converter, png));
      count += 1;
    }
    await converter.close();
  }
  return count;
}

/** Neither a file, nor nothing, nor an address that leads to another page, which has its own pictures. */
async function isPageOfItsOwn(page: Page, url: string): Promise<boolean> {
  const answer = await page.request.get(url, { headers: { accept: "text/html" } });
  return answer.ok() && answer.url() === url && (await answer.text()).includes("<html");
}

async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const data = (await page.evaluate(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${png.toString("base64")}";
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.6);
  })()`)) as string;
  return Buffer.from(data.split(",")[1] ?? "", "base64");
}

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: "screenshots" },
    dark: { type: "boolean" },
    png: { type: "boolean" },
    only: { type: "string", default: "" },
  },
});
const count = await shoot(values.folder, values.dark ? ["light", "dark"] : ["light"], {
  isPng: values.png ?? false,
  only: values.only,
});
console.log(`${count} screenshots in ${values.folder}`);
