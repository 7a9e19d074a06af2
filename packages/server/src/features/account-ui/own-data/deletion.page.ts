/** Pages to delete the account or leave the organisation, and the page after. */
import { confirmActPage } from "../../../html/components/act.page.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { terminalPage, toAccount } from "../../../html/components/terminal-page.ts";
import { type Html, html } from "../../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../../html/layout.ts";
import { breadcrumb } from "../change.page.ts";

export type DeletionView = ConsoleFrame & {
  csrf: string;
  action: string;
  backUri: string;
  failure?: FormFailure | undefined;
  typedName?: string;
  isWrongName?: boolean;
};

/** Lists the effects and asks for the email address. */
export function deletionPage(view: DeletionView): Html {
  const text = view.messages.console.account.deletion;
  return confirmActPage({
    ...view,
    breadcrumbs: breadcrumb(view),
    heading: text.title,
    text: html`<ul class="prose-list">${Object.values(text.effects).map((effect) => html`<li>${effect}</li>`)}</ul>`,
    confirm: text.confirm,
    confirmId: "deletion-confirm",
    name: view.user.email,
  });
}

export function leavePage(view: DeletionView): Html {
  const text = view.messages.console.account.deletion;
  const { name } = view.organisation;
  return confirmActPage({
    ...view,
    breadcrumbs: breadcrumb(view),
    heading: text.leaveTitle({ organisation: name }),
    text: html`<p>${text.leaveText({ organisation: name })}</p>`,
    confirm: text.leaveConfirm,
    confirmId: "leave-confirm",
  });
}

/** Shown without a session. */
export function gonePage(view: PageFrame & { organisation: PageOrganisation; hasLeft: boolean }): Html {
  const text = view.messages.console.account.deletion;
  const title = view.hasLeft ? text.leftTitle({ organisation: view.organisation.name }) : text.goneTitle;
  return terminalPage({
    ...view,
    outcome: "success",
    id: "gone",
    title,
    text: html`<p>${view.hasLeft ? text.left : text.gone}</p>`,
    action: toAccount(view.organisation, view.messages.frame.signIn),
  });
}
