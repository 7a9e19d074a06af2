/** What stands above every tab of a connection, and its first one. */
import { X509Certificate } from "node:crypto";
import { callbackUri, samlAddresses } from "../../../core/connections/connection-addresses.ts";
import type { ConnectionCall } from "../../../core/connections/connection-calls.store.ts";
import { openSecret, secretHint } from "../../../core/connections/sign-in/client-secret.ts";
import { effectiveMapping } from "../../../core/connections/sign-in/presets.ts";
import {
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import { clientOf, type SamlProvider } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { badge } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { endItems, type RecordParts } from "../../../page-kit/record-pages.ts";
import {
  type ConnectionsDeps,
  type ConnectionView,
  connectionStatus,
  SETTINGS,
  TOKENS,
  typeText,
} from "./connection-pages.ts";
import type { ConnectionUses } from "./connection-uses.store.ts";
import { setupSteps } from "./setup-steps.ts";
import { TEST } from "./test.page.ts";

type GeneralView = ConnectionView & {
  readonly uses: ConnectionUses;
  /** Of a provider. */
  readonly groupMapping: Content;
  /** Of a directory that has called. */
  readonly lastCall: ConnectionCall | undefined;
};

/** As the acts that end a record take it. */
export const ending = ({ record: { enabled, updatedAt }, uriOf }: ConnectionView) => ({
  record: { disabledAt: enabled ? null : updatedAt },
  uriOf,
});

export function aboveConnection(view: ConnectionView): RecordParts {
  const { record: connection, messages } = view;
  const { connections: text } = messages.console;
  return {
    head: {
      name: connection.name,
      mark: recordIcon("connection"),
      facts: [
        html`<span id="connection-state">${connectionStatus(connection, messages)}</span>`,
        typeText(connection, messages),
      ],
      id: { id: "connection-id", value: connection.id, label: text.id },
    },
    more: endItems(ending(view), { ...text.end, noun: "connection" }).filter(
      ({ id }) => !view.portal || id !== "more-connection-delete",
    ),
    done: text.done,
  };
}

export const connectionGeneral = (deps: ConnectionsDeps, view: GeneralView): Content =>
  isSignInConnection(view.record)
    ? [
        nextStep(view),
        anyProviderCard(deps, view, view.record),
        mappingCard(view, view.record),
        view.groupMapping,
      ]
    : [directoryCard(deps, view)];

function directoryCard({ baseUrl }: ConnectionsDeps, view: GeneralView): Html {
  const { record, uses, lastCall, messages, uriOf } = view;
  const { connections: text, frame } = messages.console;
  const { id, orgId, deletionPolicy, createdAt } = record;
  return card({
    id: "directory",
    title: text.directory.title,
    text: text.directory.text,
    actions: buttonLink({ id: "to-tokens", uri: uriOf(TOKENS), label: text.directory.tokens }),
    body: facts([
      {
        label: text.directory.url,
        content: copyField({
          ...frame.secret,
          id: "scim-url",
          value: `${baseUrl}/scim/v2/${orgId}/${id}`,
          label: text.directory.url,
        }),
      },
      { label: text.deletionPolicy.label, content: text.deletionPolicy[deletionPolicy] },
      {
        label: text.directory.provisioned,
        content: `${text.users({ count: uses.users })}, ${text.groups({ count: uses.groups })}`,
        id: "provisioned",
      },
      {
        label: text.directory.lastCall,
        content: lastCall
          ? html`${relativeTime(lastCall.at, messages.format.minute)} <a href="${linkAddress(uriOf("/calls"))}">${badge(lastCall.status < 400 ? "good" : "bad", String(lastCall.status))}</a>`
          : text.calls.none,
        id: "last-call",
      },
      { label: text.columns.created, content: relativeTime(createdAt, messages.format.day) },
    ]),
  });
}

/** Of one that nobody signs in with yet: what is left to do at the provider. */
const nextStep = ({ record, messages, uriOf }: GeneralView): Content =>
  !record.enabled &&
  banner(
    "hint",
    "connection-next",
    messages.console.connections.provider.next,
    record.kind === "saml"
      ? messages.console.connections.saml.nextText
      : messages.console.connections.provider.nextText,
    buttonLink({
      id: "to-enable",
      uri: uriOf("/enable"),
      label: messages.console.connections.end.enable,
      isQuestion: true,
    }),
  );

const anyProviderCard = (deps: ConnectionsDeps, view: GeneralView, connection: SignInConnection): Html =>
  connection.settings.saml
    ? samlCard(deps, view, { connection, saml: connection.settings.saml })
    : providerCard(deps, view, connection);

function samlCard(
  { baseUrl }: ConnectionsDeps,
  { uses, messages, uriOf }: GeneralView,
  { connection, saml }: { readonly connection: SignInConnection; readonly saml: SamlProvider },
): Html {
  const { connections: text, frame } = messages.console;
  const { settings, createdAt } = connection;
  const { acsUri, spEntityId, sloUri } = samlAddresses(baseUrl, connection);
  const code = (value: string) => html`<code>${value}</code>`;
  const copied = (id: string, value: string, label: string) => ({
    label,
    content: copyField({ ...frame.secret, id, value, label }),
  });
  return card({
    id: "provider",
    title: text.provider.title,
    text: text.saml.text,
    actions: providerActions(uriOf, text),
    body: facts([
      copied("acs-uri", acsUri, text.saml.acsUri),
      copied("sp-entity-id", spEntityId, text.saml.spEntityId),
      ...(settings.upstreamLogout ? [copied("slo-uri", sloUri, text.saml.sloUri)] : []),
      { label: text.fields.entityId.label, content: code(saml.entityId) },
      { label: text.fields.ssoUrl.label, content: code(saml.ssoUrl) },
      ...(saml.sloUrl === null ? [] : [{ label: text.fields.sloUrl.label, content: code(saml.sloUrl) }]),
      ...(saml.metadataUrl === null
        ? []
        : [{ label: text.fields.metadataUrl.label, content: code(saml.metadataUrl) }]),
      { label: text.fields.certificates.label, content: validities(saml, messages) },
      { label: text.fields.linking.label, content: text.linking[settings.linking] },
      { label: text.fields.emailTrust.label, content: text.emailTrust[settings.emailTrust] },
      { label: text.provider.linked, content: text.users({ count: uses.identities }), id: "linked" },
      { label: text.columns.created, content: relativeTime(createdAt, messages.format.day) },
    ]),
  });
}

/** By the end of its validity an administrator knows which certificate it is. */
const validities = ({ certificates }: SamlProvider, { console: { connections } }: Messages): string =>
  certificates
    .map((pem) => connections.saml.until({ at: new X509Certificate(pem).validToDate.getTime() }))
    .join(", ");

function providerCard(
  { baseUrl, encryption }: ConnectionsDeps,
  { uses, messages, uriOf }: GeneralView,
  connection: SignInConnection,
): Html {
  const { connections: text, frame } = messages.console;
  const { settings, createdAt } = connection;
  const redirectUri = callbackUri(baseUrl, connection);
  const { issuer, clientId, tokenEndpointAuthMethod: method, scopes } = clientOf(settings);
  const secret = openSecret(encryption, connection);
  const code = (value: string) => html`<code>${value}</code>`;
  return card({
    id: "provider",
    title: text.provider.title,
    text: text.provider.text,
    actions: providerActions(uriOf, text),
    body: [
      // Until it is enabled something may be left to do there.
      !connection.enabled && setupSteps(settings.preset, redirectUri, messages),
      facts([
        ...(connection.enabled
          ? [
              {
                label: text.provider.redirectUri,
                content: copyField({
                  ...frame.secret,
                  ...{ id: "redirect-uri", value: redirectUri, label: text.provider.redirectUri },
                }),
              },
            ]
          : []),
        { label: text.fields.issuer.label, content: code(issuer) },
        { label: text.fields.clientId.label, content: code(clientId) },
        {
          label: text.fields.clientSecret.label,
          content: secret === undefined ? text.provider.noSecret : code(secretHint(secret)),
        },
        { label: text.fields.tokenEndpointAuthMethod.label, content: methodText(method, messages) },
        { label: text.fields.scopes.label, content: code(scopes.join(" ")) },
        { label: text.fields.linking.label, content: text.linking[settings.linking] },
        { label: text.fields.emailTrust.label, content: text.emailTrust[settings.emailTrust] },
        { label: text.provider.linked, content: text.users({ count: uses.identities }), id: "linked" },
        { label: text.columns.created, content: relativeTime(createdAt, messages.format.day) },
      ]),
    ],
  });
}

const providerActions = (uriOf: GeneralView["uriOf"], text: Messages["console"]["connections"]): Html =>
  html`<div class="actions">${buttonLink({ id: "to-test", uri: uriOf(TEST), label: text.test.button })}${buttonLink({ id: "to-settings", uri: uriOf(SETTINGS), label: text.provider.edit })}</div>`;

export function methodText(method: string, { console: { applicationSettings } }: Messages): string {
  const labels: Readonly<Record<string, string>> = applicationSettings.choices;
  return labels[method] ?? method;
}

function mappingCard({ messages }: ConnectionView, { settings }: SignInConnection): Html {
  const { mapping: text } = messages.console.connections;
  const rows = Object.entries(effectiveMapping(settings)).map(([member, expression]) => ({
    cells: [
      html`<code>${member}</code>`,
      html`<code>${typeof expression === "string" ? expression : expression.join(", ")}</code>`,
    ],
  }));
  return card({
    id: "mapping-card",
    title: text.title,
    text: text.text,
    body: table({ label: text.title, columns: [text.member, text.claim], rows, messages }),
  });
}
