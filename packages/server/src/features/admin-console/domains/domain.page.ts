/** What stands above every tab of a domain, and its first one: the record that proves it. */
import { proofRecord } from "../../../core/domains/domain.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { RecordParts } from "../../../page-kit/record-pages.ts";
import { type DomainView, domainStatus } from "./domain-pages.ts";

export function aboveDomain({ record, messages, uriOf, portal }: DomainView): RecordParts {
  const { domains: text } = messages.console;
  return {
    head: {
      name: record.domain,
      mark: recordIcon("domain"),
      facts: [html`<span id="domain-state">${domainStatus(record, messages)}</span>`],
      id: { id: "domain-id", value: record.id, label: text.id },
    },
    more: portal
      ? []
      : [
          {
            ...{ id: "more-domain-delete", uri: uriOf("/delete"), label: text.delete.button },
            ...{ isQuestion: true, isDangerous: true },
          },
        ],
    done: text.done,
  };
}

export const domainGeneral = (view: DomainView): Content => [
  lastLook(view),
  proofCard(view),
  routeCard(view),
];

function lastLook({ record: { lastError }, messages }: DomainView): Content {
  const { domains: text } = messages.console;
  return lastError !== null && banner("warning", "domain-error", text.done.notProven, text.errors[lastError]);
}

function proofCard({ record, messages, uriOf }: DomainView): Html {
  const { domains, frame } = messages.console;
  const { type, name, value } = proofRecord(record);
  const copied = (id: string, label: string, text: string) => ({
    label,
    content: copyField({ ...frame.secret, id, value: text, label }),
  });
  return card({
    ...{ id: "proof", title: domains.proof.title, text: domains.proof.text },
    actions: buttonLink({
      ...{ id: "domain-verify", uri: uriOf("/verify"), label: domains.proof.lookUp, isQuestion: true },
      ...(record.state !== "proven" && { kind: "primary" as const }),
    }),
    body: facts([
      { label: domains.proof.type, content: html`<code>${type}</code>` },
      copied("proof-name", domains.proof.name, name),
      copied("proof-value", domains.proof.value, value),
    ]),
  });
}

function routeCard({ record, connection, messages, uriOf }: DomainView): Html {
  const { domains: text, connections, frame } = messages.console;
  return card({
    ...{ id: "route", title: text.settingsLabel },
    actions: buttonLink({ id: "to-settings", uri: uriOf("/settings"), label: connections.provider.edit }),
    body: facts([
      {
        ...{ label: text.fields.connectionId.label, id: "domain-connection" },
        content: connection ? html`<bdi>${connection.name}</bdi>` : text.noConnection,
      },
      { label: text.fields.enforced.label, content: record.enforced ? frame.yes : frame.no },
      { label: text.columns.created, content: relativeTime(record.createdAt, messages.format.day) },
    ]),
  });
}
