import { type HiddenField, hiddenFields } from "./components/form.ts";
import { notice } from "./components/notice.ts";
import { type Html, html, linkAddress } from "./html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "./layout.ts";

export type ConfirmView = PageFrame & {
  organisation: PageOrganisation;
  user: { email: string };
  csrf: string;
  action: string;
  heading: string;
  text: string;
  /** The id of the button is `change-confirm` by default. */
  confirm: string;
  confirmId?: string | undefined;
  cancel: string;
  backUri: string;
  /** Hidden fields. */
  fields?: readonly HiddenField[] | undefined;
  /** Further fields. */
  question?: Html | undefined;
  failure?: { title: string; text: string } | undefined;
};

/** A question before something ends. */
export function confirmPage(view: ConfirmView): Html {
  const { failure, organisation, messages } = view;
  return signInLayout({
    ...view,
    title: messages.frame.documentTitle({ title: view.heading, organisation: organisation.name }),
    body: html`<div class="title"><h1>${view.heading}</h1>
<p class="quiet"><bdi>${view.user.email}</bdi></p></div>
${failure && notice("error", "change-notice", failure.title, failure.text)}
<p>${view.text}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields([{ name: "csrf", value: view.csrf }, ...(view.fields ?? [])])}
${view.question}<div class="choices">
<button class="button primary" id="${view.confirmId ?? "change-confirm"}" type="submit">${view.confirm}</button>
<a class="button" id="change-cancel" href="${linkAddress(view.backUri)}">${view.cancel}</a>
</div>
</form>`,
  });
}
