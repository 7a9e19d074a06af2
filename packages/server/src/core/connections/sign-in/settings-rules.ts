/** Makes the settings of a connection for signing in of what is asked for, and says what is wrong with it. */
import { acrValues } from "../../sessions/session.ts";
import { groupMappingFaults, pointer } from "./group-mapping.ts";
import { expressionFault } from "./mapping.ts";
import { defaultAuthMethod, defaultScopes, presetDefaults } from "./presets.ts";
import { samlFaults, samlPresetFaults, samlProvider } from "./saml-rules.ts";
import { isAddress, isPlain } from "./setting-values.ts";
import {
  type AssuranceRule,
  type GroupMapping,
  type Mapping,
  mappedMembers,
  type OidcSettings,
  type Preset,
  type SamlProvider,
  type SettingsFault,
  type SignInKind,
  type SignInSettings,
  type UpstreamClient,
} from "./sign-in-settings.ts";

/** As it is asked for: everything else has a default. */
export type AskedSettings = Partial<Omit<OidcSettings, "oidc" | "saml">> & {
  readonly oidc?: Partial<UpstreamClient> | undefined;
  readonly saml?: Partial<SamlProvider> | undefined;
};

const MAX_RULES = 20;
const MAX_MAPPED = 50;
const MAX_SCOPES = 20;
const raised: readonly string[] = [acrValues.multiFactor, acrValues.phishingResistant];

export function signInSettings(
  kind: SignInKind,
  asked: AskedSettings,
  hasSecret: boolean,
): { readonly settings: SignInSettings; readonly faults: readonly SettingsFault[] } {
  const { preset = null, mapping = {}, assurance = [] } = asked;
  const shared = {
    preset,
    shown: asked.shown ?? true,
    mapping,
    groups: withPlainIds(asked.groups ?? null),
    createAccounts: asked.createAccounts ?? true,
    linking: asked.linking ?? ("ask" as const),
    emailTrust: asked.emailTrust ?? ("provenDomains" as const),
    assurance,
    upstreamLogout: asked.upstreamLogout ?? true,
  };
  const sharedFaults = [
    ...mappingFaults(mapping),
    ...groupMappingFaults(shared.groups),
    ...assuranceFaults(assurance),
  ];
  if (kind === "saml") {
    const saml = samlProvider(asked.saml);
    const faults = [...samlPresetFaults(preset), ...samlFaults(saml), ...sharedFaults];
    return { settings: { ...shared, saml }, faults };
  }
  const oidc = upstreamClient(kind, preset, asked.oidc);
  const faults = [
    ...presetFaults(kind, preset, oidc),
    ...clientFaults(kind, oidc, hasSecret),
    ...sharedFaults,
  ];
  return { settings: { ...shared, oidc }, faults };
}

/** As ids are compared. */
function withPlainIds(groups: GroupMapping | null): GroupMapping | null {
  if (typeof groups?.map !== "object" || groups.map === null) return groups;
  const entries = Object.entries(groups.map).map(([value, id]) => [
    value,
    typeof id === "string" ? id.toLowerCase() : id,
  ]);
  return { ...groups, map: Object.fromEntries(entries) };
}

function upstreamClient(
  kind: SignInKind,
  preset: Preset | null,
  asked: Partial<UpstreamClient> = {},
): UpstreamClient {
  const known = preset === null ? undefined : presetDefaults[preset];
  const scopes = asked.scopes ?? known?.scopes ?? defaultScopes;
  return {
    issuer: asked.issuer ?? known?.issuer ?? "",
    clientId: asked.clientId ?? "",
    tokenEndpointAuthMethod:
      asked.tokenEndpointAuthMethod ?? known?.tokenEndpointAuthMethod ?? defaultAuthMethod,
    // OpenID Connect Core §3.1.2.1: without it the answer has no ID token.
    scopes: kind === "oidc" && !scopes.includes("openid") ? ["openid", ...scopes] : scopes,
  };
}

function presetFaults(kind: SignInKind, preset: Preset | null, { issuer }: UpstreamClient): SettingsFault[] {
  const known = preset === null ? undefined : presetDefaults[preset];
  // OAuth 2.0 alone says nothing about who signed in: each provider needs code of its own.
  if (kind === "oauth" && preset !== "github") return [{ path: "/preset", message: "of oauth is github" }];
  if (known && known.kind !== kind) return [{ path: "/preset", message: `is of the kind ${known.kind}` }];
  // A GitHub Enterprise host is an origin of its own, from which all addresses follow.
  if (preset === "github")
    return URL.parse(issuer)?.origin === issuer
      ? []
      : [{ path: "/oidc/issuer", message: "is the origin of a GitHub host" }];
  const isFixed = known?.issuer !== undefined && issuer !== known.issuer;
  return isFixed ? [{ path: "/oidc/issuer", message: `of this preset is ${known.issuer}` }] : [];
}

function clientFaults(kind: SignInKind, client: UpstreamClient, hasSecret: boolean): SettingsFault[] {
  const faults: SettingsFault[] = [];
  const { issuer, clientId, tokenEndpointAuthMethod, scopes } = client;
  if (!isIssuer(issuer))
    faults.push({
      path: "/oidc/issuer",
      message: "is an https URL without credentials, query and fragment; http for loopback only",
    });
  if (!isPlain(clientId, 255)) faults.push({ path: "/oidc/clientId", message: "has 1 to 255 characters" });
  if (kind === "oauth" && tokenEndpointAuthMethod === "none")
    faults.push({ path: "/oidc/tokenEndpointAuthMethod", message: "of oauth needs the secret" });
  else if (tokenEndpointAuthMethod !== "none" && !hasSecret)
    faults.push({ path: "/oidc/clientSecret", message: "is required" });
  else if (tokenEndpointAuthMethod === "none" && hasSecret)
    faults.push({ path: "/oidc/clientSecret", message: "is for none no method of the token endpoint" });
  // RFC 6749 §3.3.
  if (scopes.length > MAX_SCOPES || !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope)))
    faults.push({ path: "/oidc/scopes", message: `are at most ${MAX_SCOPES} scope names` });
  return faults;
}

/** OpenID Connect Discovery §3. */
const isIssuer = (text: string): boolean => !text.includes("?") && isAddress(text);

/** A secret as it is sent to the token endpoint; Apple's is a JWT. */
export const isClientSecret = (text: string): boolean => isPlain(text, 4_096);

const members: readonly string[] = mappedMembers;

function mappingFaults(mapping: Mapping): SettingsFault[] {
  const entries = Object.entries(mapping);
  if (entries.length > MAX_MAPPED)
    return [{ path: "/mapping", message: `has at most ${MAX_MAPPED} members` }];
  return entries.flatMap(([member, expression]) => {
    const path = `/mapping/${pointer(member)}`;
    const isKnown = members.includes(member) || /^attributes\.[\w-]{1,64}$/.test(member);
    if (!isKnown) return [{ path, message: "is no member that can be mapped" }];
    const fault = expressionFault(expression);
    return fault === undefined ? [] : [{ path, message: fault }];
  });
}

function assuranceFaults(rules: readonly AssuranceRule[]): SettingsFault[] {
  if (rules.length > MAX_RULES) return [{ path: "/assurance", message: `has at most ${MAX_RULES} rules` }];
  return rules.flatMap(({ value, acr }, index) => [
    ...(isPlain(value, 255)
      ? []
      : [{ path: `/assurance/${index}/value`, message: "has 1 to 255 characters" }]),
    ...(raised.includes(acr)
      ? []
      : [{ path: `/assurance/${index}/acr`, message: `is one of ${raised.join(", ")}` }]),
  ]);
}
