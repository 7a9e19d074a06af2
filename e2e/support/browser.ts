import { type Browser, chromium } from "playwright-core";
import { installChromium } from "./chromium-install.ts";

// Not the package's own flags: among them are --disable-web-security and --single-process, under which a test of the
// same-origin policy, of CSRF or of framing would prove nothing.
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A page of a test lives for a second: code that is optimised for longer costs more than it spares, of axe a third.
  "--js-flags=--no-opt,--no-maglev",
];

/** Pages respond immediately; a busy machine may take twenty times as long. */
const LONGEST_WAIT_MS = 60_000;

/** Starts headless Chromium with the web's security rules in force; the caller closes it. `moreFlags` come last. */
export async function launchBrowser(moreFlags: string[] = []): Promise<Browser> {
  const { executablePath, environment } = await installChromium();
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    timeout: 2 * LONGEST_WAIT_MS,
    // Chromium's own sandbox wants kernel features that containers withhold, and refuses root.
    chromiumSandbox: false,
    args: [...flags, ...moreFlags],
    env: { ...process.env, ...environment },
  });
  const newContext = browser.newContext.bind(browser);
  // `newPage` of the browser makes its context by this as well.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(LONGEST_WAIT_MS);
    return context;
  };
  return browser;
}
