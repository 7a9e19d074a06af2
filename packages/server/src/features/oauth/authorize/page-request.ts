/** A sign-in for a page of this server: account, console, device page, legacy federation. It ends at the page. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { User } from "../../../core/users/user.ts";
import type { PageApplication } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { languageLinksTo } from "../../../page-kit/language-choice.ts";
import {
  type BrowserDeps,
  flowPath,
  formBinding,
  orgPath,
  pageApplication,
  pageFrame,
  type Visit,
} from "./browser.ts";
import { CONFIRMATION, type Flow, flowForm, type InternalPage } from "./flow.ts";
import type { AuthorizationRequest, Prompt, SignInRequest } from "./request/authorization-request.ts";
import { readRequestedAcr } from "./request/requested-acr.ts";

export interface PageRequest extends SignInRequest {
  readonly page: InternalPage;
  readonly application?: Application;
  readonly isConfirmation: boolean;
}

export interface PageRequirements {
  readonly maxAgeSeconds?: number;
  readonly prompt?: Prompt | undefined;
  /** The signed-in user, and no other, confirms their identity. */
  readonly isConfirmation?: true;
  readonly uiLocales?: string | undefined;
  readonly requiredAcr?: string | undefined;
  /** A preference. */
  readonly acrValues?: string | undefined;
  readonly loginHint?: string | undefined;
}

/** @param page its path comes from code; request values may stand in its query, encoded */
export function pageFlow(
  orgId: string,
  page: InternalPage,
  startedAt: number,
  wish: PageRequirements = {},
): Flow {
  const { maxAgeSeconds, prompt, isConfirmation, uiLocales, requiredAcr, acrValues, loginHint } = wish;
  const parameters = Object.entries({
    max_age: maxAgeSeconds,
    prompt,
    [CONFIRMATION]: isConfirmation,
    ui_locales: uiLocales,
    required_acr: requiredAcr,
    acr_values: acrValues,
    login_hint: loginHint,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  return { orgId, parameters, startedAt, page };
}

/**
 * @returns undefined for the flow of an authorization request
 * @throws OAuthError shown on a page, when the application no longer exists
 */
export async function readPageRequest(
  applications: Pick<ApplicationDirectory, "find">,
  flow: Flow,
): Promise<PageRequest | undefined> {
  if (!flow.page) return undefined;
  const { applicationId } = flow.page;
  const application = applicationId && (await applications.find(flow.orgId, applicationId));
  if (applicationId && !application)
    throw new OAuthError("invalid_request", "This application no longer exists.");
  const { values } = flowForm(flow);
  const maxAge = values.get("max_age");
  return {
    page: flow.page,
    ...(application ? { application } : {}),
    isConfirmation: values.has(CONFIRMATION),
    prompts: (values.get("prompt")?.split(" ") ?? []) as Prompt[],
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    acr: {
      ...readRequestedAcr(values.get("acr_values"), noRequestedClaims, {}),
      required: values.get("required_acr"),
    },
    loginHint: values.get("login_hint"),
    idTokenHint: undefined,
    uiLocales: values.get("ui_locales"),
  };
}

/** What a sign-in page says it leads to, and whether its forms may end at an application. */
export function signInDestination(
  request: AuthorizationRequest | PageRequest,
  organisation: Organisation,
  messages: Messages,
): { application: PageApplication; redirectsElsewhere: boolean } {
  const { application } = request;
  if (application) return { application: pageApplication(application), redirectsElsewhere: true };
  const place = "page" in request ? request.page.place : "application";
  return {
    application: { name: messages.places[place]({ organisation: organisation.name }) },
    redirectsElsewhere: false,
  };
}

/** A sign-in under way: what is carried from page to page, and what it asks for. */
export interface FlowRequest {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
}

/** What every page of a sign-in shows, and its form posts to `endpoint`. @param user for the page's language */
export function flowPage(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request }: FlowRequest,
  user: Pick<User, "locale"> | undefined,
  endpoint:
    | "login"
    | "authorize"
    | "twofactor"
    | "email-code"
    | "link-account"
    | "break-glass"
    | "terms"
    | `magic/${string}`,
) {
  const frame = pageFrame(visit, request.uiLocales, user);
  const { application, redirectsElsewhere } = signInDestination(request, visit.organisation, frame.messages);
  const { browser, csrf } = formBinding(deps, visit);
  const action = orgPath(visit.organisation, endpoint);
  // What was posted comes back at the step that the sign-in has got to, or at the form past an enforced connection.
  const again = endpoint === "break-glass" ? endpoint : "authorize";
  const languages =
    visit.request.method === "POST" ? languageLinksTo(flowPath(deps, visit, again, flow)) : frame.languages;
  const page = { ...frame, languages, application, action, csrf, flow: deps.flows.seal(flow) };
  return { page, browser, redirectsElsewhere };
}
