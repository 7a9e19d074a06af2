/** The data page: export, and deleting the account or leaving the organisation. */

import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { type FormFailure, failureNotice } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type YourDataView = ConsoleFrame & {
  csrf: string;
  exportAction: string;
  /** Undefined if users may not delete their account. */
  deletionUri: string | undefined;
  leaveUri: string | undefined;
  failure?: FormFailure | undefined;
};

export function dataPage(view: YourDataView): Html {
  const text = view.messages.console.account.data;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary({ organisation: view.organisation.name }),
    notice: failureNotice(view.failure, view.messages),
    body: html`<div class="cards">
${card({
  id: "export",
  title: text.export,
  text: text.exportText,
  body: html`<form method="post" action="${linkAddress(view.exportAction)}">
${hiddenFields([{ name: "csrf", value: view.csrf }])}<div class="actions"><button class="button" id="data-export" type="submit">${text.exportAct}</button></div>
</form>
`,
})}${view.leaveUri === undefined ? removal(view) : leaving(view, view.leaveUri)}</div>
`,
  });
}

function removal({ deletionUri, messages, organisation }: YourDataView): Html {
  const text = messages.console.account.data;
  return card({
    id: "removal",
    title: text.remove,
    text:
      deletionUri === undefined ? text.removeForbidden({ organisation: organisation.name }) : text.removeText,
    isDangerous: deletionUri !== undefined,
    body:
      deletionUri !== undefined &&
      html`<div class="actions">${buttonLink({ id: "account-delete", uri: deletionUri, label: text.removeAct, kind: "danger", isQuestion: true })}</div>
`,
  });
}

function leaving({ messages, organisation }: YourDataView, uri: string): Html {
  const text = messages.console.account.data;
  return card({
    id: "leaving",
    title: text.leave({ organisation: organisation.name }),
    text: text.leaveText({ organisation: organisation.name }),
    isDangerous: true,
    body: html`<div class="actions">${buttonLink({ id: "organisation-leave", uri, label: text.leaveAct, kind: "danger", isQuestion: true })}</div>
`,
  });
}
