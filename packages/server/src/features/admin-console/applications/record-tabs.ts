/** The tabs of an application's page: their addresses, and the settings that each of them has for this application. */
import type { Application } from "../../../core/applications/application.ts";
import { certificateNames } from "../../../core/applications/certificate-names.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { controls, type SettingId } from "./setting-fields.ts";

export const tabIds = ["general", "urls", "credentials", "tokens", "access", "advanced"] as const;
export type TabId = (typeof tabIds)[number];

/** Below the application's own address: the first tab has that address. */
export const tabPath = (tab: TabId): "" | `/${TabId}` => (tab === "general" ? "" : `/${tab}`);

export type CardId = keyof Messages["console"]["applicationSettings"]["cards"];

type SettingCards = ReadonlyArray<readonly [CardId, readonly SettingId[]]>;

const cards: Readonly<Record<TabId, SettingCards>> = {
  general: [["general", ["name", "description", "homepageUri", "logoUri", "contacts"]]],
  urls: [
    ["addresses", ["redirectUris", "postLogoutRedirectUris"]],
    ["logout", ["backchannelLogoutUri"]],
    ["legacy", ["returnUrls"]],
  ],
  credentials: [["proof", ["tokenEndpointAuthMethod", "jwks", "jwksUri", ...certificateNames]]],
  tokens: [
    ["tokens", ["grantTypes", "audience", "allowedResources"]],
    [
      "lifetimes",
      [
        "accessTokenLifetimeSeconds",
        "refreshTokenLifetimeSeconds",
        "refreshTokenAbsoluteLifetimeSeconds",
        "refreshTokenGraceSeconds",
        "issueRefreshTokenWithoutOfflineAccess",
      ],
    ],
    ["groups", ["groupsClaim", "groupsClaimValue"]],
  ],
  access: [
    ["access", ["access", "requiredAcr"]],
    ["scopes", ["allowedScopes", "authorizationDetailsTypes"]],
    ["consent", ["consentMode"]],
    ["sharing", ["shared"]],
  ],
  advanced: [
    ["security", ["securityProfile", "requirePkce", "requireNonceWithoutPkce"]],
    [
      "requests",
      [
        "requirePushedAuthorizationRequests",
        "requireSignedRequestObject",
        "requestObjectSigningAlg",
        "authorizationSignedResponseAlg",
      ],
    ],
    [
      "senderConstraint",
      ["dpopBoundAccessTokens", "requireDpopNonce", "tlsClientCertificateBoundAccessTokens"],
    ],
    [
      "signatures",
      [
        "idTokenSignedResponseAlg",
        "accessTokenSignedResponseAlg",
        "accessTokenType",
        "introspectionSignedResponseAlg",
        "userinfoSignedResponseAlg",
        "idTokenEncryptedResponseAlg",
        "idTokenEncryptedResponseEnc",
        "idTokenIncludesScopeClaims",
        "signingPoolId",
      ],
    ],
    ["sessionKeys", ["allowPermanentKeys", "requireSignedKeyCalls"]],
  ],
};

type OfKind = Pick<Application, "clientType" | "settings">;

/** Public clients have no client authentication and must use PKCE (OAuth 2.1 §2.4). */
const forConfidential: ReadonlySet<SettingId> = new Set([
  "tokenEndpointAuthMethod",
  "jwks",
  "jwksUri",
  ...certificateNames,
  "securityProfile",
  "introspectionSignedResponseAlg",
  "requirePkce",
  "requireNonceWithoutPkce",
]);

const forBrowsers: ReadonlySet<SettingId> = new Set([
  "redirectUris",
  "postLogoutRedirectUris",
  "returnUrls",
  "requirePkce",
  "requireNonceWithoutPkce",
  "requirePushedAuthorizationRequests",
  "requireSignedRequestObject",
  "requestObjectSigningAlg",
  "authorizationSignedResponseAlg",
]);

const forUsers: ReadonlySet<SettingId> = new Set([
  "access",
  "requiredAcr",
  "consentMode",
  "backchannelLogoutUri",
  "idTokenSignedResponseAlg",
  "userinfoSignedResponseAlg",
  "idTokenEncryptedResponseAlg",
  "idTokenEncryptedResponseEnc",
  "authorizationDetailsTypes",
  "idTokenIncludesScopeClaims",
  "groupsClaim",
  "groupsClaimValue",
  "shared",
]);

const forSessionKeys: ReadonlySet<SettingId> = new Set(["allowPermanentKeys", "requireSignedKeyCalls"]);

/** Whether the application has a use for the setting: what its client type, or none of its grant types, needs stays out of sight. */
function isNeeded(id: SettingId, { clientType, settings }: OfKind): boolean {
  if (clientType !== "confidential" && forConfidential.has(id)) return false;
  const kind = kindOf({ clientType, settings });
  if (kind === "service" && (forBrowsers.has(id) || forUsers.has(id))) return isInUse(id, settings);
  if (kind === "device" && forBrowsers.has(id)) return isInUse(id, settings);
  if (forSessionKeys.has(id)) return settings.returnUrls.length > 0 || isInUse(id, settings);
  return true;
}

/** A list or an address that has been registered all the same is always shown: it can be used, so it can be removed. */
function isInUse(id: SettingId, settings: OfKind["settings"]): boolean {
  const value = (settings as Partial<Record<SettingId, unknown>>)[id];
  if (Array.isArray(value)) return value.length > 0;
  if (id === "shared") return value !== undefined;
  return forSessionKeys.has(id) ? value === true : controls[id].kind === "text" && value !== undefined;
}

/** The cards of a tab that have a field for this application, in the order of the page. */
export const tabCards = (tab: TabId, application: OfKind): SettingCards =>
  cards[tab]
    .map(([card, ids]) => [card, ids.filter((id) => isNeeded(id, application))] as const)
    .filter(([, ids]) => ids.length > 0);

export const tabFields = (tab: TabId, application: OfKind): SettingId[] =>
  tabCards(tab, application).flatMap(([, ids]) => ids);

/** The tab that has the setting, for links to it. */
export const tabOf = (id: SettingId): TabId =>
  tabIds.find((tab) => cards[tab].some(([, ids]) => ids.includes(id))) ?? "general";

/** The address of a setting, below the application's own. */
export const settingPath = (id: SettingId): string => `${tabPath(tabOf(id))}#${id}`;
