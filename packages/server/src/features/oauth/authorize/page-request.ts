/** A sign-in for a page of our own: account pages, the device page. It has no client and ends at the page. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { PageApplication } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AuthorizationRequest, Prompt, SignInRequest } from "./authorization-request.ts";
import { type Flow, formOfFlow, type OwnPage } from "./flow.ts";
import { noRequestedAcr } from "./requested-acr.ts";

export interface PageRequest extends SignInRequest {
  readonly page: OwnPage;
}

export interface PageWish {
  /** The sign-in may be so old. */
  readonly maxAgeSeconds?: number;
  readonly prompt?: Prompt;
  readonly uiLocales?: string;
  /** What the sign-in must reach. */
  readonly requiredAcr?: string;
}

/** @param page its path is made by our code; what a request says may stand in its query, encoded */
export function pageFlow(orgId: string, page: OwnPage, startedAt: number, wish: PageWish = {}): Flow {
  const { maxAgeSeconds, prompt, uiLocales, requiredAcr } = wish;
  const parameters = Object.entries({
    max_age: maxAgeSeconds,
    prompt,
    ui_locales: uiLocales,
    required_acr: requiredAcr,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  return { orgId, parameters, startedAt, page };
}

/** Undefined for the flow of an authorization request. */
export function readPageRequest(flow: Flow): PageRequest | undefined {
  if (!flow.page) return undefined;
  const { values } = formOfFlow(flow);
  const maxAge = values.get("max_age");
  const prompt = values.get("prompt");
  return {
    page: flow.page,
    prompts: prompt === undefined ? [] : [prompt as Prompt],
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    acr: { ...noRequestedAcr, required: values.get("required_acr") },
    loginHint: undefined,
    idTokenHint: undefined,
    uiLocales: values.get("ui_locales"),
  };
}

/** What the sign-in pages say they lead to. */
export function destinationOf(
  request: AuthorizationRequest | PageRequest,
  organisation: Organisation,
  messages: Messages,
): { application: PageApplication; redirectUri?: string } {
  if ("page" in request)
    return { application: { name: messages.places[request.page.place](organisation.name) } };
  const { application, redirectUri } = request;
  const { homepageUri, logoUri } = application.settings;
  return { application: { name: application.name, homepageUri, logoUri }, redirectUri };
}
