/** What of a journey is done, and what comes next, in a panel beside it. */
import { type Content, type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

export type ListedStep = { id: string; label: Content; isDone: boolean };

/** The first that is not done is the current one. */
export function stepList(steps: readonly ListedStep[], { console: { frame } }: Messages): Html {
  const current = steps.find(({ isDone }) => !isDone);
  return html`<ol class="findings step-list">${steps.map((step) =>
    step.isDone
      ? html`<li class="good" id="${step.id}">${step.label} <span class="visually-hidden">${frame.stepDone}</span></li>
`
      : html`<li class="quiet" id="${step.id}"${step === current && html` aria-current="step"`}>${step.label}</li>
`,
  )}</ol>
`;
}
