/** What recovery pages share: the page frame, and the sign-in that they were opened from, if any. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { User } from "../../../core/users/user.ts";
import type { HiddenField } from "../../../html/components/form.ts";
import { applicationName, organisationName } from "../../../html/displayed-name.ts";
import type { PageApplication } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  type BrowserDeps,
  flowPath,
  formBinding,
  pageApplication,
  pageFrame,
  type Visit,
} from "../authorize/browser.ts";
import { type Flow, flowForm, withAnotherAccount } from "../authorize/flow.ts";
import { readPageRequest, signInDestination } from "../authorize/page-request.ts";
import { type Prompt, readTarget } from "../authorize/request/authorization-request.ts";
import type { RecoveryFrame } from "./recovery.page.ts";

export type RecoveryContext = Required<Omit<RecoveryFrame, "languages">> &
  Pick<RecoveryFrame, "languages"> & {
    /** The sign-in to continue. The pages work without it, e.g. when its seal has expired. */
    readonly flow: Flow | undefined;
    /** As of the pages of the sign-in itself. */
    readonly redirectsElsewhere: boolean;
  };

/**
 * @param user for the page's language: authenticated by a link or a session. Never the owner of an address that was only
 * typed, because the language would disclose that the account exists.
 * @param path of the page to begin again with in another language, after a form was sent
 */
export async function loadRecoveryContext(
  deps: BrowserDeps,
  visit: Visit,
  sealed: string | undefined,
  user: Pick<User, "locale"> | undefined,
  path = "recovery",
): Promise<RecoveryContext> {
  const flow = deps.flows.open(sealed, visit.organisation.id, deps.clock());
  const again = flowPath(deps, visit, path, flow);
  const frame = pageFrame(visit, flow && flowForm(flow).values.get("ui_locales"), user, again);
  // Links in emails lead here: no page repeats a name that could be a message.
  const organisation = { ...frame.organisation, name: organisationName(frame.messages, visit.organisation) };
  const named = { ...frame, organisation };
  const destination = flow && (await flowDestination(deps, visit, flow, frame.messages));
  if (!destination) return { ...named, flow: undefined, application: undefined, redirectsElsewhere: false };
  return { ...named, flow, ...destination };
}

async function flowDestination(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  flow: Flow,
  messages: Messages,
): Promise<{ application: PageApplication; redirectsElsewhere: boolean } | undefined> {
  try {
    const page = await readPageRequest(deps.applications, flow);
    const named = { ...organisation, name: organisationName(messages, organisation) };
    if (page) return signInDestination(page, named, messages);
    const { application } = await readTarget(deps, organisation.id, flowForm(flow), request);
    const name = applicationName(messages, application.name);
    return { application: { ...pageApplication(application), name }, redirectsElsewhere: true };
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

export function formFields(deps: BrowserDeps, visit: Visit, flow?: Flow): HiddenField[] {
  const { csrf } = formBinding(deps, visit);
  return [{ name: "csrf", value: csrf }, ...(flow ? [{ name: "flow", value: deps.flows.seal(flow) }] : [])];
}

/** The flow from its beginning: it continues with another user than the browser's session has. */
export function restartFlow(flow: Flow, now: number): Flow {
  const prompts = (flowForm(flow).values.get("prompt") ?? "").split(" ") as Prompt[];
  return withAnotherAccount(
    flow,
    prompts.filter((prompt) => prompt === "consent"),
    now,
  );
}
