/** The last refused requests of an application: when, which, why, and what helps, with the way to the setting. */
import type { Application } from "../../../core/applications/application.ts";
import type { RefusalReason, RefusedRequest } from "../../../core/refused-requests/refused-request.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { settingPath } from "./record-tabs.ts";
import type { SettingId } from "./setting-fields.ts";

/** Where the remedy is, unless it is in the application's own code: a setting, or a part of the application's page. */
type Place = { readonly setting: SettingId } | { readonly secrets: true } | { readonly users: true };

const places: Partial<Readonly<Record<RefusedRequest["reason"], Place>>> = {
  "redirect-uri-unregistered": { setting: "redirectUris" },
  "return-url-unregistered": { setting: "returnUrls" },
  "post-logout-redirect-uri-unregistered": { setting: "postLogoutRedirectUris" },
  "pkce-required": { setting: "requirePkce" },
  "nonce-required": { setting: "requireNonceWithoutPkce" },
  "grant-not-allowed": { setting: "grantTypes" },
  "scope-not-allowed": { setting: "allowedScopes" },
  "resource-not-allowed": { setting: "allowedResources" },
  "secret-wrong": { secrets: true },
  "authentication-method": { setting: "tokenEndpointAuthMethod" },
  "assertion-invalid": { setting: "jwks" },
  "certificate-invalid": { setting: "tokenEndpointAuthMethod" },
  "attestation-invalid": { setting: "tokenEndpointAuthMethod" },
  "user-not-assigned": { users: true },
} satisfies Partial<Record<RefusalReason, Place>>;

export type RefusedView = RecordView<Application> & { readonly refused: readonly RefusedRequest[] };

export function refusedCard(view: RefusedView): Html {
  const { messages } = view;
  const { refused: text } = messages.console.applications;
  const rows = view.refused.map((request, index) => ({
    id: `refused-${index}`,
    cells: [
      relativeTime(request.at, messages.format.minute),
      html`<code>${request.endpoint}</code>`,
      html`<code>${request.error}</code><span class="quiet item-note" lang="en">${request.description}</span>`,
      html`${text.remedies[request.reason]} ${settingLink(view, request)}`,
    ],
  }));
  const columns = [text.when, text.endpoint, text.reason, text.remedy];
  return card({
    id: "refused",
    title: text.title,
    text: text.text,
    body: table({ label: text.title, columns, rows, none: text.none, messages }),
  });
}

function settingLink(view: RefusedView, { reason }: RefusedRequest): Content {
  const place = places[reason];
  if (place === undefined) return undefined;
  const { messages, uriOf } = view;
  const { applications, applicationSettings } = messages.console;
  if ("setting" in place)
    return link(uriOf(settingPath(place.setting)), applicationSettings.fields[place.setting].label);
  return "secrets" in place
    ? link(uriOf("/secrets/new"), applications.secrets.add)
    : link(uriOf("/users"), applications.access.users);
}

const link = (uri: string, label: string): Html => html`<a href="${linkAddress(uri)}">${label}</a>`;
