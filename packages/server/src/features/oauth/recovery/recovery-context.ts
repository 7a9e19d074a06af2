/** What the recovery pages stand in: the organisation, and the sign-in that they were opened from, if there was one. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { User } from "../../../core/users/user.ts";
import type { HiddenField } from "../../../html/components/form.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import { queryOf } from "../../../http/form-body.ts";
import {
  type BrowserDeps,
  formBinding,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  type Visit,
} from "../authorize/browser.ts";
import { type Flow, formOfFlow, withAnotherAccount } from "../authorize/flow.ts";
import { destinationOf, readPageRequest } from "../authorize/page-request.ts";
import { type Prompt, readTarget } from "../authorize/request/authorization-request.ts";

/** What counts of whoever reads. */
export type Reader = Pick<User, "locale">;

export interface Surroundings {
  readonly frame: PageFrame;
  readonly organisation: PageOrganisation;
  /** The sign-in to go on with. One that is too old or altered is left out: the page works without it. */
  readonly flow: Flow | undefined;
  /** What it leads to; undefined without one, and when its application is gone. */
  readonly application: PageApplication | undefined;
}

/**
 * @param reader whoever has shown to be the user, by a link of a mail or by a session: the page is in their language. Never
 * somebody whose address was only typed: the language would tell that there is an account.
 */
export async function surroundings(
  deps: BrowserDeps,
  visit: Visit,
  sealed: string | undefined,
  reader: Reader | undefined,
): Promise<Surroundings> {
  const { organisation } = visit;
  const flow = deps.flows.open(sealed, organisation.id, deps.clock());
  const frame = pageFrame(visit, flow && formOfFlow(flow).values.get("ui_locales"), reader);
  const application = flow && (await destination(deps, visit, flow, frame));
  return {
    frame,
    organisation: pageOrganisation(organisation),
    flow: application && flow,
    application,
  };
}

async function destination(
  deps: BrowserDeps,
  { organisation }: Visit,
  flow: Flow,
  { messages }: PageFrame,
): Promise<PageApplication | undefined> {
  try {
    const page = await readPageRequest(deps.applications, flow);
    if (page) return destinationOf(page, organisation, messages).application;
    const { application } = await readTarget(deps.applications, organisation.id, formOfFlow(flow));
    return pageApplication(application);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** The form's token, and the sign-in that the form goes on with. */
export function hiddenOf(deps: BrowserDeps, visit: Visit, flow: Flow | undefined): HiddenField[] {
  const { csrf } = formBinding(deps, visit);
  return [{ name: "csrf", value: csrf }, ...(flow ? [{ name: "flow", value: deps.flows.seal(flow) }] : [])];
}

/** An address of the organisation's, with the sign-in in its query. */
export function withFlow(deps: BrowserDeps, visit: Visit, rest: string, flow: Flow | undefined): string {
  const path = orgPath(visit.organisation, rest);
  return flow ? `${path}?flow=${deps.flows.seal(flow)}` : path;
}

/** The page that says that a link has done its work, where nobody is known any more: it is told the language. */
export function donePath(
  deps: BrowserDeps,
  visit: Visit,
  rest: string,
  { flow, reader }: { flow: Flow | undefined; reader: Reader },
): string {
  const path = withFlow(deps, visit, rest, flow);
  if (reader.locale === null) return path;
  return `${path}${flow ? "&" : "?"}language=${encodeURIComponent(reader.locale)}`;
}

/** The surroundings of that page. A language that is none changes nothing. */
export function doneSurroundings(deps: BrowserDeps, visit: Visit): Promise<Surroundings> {
  const { values } = queryOf(visit.request);
  return surroundings(deps, visit, values.get("flow"), { locale: values.get("language") ?? null });
}

/** The sign-in once more from the beginning: whoever is signed in in this browser is not who it goes on with. */
export function fromTheStart(flow: Flow, now: number): Flow {
  const prompts = (formOfFlow(flow).values.get("prompt") ?? "").split(" ") as Prompt[];
  const kept = prompts.filter((prompt) => prompt === "consent");
  return withAnotherAccount(flow, kept, now);
}
