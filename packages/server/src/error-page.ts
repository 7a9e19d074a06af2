/** The error page of every browser route. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { errorPage } from "./html/error.page.ts";
import { render } from "./html/html.ts";
import { messages, preferredLocales } from "./html/messages/messages.ts";
import { stylesheet } from "./html/stylesheet.ts";
import { newNonce, sendPage } from "./http/page.ts";

export async function renderErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  shown: { status: number; message?: string },
): Promise<void> {
  const nonce = newNonce();
  const page = errorPage({
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce,
    stylesheet: stylesheet.path,
    status: shown.status,
    requestId: request.id,
    message: shown.message,
  });
  await sendPage(reply, render(page), { status: shown.status, nonce });
}
