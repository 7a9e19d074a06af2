/** The landing page; in demo mode also the try-it flow and the mailbox. */
import { demoRoutes } from "../features/demo/demo.route.ts";
import { mailboxRoutes } from "../features/demo/mailbox.route.ts";
import { landingRoute } from "../features/landing/landing.route.ts";
import type { Module } from "./app-context.ts";
import { composeMailBody } from "./mail-content.ts";

export const landingPages: Module = (scope, { service, options: { demo } }) => {
  const { baseUrl } = service.config;
  const deps = { ...service, baseUrl };
  const hasMailbox = demo !== undefined && service.mailTransport.kind === "mailbox";
  const mailbox = hasMailbox ? { mailboxUri: "/demo/mailbox" } : {};
  landingRoute(scope, { ...deps, demo: demo && { ...demo, ...mailbox } });
  if (demo) demoRoutes(scope, { ...deps, demo });
  if (hasMailbox) mailboxRoutes(scope, { ...service, composeBody: (mail) => composeMailBody(deps, mail) });
};
