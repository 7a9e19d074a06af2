/** Where the pages of connections are, and what they need. */
import type { Connection } from "../../../core/connections/connection.ts";
import { findConnection } from "../../../core/connections/connections.store.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Outbound } from "../../../core/outbound/outbound.ts";
import type { RecordDeps } from "../../../core/record-changes.ts";
import { badge } from "../../../html/components/badge.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordView, recordPages } from "../../../page-kit/record-pages.ts";

export interface ConnectionsDeps extends ConsoleDeps, RecordDeps {
  /** Seals the client secrets. */
  readonly encryption: Encryption;
  /** Fetches the metadata of SAML providers. */
  readonly outbound: Outbound;
}

export const connectionPages = recordPages<Connection>(
  "connections",
  "/connections",
  (db, orgId, id) => findConnection(db, { orgId, id }),
  ({ name }) => name,
);

export type ConnectionView = RecordView<Connection>;

/** Where the tab of a directory's tokens is, below a connection's own address. */
export const TOKENS = "/tokens";
export const SETTINGS = "/settings";

export const isDirectory = ({ kind }: Pick<Connection, "kind">): boolean => kind === "scim";

/** Each with its name; a kind that has none yet is called what it is. */
export function typeText({ kind, settings }: Connection, { console: { connections } }: Messages): string {
  if (kind === "scim") return connections.types.scim;
  const provider = settings?.preset ? providerNames[settings.preset] : undefined;
  return provider ?? standardNames[kind] ?? kind;
}

/** Called so in every language. */
export const standardNames: Readonly<Record<string, string>> = {
  oidc: "OpenID Connect",
  oauth: "OAuth 2.0",
  saml: "SAML 2.0",
};

/** As they call themselves, in every language. */
export const providerNames: Readonly<Record<string, string>> = {
  entra: "Microsoft Entra ID",
  google: "Google",
  okta: "Okta",
  apple: "Apple",
  github: "GitHub",
  keycloak: "Keycloak",
};

export function connectionStatus({ enabled }: Connection, { console: { connections } }: Messages): Html {
  const { states } = connections;
  return enabled ? badge("good", states.enabled) : badge("bad", states.disabled);
}
