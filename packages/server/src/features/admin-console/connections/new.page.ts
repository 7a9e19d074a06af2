/** The pages of a new connection: the choice of what to connect, then the short form. */
import { presetDefaults } from "../../../core/connections/sign-in/presets.ts";
import { type Preset, presets } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { servedKinds } from "../../../core/domains/routed-sign-in.ts";
import { choiceCard, choiceList } from "../../../html/components/choice-card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { connectionPages, providerNames, standardNames } from "./connection-pages.ts";
import {
  clientFields,
  deletionPolicyField,
  fieldLabels,
  metadataFields,
  nameField,
} from "./settings.page.ts";
import type { ConnectionInput } from "./settings-input.ts";
import { samlSetupSteps, setupSteps } from "./setup-steps.ts";

/** A directory, any OpenID provider or SAML identity provider, or a known one. */
const served: readonly string[] = servedKinds;
/** A provider that nobody can sign in at yet is not offered. */
const offered = presets.filter((preset) => served.includes(presetDefaults[preset].kind));
export const connectionTypes = ["scim", "oidc", "saml", ...offered] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export const isConnectionType = (text: string | undefined): text is ConnectionType =>
  (connectionTypes as readonly (string | undefined)[]).includes(text);

/** @param purposes of a portal link */
export const isOfPurposes = (type: ConnectionType, purposes: readonly string[]): boolean =>
  purposes.includes(type === "scim" ? "scim" : "connections");

export const presetOf = (type: ConnectionType): Preset | null =>
  type === "scim" || type === "oidc" || type === "saml" ? null : type;

const titleOf = (type: ConnectionType, { console: { connections } }: Messages): string =>
  type === "scim" ? connections.types.scim : (standardNames[type] ?? providerNames[type] ?? type);

function textOf(type: ConnectionType, messages: Messages): string {
  const { choose } = messages.console.connections;
  if (type === "scim") return choose.scim;
  if (type === "saml") return choose.saml;
  return type === "oidc" ? choose.oidc : choose.provider({ name: titleOf(type, messages) });
}

const marks: Partial<Readonly<Record<ConnectionType, "users" | "passkey">>> = {
  ...{ scim: "users", oidc: "passkey", saml: "passkey" },
};

export function chooseTypePage(frame: ConsoleFrame): Html {
  const { choose, make } = frame.messages.console.connections;
  const { portal } = frame;
  const types = connectionTypes.filter((type) => !portal || isOfPurposes(type, portal.purposes));
  const cards = types.map((type) =>
    choiceCard({
      id: `type-${type}`,
      uri: frame.consoleUri(`/connections/new?type=${type}`),
      title: titleOf(type, frame.messages),
      text: textOf(type, frame.messages),
      mark: marks[type] ?? "connection",
    }),
  );
  return consoleLayout({
    ...frame,
    breadcrumbs: connectionPages.listCrumbs(frame),
    title: make,
    summary: choose.summary,
    body: choiceList(cards),
  });
}

export type ProviderAddresses =
  | { readonly redirectUri: string }
  | { readonly acsUri: string; readonly spEntityId: string };

/** Where a provider's issuer is found, which has the customer's own part in it. */
const issuers: Partial<Readonly<Record<ConnectionType, string>>> = {
  entra: "https://login.microsoftonline.com/<tenant ID>/v2.0",
  okta: "https://<name>.okta.com",
  keycloak: "https://<host>/realms/<realm>",
};

/** @param addresses of what is set up at a provider first */
export function newConnectionPage(
  view: FormView<ConnectionInput>,
  type: ConnectionType,
  addresses: ProviderAddresses | undefined,
): Html {
  const { messages } = view;
  const { connections: text } = messages.console;
  const preset = presetOf(type);
  const example = issuers[type];
  const issuerHint = example === undefined ? text.fields.issuer.hint : text.issuerLike({ value: example });
  const isIssuerKnown = preset !== null && presetDefaults[preset].issuer !== undefined;
  const enterprise = type === "github" ? { hint: text.enterpriseIssuer, isOptional: true } : undefined;
  return formPage({
    ...view,
    breadcrumbs: [
      ...connectionPages.listCrumbs(view),
      { label: text.make, uri: view.consoleUri("/connections/new") },
    ],
    title: titleOf(type, messages),
    summary: textOf(type, messages),
    cardLabel: titleOf(type, messages),
    id: "connection-form",
    labels: fieldLabels(messages),
    hidden: [
      { name: "type", value: type },
      { name: "id", value: view.input.id },
    ],
    above:
      addresses &&
      html`<h2>${text.setup.title}</h2>
${"redirectUri" in addresses ? setupSteps(preset, addresses.redirectUri, messages) : samlSetupSteps(addresses, messages)}${copyStatus}`,
    fields:
      type === "scim"
        ? [nameField(view, false), deletionPolicyField(view)]
        : type === "saml"
          ? [nameField(view, true), metadataFields(view)]
          : [
              nameField(view, true),
              clientFields(
                view,
                isIssuerKnown ? enterprise : { hint: issuerHint },
                text.fields.clientSecret.hint,
              ),
            ],
    submit: { id: "connection-create", label: text.create },
    cancelUri: view.consoleUri("/connections"),
  });
}

/** What the name is at first. */
export const suggestedName = (type: ConnectionType, messages: Messages): string =>
  presetOf(type) === null ? "" : titleOf(type, messages);
