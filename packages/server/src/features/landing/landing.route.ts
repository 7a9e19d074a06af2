/** GET /: the landing page. Only demo mode lists organisations. */
import type { FastifyInstance } from "fastify";
import { issuerOf } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { render } from "../../html/html.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { stylesheet } from "../../html/stylesheet.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import { consolePath } from "../../page-kit/page.ts";
import { landingPage } from "./landing.page.ts";

export interface LandingDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly demo:
    | {
        readonly organisationIds: readonly string[];
        readonly credentialsFile: string;
        readonly mailboxUri?: string;
      }
    | undefined;
}

export function landingRoute(app: FastifyInstance, deps: LandingDeps): void {
  app.get("/", { exposeHeadRoute: true }, async (request, reply) => {
    const nonce = newNonce();
    const texts = messages(preferredLocales(undefined, request.headers["accept-language"]));
    const page = landingPage({
      messages: texts,
      documentation: [
        { title: texts.console.frame.handbook, uri: "/docs/console" },
        { title: texts.landing.apiReference, uri: "/docs" },
      ],
      nonce,
      stylesheet: stylesheet.path,
      demo: deps.demo && {
        organisations: await listOrganisations(deps, deps.demo.organisationIds),
        tryUri: "/demo/try",
        credentialsFile: deps.demo.credentialsFile,
        mailboxUri: deps.demo.mailboxUri,
      },
    });
    await sendPage(reply, render(page), { nonce });
    return reply;
  });
}

async function listOrganisations({ baseUrl, organisations }: LandingDeps, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => organisations.find(id)));
  return found.flatMap((organisation) => {
    if (!organisation) return [];
    const issuer = issuerOf(baseUrl, organisation.id);
    const discoveryUri = `${issuer}/.well-known/openid-configuration`;
    return [{ name: organisation.name, issuer, discoveryUri, consoleUri: consolePath(organisation) }];
  });
}
