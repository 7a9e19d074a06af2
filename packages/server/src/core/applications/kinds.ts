/**
 * The kinds of application that people think in, and what each of them starts with. A kind is not kept: a record is what
 * its settings say, and `kindOf` finds the word for it.
 */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { type Application, type ApplicationSettings, deviceCodeGrantType } from "./application.ts";

export const applicationKinds = ["web", "spa", "native", "service", "device", "legacy"] as const;
export type ApplicationKind = (typeof applicationKinds)[number];

export const isApplicationKind = (text: string | undefined): text is ApplicationKind =>
  applicationKinds.some((kind) => kind === text);

export const clientTypeOf: Readonly<Record<ApplicationKind, ClientType>> = {
  web: "confidential",
  spa: "spa",
  native: "native",
  service: "confidential",
  device: "native",
  legacy: "confidential",
};

/** Whether a new one gets a client secret. The legacy federation asks for none. */
export const startsWithSecret = (kind: ApplicationKind): boolean => kind === "web" || kind === "service";

/** Whether it has an address that browsers come back to. */
export const hasAddress = (kind: ApplicationKind): boolean =>
  kind === "web" || kind === "spa" || kind === "legacy";

/** What differs from the client type's defaults. */
export function settingsOfKind(kind: ApplicationKind): Partial<ApplicationSettings> {
  switch (kind) {
    // Without users there is nothing that the identity scopes could tell.
    case "service":
      return { grantTypes: ["client_credentials"], allowedScopes: [] };
    case "device":
      return { grantTypes: [deviceCodeGrantType, "refresh_token"] };
    default:
      return {};
  }
}

/** Where the client SDK answers, below the application's address (its `basePath`). */
const SDK_PATH = "/signet";

/**
 * For an application that the client SDK protects with its defaults, or one that goes by its own address alone.
 * @param address an origin, see `addressOf`
 */
export function settingsAt(kind: ApplicationKind, address: string): Partial<ApplicationSettings> {
  const home = `${address}/`;
  const own = { ...settingsOfKind(kind), homepageUri: home };
  if (kind === "legacy") return { ...own, returnUrls: [home] };
  if (kind === "spa") return { ...own, redirectUris: [home], postLogoutRedirectUris: [home] };
  if (kind !== "web") return settingsOfKind(kind);
  return {
    ...own,
    redirectUris: [`${address}${SDK_PATH}/callback`],
    postLogoutRedirectUris: [home],
    // A developer's own machine is called only where the operator allows it.
    ...(address.startsWith("https:")
      ? { backchannelLogoutUri: `${address}${SDK_PATH}/back-channel-logout` }
      : {}),
  };
}

/** @returns the origin of a typed address; undefined when it is none, or has a path */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  const isPlain = url.pathname === "/" && url.search === "" && url.hash === "" && !url.username;
  return isPlain ? url.origin : undefined;
}

/** The word for what a record is; `public` for a public client that is none of them. */
export function kindOf({
  clientType,
  settings,
}: Pick<Application, "clientType" | "settings">): ApplicationKind | "public" {
  const { grantTypes, redirectUris, returnUrls } = settings;
  if (grantTypes.length > 0 && grantTypes.every((grant) => grant === "client_credentials")) return "service";
  if (grantTypes.includes(deviceCodeGrantType) && !grantTypes.includes("authorization_code")) return "device";
  if (returnUrls.length > 0 && redirectUris.length === 0) return "legacy";
  return clientType === "confidential" ? "web" : clientType;
}
