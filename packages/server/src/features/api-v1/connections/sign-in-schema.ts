/** The members of a connection for signing in, as API v1 takes and shows them (connections.md §1). */
import Type, { type TProperties } from "typebox";
import {
  callbackUri,
  logoutAddresses,
  samlAddresses,
} from "../../../core/connections/connection-addresses.ts";
import { effectiveMapping } from "../../../core/connections/sign-in/presets.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  clientAuthMethods,
  emailTrusts,
  linkingModes,
  presets,
} from "../../../core/connections/sign-in/sign-in-settings.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { strictObject } from "../../../http/api/schemas.ts";

const expression = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 10 })], {
  description: "A claim's name, `/json/pointer`, `=constant`, or a list: the first that is not empty",
});

const orNull = <P extends TProperties>(members: P) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, Type.Optional(Type.Union([schema, Type.Null()]))]),
  );

const client = {
  issuer: Type.String({ description: "Exactly as the ID token names it" }),
  clientId: Type.String(),
  tokenEndpointAuthMethod: Type.Enum([...clientAuthMethods], { description: "Default: client_secret_basic" }),
  scopes: Type.Array(Type.String(), { maxItems: 20, description: "Default: openid, email, profile" }),
};
const clientSecret = Type.String({ description: "Never read back" });

const provider = {
  metadataUrl: Type.String({ description: "Where its metadata is fetched now, and new certificates later" }),
  entityId: Type.String(),
  ssoUrl: Type.String({ description: "Of the HTTP-Redirect binding" }),
  sloUrl: Type.String({ description: "Of the HTTP-Redirect binding" }),
  certificates: Type.Array(Type.String(), {
    maxItems: 10,
    description: "As PEM or in base64: what it signs with. No other key is believed",
  }),
  subjectAttribute: Type.String({ description: "Whose value names the user; default: the NameID" }),
  allowIdpInitiated: Type.Boolean({
    description:
      "Whether a response that was not asked for signs in: anybody can then sign a browser in to an account of theirs; default: false",
  }),
};
const metadataXml = Type.String({ maxLength: 262_144, description: "Instead of its URL; never read back" });

const assurance = strictObject({
  claim: Type.Enum(["acr", "amr"]),
  value: Type.String(),
  acr: Type.String({ description: `${acrValues.multiFactor} or ${acrValues.phishingResistant}` }),
});

const groupId = Type.String({ format: "uuid" });
const groups = {
  from: expression,
  map: Type.Record(Type.String(), groupId, {
    description: "The id of a group by a value that is claimed; other values mean nothing",
  }),
};
const GROUPS =
  "Memberships follow each sign-in: of groups of the organisation's own, or that were handed over to the connection";

const choices = {
  shown: Type.Boolean({ description: "Whether the sign-in page has its button; default: true" }),
  mapping: Type.Object(
    { groups: Type.Optional(Type.Object(groups, { description: GROUPS })) },
    {
      additionalProperties: expression,
      description:
        "By member of the user (`email`, `emailVerified`, `firstname`, `surname`, `username`, `phone`, `locale`, `attributes.<name>`): where its value is; default: the standard claims. `groups`: which groups a claim puts the user in",
    },
  ),
  createAccounts: Type.Boolean({ description: "For who has none yet; default: true" }),
  linking: Type.Enum([...linkingModes], { description: "To an account of the same address; default: ask" }),
  emailTrust: Type.Enum([...emailTrusts], { description: "Default: provenDomains" }),
  assurance: Type.Array(assurance, {
    maxItems: 20,
    description: "Claims that raise the acr above `urn:signet:acr:pwd`",
  }),
  upstreamLogout: Type.Boolean({ description: "Whether a logout there ends sessions here; default: true" }),
};

const preset = Type.Union([Type.Enum([...presets]), Type.Null()], {
  description: "Defaults for a known provider; `github` is of the kind `oauth`",
});
const askedGroups = strictObject({
  from: Type.Optional(Type.Union([expression, Type.Null()])),
  map: Type.Optional(
    Type.Union([Type.Record(Type.String(), Type.Union([groupId, Type.Null()])), Type.Null()]),
  ),
});
const askedMapping = Type.Object(
  { groups: Type.Optional(Type.Union([askedGroups, Type.Null()], { description: GROUPS })) },
  { additionalProperties: Type.Union([expression, Type.Null()]) },
);

/** Of a POST and a PATCH alike: what is required is said by the kind, and null unsets. */
export const askedSignIn = {
  preset: Type.Optional(preset),
  oidc: Type.Optional(
    Type.Union([strictObject({ ...orNull(client), ...orNull({ clientSecret }) }), Type.Null()]),
  ),
  saml: Type.Optional(
    Type.Union([strictObject({ ...orNull(provider), ...orNull({ metadataXml }) }), Type.Null()], {
      description: "Either `metadataUrl`, or `metadataXml`, or `entityId`, `ssoUrl` and `certificates`",
    }),
  ),
  ...orNull({ ...choices, mapping: askedMapping }),
};

/** As they are shown; a directory's connection has none of them. */
export const shownSignIn = {
  preset: Type.Optional(preset),
  oidc: Type.Optional(
    Type.Object({
      ...client,
      clientSecretHint: Type.Union([Type.String(), Type.Null()], {
        description: "The secret's last characters",
      }),
    }),
  ),
  saml: Type.Optional(
    Type.Object({
      ...provider,
      metadataUrl: Type.Union([provider.metadataUrl, Type.Null()]),
      sloUrl: Type.Union([provider.sloUrl, Type.Null()]),
      sloResponseUrl: Type.Optional(
        Type.String({
          description: "Where its metadata wants the answers to its logouts, instead of `sloUrl`",
        }),
      ),
      subjectAttribute: Type.Union([provider.subjectAttribute, Type.Null()]),
    }),
  ),
  ...Type.Partial(Type.Object(choices)).properties,
  callbackUri: Type.Optional(Type.String({ format: "uri", description: "The redirect URI to register" })),
  backchannelLogoutUri: Type.Optional(
    Type.String({
      format: "uri",
      description: "Where the provider tells of logouts there (Back-Channel Logout 1.0)",
    }),
  ),
  postLogoutRedirectUri: Type.Optional(
    Type.String({
      format: "uri",
      description: "Where the provider sends who has signed out here, and then there",
    }),
  ),
  acsUri: Type.Optional(Type.String({ format: "uri", description: "Of `saml`: where responses are sent" })),
  spEntityId: Type.Optional(
    Type.String({
      format: "uri",
      description: "Of `saml`: who Signet is there. Its metadata is at this address",
    }),
  ),
  sloUri: Type.Optional(
    Type.String({
      format: "uri",
      description: "Of `saml`: where logouts there, and answers to those here, are sent",
    }),
  ),
};

/** @param hint of the client secret */
export function signInMembers(baseUrl: string, connection: SignInConnection, hint: string | null) {
  const { groups, ...settings } = connection.settings;
  const mapping = { ...effectiveMapping(settings), ...(groups ? { groups } : {}) };
  if (settings.saml !== undefined) return { ...settings, mapping, ...samlAddresses(baseUrl, connection) };
  return {
    ...{ ...settings, mapping },
    oidc: { ...settings.oidc, clientSecretHint: hint },
    callbackUri: callbackUri(baseUrl, connection),
    ...logoutAddresses(baseUrl, connection),
  };
}
