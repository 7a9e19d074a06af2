/** Where a journey ends: what came of it, one button, and whom to ask. */
import { type Content, contactAddress, type Html, html, linkAddress } from "../html.ts";
import { type LayoutView, type PageOrganisation, signInLayout } from "../layout.ts";
import { type IconName, icon } from "./icons.ts";

export type Outcome = "success" | "failure" | "info";

export type TerminalAction = { id: string; label: string; uri: string | undefined };

const ICONS: Readonly<Record<Outcome, IconName>> = { success: "success", failure: "failure", info: "info" };

export function terminalPage(
  view: Omit<LayoutView, "body"> & {
    outcome: Outcome;
    /** Of the heading. */
    id?: string;
    text?: Content;
    /** By default the user's account, whose page asks for a sign-in where there is none. */
    action?: TerminalAction | undefined;
    /** Below the button: a reference, whom to ask. */
    more?: Content;
  },
): Html {
  const { outcome, title, text, more, id, organisation, messages } = view;
  const action = view.action ?? toAccount(organisation, messages.frame.toAccount);
  const uri = linkAddress(action.uri);
  return signInLayout({
    ...view,
    body: html`<div class="outcome ${outcome}">${icon(ICONS[outcome])}
<h1${id !== undefined && html` id="${id}"`}>${title}</h1>
${typeof text === "string" ? html`<p class="quiet">${text}</p>` : text}</div>
${uri !== undefined && html`<a class="button primary" id="${action.id}" href="${uri}">${action.label}</a>`}
${helpLine(view)}${more}`,
  });
}

/** Without an organisation there is no account, and no button. */
export const toAccount = (organisation: PageOrganisation | undefined, label: string): TerminalAction => ({
  id: "to-account",
  label,
  uri: organisation?.accountUri,
});

function helpLine({ organisation, messages: { frame } }: Omit<LayoutView, "body">): Content {
  const uri = contactAddress(organisation?.links?.help);
  if (uri === undefined) return undefined;
  const contact = uri.startsWith("mailto:") ? uri.slice("mailto:".length) : URL.parse(uri)?.host;
  return html`<p class="after quiet" id="help-contact">${frame.needHelp} <a href="${uri}" target="_blank" rel="noopener noreferrer"><bdi>${contact}</bdi></a></p>
`;
}
