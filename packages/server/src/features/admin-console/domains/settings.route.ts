/** domains/{id}/settings: where the users of a domain sign in. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { type Domain, InvalidDomain } from "../../../core/domains/domain.ts";
import { lockDomain } from "../../../core/domains/domains.store.ts";
import { changeDomain } from "../../../core/domains/domains.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { checkField, selectField } from "../../../html/components/fields.ts";
import { editedCard, fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { showFormInTab } from "../../../page-kit/record-tabs.ts";
import { beyondLink, requireRouteByLink } from "../connections/portal-authority.ts";
import {
  type DomainsDeps,
  type DomainView,
  domainFaults,
  domainPages,
  providerChoices,
  providersOf,
} from "./domain-pages.ts";
import { domainRecord } from "./domain-record.ts";

export const domainSettingsRoute = (app: FastifyInstance, deps: DomainsDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/domains/:id/settings", settingsForm(deps));

interface Route {
  /** Empty: none. */
  readonly connectionId: string;
  readonly enforced: boolean;
}

const settingsForm = (deps: DomainsDeps): EditForm<DomainsDeps, Domain, Route, Route> => ({
  current: "domains",
  readOnlyAllowed: true,
  load: domainPages.require,
  lock: lockDomain,
  version: ({ version }) => version,
  toInput: ({ connectionId, enforced }) => ({ connectionId: connectionId ?? "", enforced }),
  // Whoever has opened a portal link is asked nothing about enforcing.
  readInput: ({ values }, { record, signedIn }) => ({
    connectionId: values.get("connectionId") ?? "",
    enforced: signedIn.portal ? record.enforced : values.get("enforced") === "on",
  }),
  toDisplay: ({ connectionId, enforced }, { messages: { console } }) => ({
    connectionId: connectionId === "" ? console.domains.noConnection : connectionId,
    enforced: enforced ? console.frame.yes : console.frame.no,
  }),
  page: async (form, { record, ...editing }) => {
    const providers = await providersOf(deps, record.orgId);
    return showFormInTab(deps, domainRecord, "settings", form, {
      ...{ ...editing, record, labels: labelsOf(editing.messages) },
      content: (view) => [
        routeForm(form, providerChoices(providers, form.messages), view.portal !== undefined),
        !view.portal && endCard(view),
      ],
    });
  },
  validate: (input, { messages }) =>
    input.connectionId === "" || isUuid(input.connectionId)
      ? { content: input }
      : { faults: { connectionId: messages.console.domains.faults.connection } },
  save: async (inside, { connectionId: id, enforced }, { visit, signedIn, acting, record }) => {
    const connectionId = id === "" ? null : id.toLowerCase();
    if (connectionId !== record.connectionId) await requireRouteByLink(inside, signedIn, connectionId);
    await changeDomain(inside, { ...acting, id: record.id, change: { connectionId, enforced } });
    return domainPages.path(visit.organisation, record.id, "?done=saved");
  },
  explain: (error, { messages }) =>
    beyondLink(error, messages) ??
    (error instanceof InvalidDomain ? { faults: domainFaults(error, messages) } : undefined),
});

const labelsOf = ({ console: { domains } }: Messages) => ({
  connectionId: domains.fields.connectionId.label,
  enforced: domains.fields.enforced.label,
});

function routeForm(
  form: FormView<Route>,
  choices: Parameters<typeof selectField>[0]["choices"],
  isPortal: boolean,
): Content {
  const { domains: text, frame } = form.messages.console;
  const field = fieldsOf(form, labelsOf(form.messages));
  const { value: isChecked, ...enforced } = field("enforced");
  return editedCard({
    ...form,
    ...{ label: text.settingsLabel, id: "domain-form" },
    fields: [
      selectField({ ...field("connectionId"), hint: text.fields.connectionId.hint, choices }),
      !isPortal && checkField({ ...enforced, hint: text.fields.enforced.hint, isChecked }),
    ],
    submit: { id: "domain-save", label: frame.form.save },
  });
}

const endCard = ({ messages, uriOf }: DomainView): Content => {
  const { delete: text } = messages.console.domains;
  return card({
    ...{ id: "domain-end", title: text.confirm, text: text.text, isDangerous: true },
    body: html`<div class="actions">${buttonLink({
      ...{ id: "domain-delete", uri: uriOf("/delete"), label: text.button },
      ...{ kind: "danger", isQuestion: true },
    })}</div>
`,
  });
};
