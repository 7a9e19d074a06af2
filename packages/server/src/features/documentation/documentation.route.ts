/** GET /docs/console: the handbook of the console, built once. */
import type { FastifyInstance } from "fastify";
import { render } from "../../html/html.ts";
import { messages } from "../../html/messages/messages.ts";
import { referenceStylesheet } from "../../html/stylesheet.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import type { ConsolePage } from "../../page-kit/console-frame.ts";
import { type Chapter, handbookPage } from "./handbook.page.ts";
import {
  authorizationDetailTypes,
  clientAuthorities,
  clientPolicy,
  initialAccessTokens,
  resources,
  tokenExchange,
  trusts,
} from "./handbook-agents.ts";
import { applications, overview, quickstart, scopes, systemAccounts, webhooks } from "./handbook-build.ts";
import { breakGlass, connections, domains, groups, roles, scim } from "./handbook-directory.ts";
import {
  auditLog,
  devices,
  ledger,
  pools,
  settings,
  signingKeys,
  tokenInspector,
} from "./handbook-machines.ts";
import { consents, invitations, mailTemplates, policies, signInPage, users } from "./handbook-users.ts";

/** In the order of the navigation, and what needs more than a page; a page of it without a chapter does not compile. */
const chapters: Readonly<Record<ConsolePage | "scim", Chapter>> = {
  ...{ overview, quickstart, applications, resources, scopes, authorizationDetailTypes, systemAccounts },
  webhooks,
  ...{
    users,
    groups,
    roles,
    connections,
    domains,
    scim,
    invitations,
    consents,
    signInPage,
    mailTemplates,
    policies,
  },
  ...{
    devices,
    pools,
    trusts,
    tokenExchange,
    clientPolicy,
    initialAccessTokens,
    auditLog,
    signingKeys,
    ledger,
    breakGlass,
    clientAuthorities,
    tokenInspector,
    settings,
  },
};

export function documentationRoute(app: FastifyInstance): void {
  let page: Buffer | undefined;
  app.get("/docs/console", { exposeHeadRoute: true }, async (_request, reply) => {
    page ??= Buffer.from(
      render(
        handbookPage({
          messages: messages(["en"]),
          // Only an organisation's inline style needs a nonce.
          nonce: "",
          stylesheet: referenceStylesheet.path,
          chapters,
        }),
      ),
    );
    await sendPage(reply, page, { nonce: newNonce() });
    return reply;
  });
}
