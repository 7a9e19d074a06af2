/** What the page of a form is made from, besides its record: the frame, the hidden fields, and what was typed. */
import type { SignedIn } from "../core/sessions/session.ts";
import type { FormShown, FormView } from "../html/components/form-state.ts";
import type { Html } from "../html/html.ts";
import { newSubmissionToken } from "./accept-form.ts";
import { type ConsolePage, consoleFrame } from "./console-frame.ts";
import { type ConsoleDeps, requestPath, show, type Visit } from "./page.ts";

/** @param hidden by default a submission token, as a form needs that creates or sends something */
export async function formView<Input>(
  deps: Pick<ConsoleDeps, "database" | "clock" | "browserSession">,
  visit: Visit,
  signedIn: SignedIn,
  current: ConsolePage,
  { input, state = {}, failure }: FormShown<Input>,
  hidden: { version?: string; once?: string | undefined } = { once: newSubmissionToken(deps) },
): Promise<FormView<Input>> {
  return {
    ...(await consoleFrame(deps, visit, signedIn, current)),
    ...{ input, state, failure },
    ...hidden,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: requestPath(visit),
  };
}

/** Shows the page of a form that creates or sends something. */
export async function showFormPage<Input>(
  deps: Pick<ConsoleDeps, "database" | "clock" | "browserSession">,
  visit: Visit,
  signedIn: SignedIn,
  current: ConsolePage,
  shown: FormShown<Input>,
  page: (view: FormView<Input>) => Html | Promise<Html>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, current, shown);
  await show(visit, view, await page(view), shown.status);
}
