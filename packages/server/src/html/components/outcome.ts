/** The last page of a journey: what happened, one primary button, and whom to ask for help. */
import { type Content, contactAddress, type Html, html, linkAddress } from "../html.ts";
import type { PageOrganisation } from "../layout.ts";
import type { Messages } from "../messages/messages.ts";

export interface OutcomeView {
  readonly messages: Messages;
  readonly organisation?: PageOrganisation | undefined;
  readonly heading: string;
  readonly headingId?: string;
  readonly text: Content;
  /** By default the user's account, whose page asks for a sign-in where there is none. */
  readonly action?: OutcomeAction | undefined;
}

export interface OutcomeAction {
  readonly id: string;
  readonly label: string;
  readonly uri: string | undefined;
}

export function outcome(view: OutcomeView): Html {
  const { heading, headingId, text, organisation, messages } = view;
  const action = view.action ?? toAccount(organisation, messages.frame.toAccount);
  const uri = linkAddress(action.uri);
  return html`<div class="outcome"><h1${headingId !== undefined && html` id="${headingId}"`}>${heading}</h1>
${text}
${uri !== undefined && html`<a class="button primary" id="${action.id}" href="${uri}">${action.label}</a>`}
${helpLine(organisation, messages)}</div>`;
}

/** Of an organisation that is named; without one there is no button. */
export const toAccount = (organisation: PageOrganisation | undefined, label: string): OutcomeAction => ({
  id: "to-account",
  label,
  uri: organisation?.accountUri,
});

function helpLine(organisation: PageOrganisation | undefined, { frame }: Messages): Html | undefined {
  const uri = contactAddress(organisation?.links?.help);
  if (uri === undefined) return undefined;
  const contact = uri.startsWith("mailto:") ? uri.slice("mailto:".length) : URL.parse(uri)?.host;
  return html`<p class="after quiet" id="help-contact">${frame.needHelp} <a href="${uri}" target="_blank" rel="noopener noreferrer"><bdi>${contact}</bdi></a></p>`;
}
