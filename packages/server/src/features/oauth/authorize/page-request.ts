/**
 * A sign-in for a page of our own: account pages, the device page, the federation's way to an application. It ends at the
 * page, and answers no client.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { PageApplication } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { CONFIRMATION, type Flow, formOfFlow, type OwnPage } from "./flow.ts";
import type { AuthorizationRequest, Prompt, SignInRequest } from "./request/authorization-request.ts";
import { noRequestedAcr } from "./request/requested-acr.ts";

export interface PageRequest extends SignInRequest {
  readonly page: OwnPage;
  /** The one that the page leads on to. */
  readonly application?: Application;
  /** Whoever is signed in is to show that it is them. */
  readonly isConfirmation: boolean;
}

export interface PageWish {
  /** The sign-in may be so old. */
  readonly maxAgeSeconds?: number;
  readonly prompt?: Prompt;
  /** The sign-in is asked for of whoever is signed in, to show that it is them; not of anybody else. */
  readonly isConfirmation?: true;
  readonly uiLocales?: string;
  /** What the sign-in must reach. */
  readonly requiredAcr?: string;
}

/** @param page its path is made by our code; what a request says may stand in its query, encoded */
export function pageFlow(orgId: string, page: OwnPage, startedAt: number, wish: PageWish = {}): Flow {
  const { maxAgeSeconds, prompt, isConfirmation, uiLocales, requiredAcr } = wish;
  const parameters = Object.entries({
    max_age: maxAgeSeconds,
    prompt,
    [CONFIRMATION]: isConfirmation,
    ui_locales: uiLocales,
    required_acr: requiredAcr,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  return { orgId, parameters, startedAt, page };
}

/**
 * @returns undefined for the flow of an authorization request
 * @throws OAuthError for a page, when the application that it leads to is gone
 */
export async function readPageRequest(
  applications: Pick<ApplicationDirectory, "find">,
  flow: Flow,
): Promise<PageRequest | undefined> {
  if (!flow.page) return undefined;
  const { applicationId } = flow.page;
  const application = applicationId && (await applications.find(flow.orgId, applicationId));
  if (applicationId && !application)
    throw new OAuthError("invalid_request", "The application is not known here any more.");
  const { values } = formOfFlow(flow);
  const maxAge = values.get("max_age");
  const prompt = values.get("prompt");
  return {
    page: flow.page,
    ...(application ? { application } : {}),
    isConfirmation: values.has(CONFIRMATION),
    prompts: prompt === undefined ? [] : (prompt.split(" ") as Prompt[]),
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    acr: { ...noRequestedAcr, required: values.get("required_acr") },
    loginHint: undefined,
    idTokenHint: undefined,
    uiLocales: values.get("ui_locales"),
  };
}

/** What the sign-in pages say they lead to, and whether their forms end outside, at an application. */
export function destinationOf(
  request: AuthorizationRequest | PageRequest,
  organisation: Organisation,
  messages: Messages,
): { application: PageApplication; leadsAway: boolean } {
  const { application } = request;
  if (application) {
    const { homepageUri, logoUri } = application.settings;
    return { application: { name: application.name, homepageUri, logoUri }, leadsAway: true };
  }
  const place = "page" in request ? request.page.place : "application";
  return {
    application: { name: messages.places[place]({ organisation: organisation.name }) },
    leadsAway: false,
  };
}
