/** The policy of clients that nobody has registered by hand, and those that came by it. */
import { agentConstraints, policyModes } from "../../../core/client-metadata/client-policy.ts";
import type { DocumentClient } from "../../../core/client-metadata/document-clients.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { radioField, selectField, textArea } from "../../../html/components/fields.ts";
import { editedCard, fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { scopesField } from "../plain-records/fields.ts";

export interface ClientPolicyInput {
  readonly mode: string;
  /** One a line, as the resources. */
  readonly hosts: string;
  readonly allowedScopes: readonly string[];
  readonly allowedResources: string;
  readonly senderConstraint: string;
}

export type ClientPolicyView = FormView<ClientPolicyInput> & {
  readonly clients: readonly DocumentClient[];
  readonly scopes: readonly CustomScope[];
  readonly isSaved: boolean;
};

export function clientPolicyPage(view: ClientPolicyView): Html {
  const { clientPolicy: text, frame } = view.messages.console;
  const labels = labelsOf(view);
  return consoleLayout({
    ...view,
    title: frame.pages.clientPolicy,
    summary: text.summary({ organisation: view.organisation.name }),
    breadcrumbs: [],
    notice: formNotice({ ...view, labels }) ?? (view.isSaved ? toast(text.saved, view) : undefined),
    body: [
      editedCard({
        ...view,
        ...{ label: text.settings, id: "client-policy-form", fields: fields(view) },
        submit: { id: "client-policy-save", label: frame.form.save },
      }),
      clientsCard(view),
    ],
  });
}

function labelsOf({ messages }: Pick<ClientPolicyView, "messages">): Record<keyof ClientPolicyInput, string> {
  const { fields: text } = messages.console.clientPolicy;
  return {
    ...{ mode: text.mode.label, hosts: text.hosts.label, allowedScopes: text.allowedScopes.label },
    ...{ allowedResources: text.allowedResources.label, senderConstraint: text.senderConstraint.label },
  };
}

function fields(view: ClientPolicyView): Content {
  const { clientPolicy: text } = view.messages.console;
  const field = fieldsOf(view, labelsOf(view));
  return [
    radioField({
      ...field("mode"),
      choices: policyModes.map((value) => ({ value, label: text.modes[value], text: text.modeHints[value] })),
    }),
    textArea({
      ...{ ...field("hosts"), hint: text.fields.hosts.hint, rows: 3, isCode: true, isOptional: true },
    }),
    scopesField({
      ...{ ...field("allowedScopes"), hint: text.fields.allowedScopes.hint },
      ...{ scopes: view.scopes, standard: standardScopes },
    }),
    textArea({
      ...{ ...field("allowedResources"), hint: text.fields.allowedResources.hint },
      ...{ rows: 3, isCode: true, isOptional: true },
    }),
    selectField({
      ...{ ...field("senderConstraint"), hint: text.fields.senderConstraint.hint },
      choices: agentConstraints.map((value) => ({ value, label: text.constraints[value] })),
    }),
  ];
}

function clientsCard({ clients, messages }: ClientPolicyView): Html {
  const { clientPolicy: text } = messages.console;
  return card({
    ...{ id: "document-clients", title: text.clients, text: text.clientsText },
    body: table({
      label: text.clients,
      columns: [text.client, text.lastRead],
      rows: clients.map(({ id, name, updatedAt }, index) => ({
        id: `client-${index}`,
        cells: [
          nameCell({ name, note: html`<code>${id}</code>` }),
          relativeTime(updatedAt, messages.format.day),
        ],
      })),
      ...{ none: text.noClients, messages },
    }),
  });
}
