/** The sections of a file beside scopes and applications, in the order in which they are applied, and their shapes. */
import Type, { type Static } from "typebox";
import { MAX_DETAIL_TYPES } from "../../authorization-details/detail-type.ts";
import { MAX_CLIENT_AUTHORITIES } from "../../client-authorities/client-authority.ts";
import { agentConstraints, policyModes } from "../../client-metadata/client-policy.ts";
import {
  accessTokenFormats,
  MAX_RESOURCES,
  senderConstraints,
} from "../../protected-resources/protected-resource.ts";
import { MAX_POLICIES, requestedTokenTypes } from "../../token-exchange/exchange-policy.ts";
import { MAX_TRUSTS, trustKinds, trustUserBy } from "../../trusts/trust.ts";
import { authoritySection } from "./authorities.ts";
import { clientPolicySection } from "./client-policy.ts";
import { detailTypeSection } from "./detail-types.ts";
import { exchangePolicySection } from "./exchange-policies.ts";
import { resourceSection } from "./resources.ts";
import type { Section } from "./section.ts";
import { trustSection } from "./trusts.ts";

export const sections = {
  authorizationDetailTypes: detailTypeSection,
  resources: resourceSection,
  clientIdMetadataPolicy: clientPolicySection,
  clientCertificateAuthorities: authoritySection,
  trusts: trustSection,
  tokenExchangePolicies: exchangePolicySection,
} as const satisfies Readonly<Record<string, Section>>;

export type SectionName = keyof typeof sections;
export const sectionNames = Object.keys(sections) as SectionName[];

const closed = { additionalProperties: false } as const;
/** The rules of each record are narrower. */
const MAX_ITEMS = 100;
const texts = () => Type.Array(Type.String(), { maxItems: MAX_ITEMS });
const optional = Type.Optional;
const json = () => Type.Record(Type.String(), Type.Unknown(), { maxProperties: MAX_ITEMS });

const detailType = Type.Object(
  {
    type: Type.String(),
    displayName: Type.String(),
    template: Type.String(),
    schema: json(),
    resource: optional(Type.String()),
    enabled: optional(Type.Boolean()),
  },
  closed,
);

const resource = Type.Object(
  {
    identifier: Type.String(),
    name: Type.String(),
    scopes: optional(texts()),
    accessTokenFormat: optional(Type.Enum([...accessTokenFormats])),
    accessTokenLifetimeSeconds: optional(Type.Integer()),
    accessTokenSignedResponseAlg: optional(Type.String()),
    senderConstraint: optional(Type.Enum([...senderConstraints])),
    applicationId: optional(Type.String()),
    agentDeniedScopes: optional(texts()),
    enabled: optional(Type.Boolean()),
  },
  closed,
);

const clientPolicy = Type.Object(
  {
    mode: optional(Type.Enum([...policyModes])),
    hosts: optional(texts()),
    allowedScopes: optional(texts()),
    allowedResources: optional(texts()),
    senderConstraint: optional(Type.Enum([...agentConstraints])),
  },
  closed,
);

const authority = Type.Object(
  { name: Type.String(), certificate: Type.String(), enabled: optional(Type.Boolean()) },
  closed,
);

const trust = Type.Object(
  {
    kind: Type.Enum([...trustKinds]),
    issuer: Type.String(),
    clientId: optional(Type.String()),
    subjectPattern: optional(Type.String()),
    claims: optional(json()),
    audience: optional(Type.String()),
    jwks: optional(Type.Object({ keys: Type.Array(json(), { maxItems: MAX_ITEMS }) }, closed)),
    jwksUri: optional(Type.String()),
    singleUse: optional(Type.Boolean()),
    maxLifetimeSeconds: optional(Type.Integer()),
    connectionId: optional(Type.String()),
    userBy: optional(Type.Enum([...trustUserBy])),
    enabled: optional(Type.Boolean()),
  },
  closed,
);

const exchangePolicy = Type.Object(
  {
    name: Type.String(),
    clientId: Type.String(),
    target: Type.String(),
    scopes: texts(),
    subjectClientIds: optional(texts()),
    requestedTokenType: optional(Type.Enum([...requestedTokenTypes])),
    foreignClientId: optional(Type.String()),
    impersonation: optional(Type.Boolean()),
    maxLifetimeSeconds: optional(Type.Integer()),
    enabled: optional(Type.Boolean()),
  },
  closed,
);

export const sectionMembers = {
  authorizationDetailTypes: optional(Type.Array(detailType, { maxItems: MAX_DETAIL_TYPES })),
  resources: optional(Type.Array(resource, { maxItems: MAX_RESOURCES })),
  clientIdMetadataPolicy: optional(clientPolicy),
  clientCertificateAuthorities: optional(Type.Array(authority, { maxItems: MAX_CLIENT_AUTHORITIES })),
  trusts: optional(Type.Array(trust, { maxItems: MAX_TRUSTS })),
  tokenExchangePolicies: optional(Type.Array(exchangePolicy, { maxItems: MAX_POLICIES })),
};

const _shape = Type.Object(sectionMembers);
export type FileSections = Static<typeof _shape>;
