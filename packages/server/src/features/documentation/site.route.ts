/** GET /docs/*: the documentation site (docs/site). It is static, public and the same for everybody. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { html, render } from "../../html/html.ts";
import { contentLayout } from "../../html/layout.ts";
import { messages } from "../../html/messages/messages.ts";
import { referenceStylesheet } from "../../html/stylesheet.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { documentationSite, type Site, type SiteFile } from "./site-files.ts";

export interface SiteDeps {
  readonly clock: Clock;
  /** For tests. */
  readonly site?: () => Site;
}

export function siteRoute(app: FastifyInstance, { clock, site = documentationSite(clock) }: SiteDeps): void {
  app.get("/docs/*", async (request, reply) => {
    const { "*": address } = request.params as { "*": string };
    // The site's link to a page of the service, within the site's own part of the address.
    if (address === "api") return reply.redirect("/docs", 308);
    const opened = site();
    if (opened.kind !== "ready") {
      await sendWaitingPage(reply, opened.kind === "failed");
      return reply;
    }
    const accepted = request.headers["accept-encoding"] ?? "";
    const file = await opened.read(address, /(?:^|[\s,])br(?:$|[\s,;])/.test(String(accepted)));
    if (file === undefined) return reply.callNotFound();
    await sendFile(request, reply, file);
    return reply;
  });
}

/** Neither inline scripts nor inline styles: the build has made files of them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

async function sendFile(request: FastifyRequest, reply: FastifyReply, file: SiteFile): Promise<void> {
  reply
    .headers({
      "content-security-policy": POLICY,
      "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      vary: "accept-encoding",
      etag: file.etag,
    })
    .type(file.contentType);
  if (file.isCompressed) reply.header("content-encoding", "br");
  if (request.headers["if-none-match"] === file.etag) await reply.code(304).send();
  else await sendBytes(reply, file.bytes);
}

/** In a clone, whose server builds the site when somebody first opens it. */
async function sendWaitingPage(reply: FastifyReply, hasFailed: boolean): Promise<void> {
  const nonce = newNonce();
  const text = hasFailed
    ? html`<p>The documentation can't be built here. Its pages are in the folder <code>docs</code> of the repository.</p>`
    : html`<p>The documentation is being built. This page reloads when it is ready.</p>`;
  const page = contentLayout({
    messages: messages(["en"]),
    nonce,
    stylesheet: referenceStylesheet.path,
    title: "Documentation",
    body: html`<h1>Documentation</h1>\n${text}\n<p><a href="/docs">API reference</a> · <a href="/docs/console">Console handbook</a></p>`,
  });
  reply.header("retry-after", hasFailed ? "60" : "3");
  if (!hasFailed) reply.header("refresh", "3");
  await sendPage(reply, render(page), { nonce, status: 503 });
}
