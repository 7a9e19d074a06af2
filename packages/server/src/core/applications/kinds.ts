/**
 * Application kinds as users think of them, and their initial settings. The kind is not stored: `kindOf` derives it
 * from the settings.
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

/** Whether a new application gets a client secret; the legacy federation needs none. */
export const startsWithSecret = (kind: ApplicationKind): boolean => kind === "web" || kind === "service";

/** Whether browsers return to a URL of it. */
export const hasAddress = (kind: ApplicationKind): boolean =>
  kind === "web" || kind === "spa" || kind === "legacy";

/** Overrides of the client type's defaults. */
export function settingsOfKind(kind: ApplicationKind): Partial<ApplicationSettings> {
  switch (kind) {
    // Without users, the identity scopes have nothing to release.
    case "service":
      return { grantTypes: ["client_credentials"], allowedScopes: [] };
    case "device":
      return { grantTypes: [deviceCodeGrantType, "refresh_token"] };
    default:
      return {};
  }
}

/** The default `basePath` of the client SDK. */
const SDK_PATH = "/signet";

/**
 * Settings of an application that uses the client SDK with its defaults, or just its home URL.
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
    // Signet calls a developer's machine only where the operator allows it.
    ...(address.startsWith("https:")
      ? { backchannelLogoutUri: `${address}${SDK_PATH}/back-channel-logout` }
      : {}),
  };
}

/** @returns the origin of a URL; undefined when it is invalid or has a path */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  const isPlain = url.pathname === "/" && url.search === "" && url.hash === "" && !url.username;
  return isPlain ? url.origin : undefined;
}

/** The kind of a record; `public` for other public clients. */
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
