/**
 * The format of an organisation's configuration file, made for version control: branding, policies, email texts, scopes,
 * applications with the consents that administrators granted, and what tokens are for and who gets them without a secret (sections/).
 * Never secrets or users.
 */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import Type, { type Static, type TSchema } from "typebox";
import {
  type ApplicationSettings,
  accessModes,
  accessTokenTypes,
  consentModes,
  grantTypes,
  groupsClaims,
  groupsClaimValues,
  tokenEndpointAuthMethods,
} from "../applications/application.ts";
import { securitySchemas } from "../applications/security-schemas.ts";
import { attestationPolicies, ekTrustModes } from "../devices/device.ts";
import { ledgerModes } from "../ledger/ledger-log.ts";
import type { MailTextField } from "../mail/mail-text.ts";
import { editableTemplates } from "../mail/mail-texts.ts";
import { type OrganisationSettings, secondFactorPolicies } from "../organisations/organisation.ts";
import { ACCENT_COLOUR, LANGUAGE, settingRanges } from "../organisations/settings-validation.ts";
import { passkeyEnrolments, secondFactorMethods, signInMethods } from "../organisations/sign-in-methods.ts";
import { MAX_SIGN_UP_GROUPS, MAX_TERMS_VERSION, signUpModes } from "../organisations/sign-up-settings.ts";
import { claimSources } from "../scopes/custom-scope.ts";
import { MAX_SCOPES } from "../scopes/custom-scopes.ts";
import { acrValues } from "../sessions/session.ts";
import { sectionMembers } from "./sections/all-sections.ts";

/** The number increases when older files would be misread. */
export const FILE_FORMAT = "signet-organisation/1";
/** Email texts: of each template, in every language that there may be. */
const MAX_EMAILS = 200;
export const MAX_APPLICATIONS = 2_000;
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

export interface FileFault {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
}

export class InvalidFile extends Error {
  readonly faults: readonly FileFault[];
  constructor(faults: readonly FileFault[]) {
    super(faults.map(({ path, message }) => `${path || "the file"}: ${message}`).join("; "));
    this.name = "InvalidFile";
    this.faults = faults;
  }
}

const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];
const clientTypes = ["confidential", "public", "native", "spa"] as const satisfies readonly ClientType[];
/** No list inside a record may have more; the records' own limits are narrower. */
const MAX_ITEMS = 100;
const listOf = <Item extends TSchema>(item: Item) => Type.Array(item, { maxItems: MAX_ITEMS });
const texts = () => listOf(Type.String());

/** The schema covers the shape; the validation covers the values. */
const closed = { additionalProperties: false } as const;

const within = (member: keyof typeof settingRanges) =>
  Type.Integer({ minimum: settingRanges[member].least, maximum: settingRanges[member].most });

const brandingMembers = {
  accentColor: Type.String({ pattern: ACCENT_COLOUR, description: "a colour like #2f4fd8" }),
  logoUri: Type.String(),
  helpUri: Type.String(),
  privacyUri: Type.String(),
  termsUri: Type.String(),
  signInTexts: Type.Record(
    Type.String(),
    Type.Object({ heading: Type.Optional(Type.String()), text: Type.Optional(Type.String()) }, closed),
    { maxProperties: MAX_ITEMS, description: `an object of at most ${MAX_ITEMS} languages` },
  ),
} satisfies Record<keyof OrganisationSettings["branding"], TSchema>;

const policyMembers = {
  passwordMinLength: within("passwordMinLength"),
  sessionLifetimeSeconds: within("sessionLifetimeSeconds"),
  sessionIdleSeconds: within("sessionIdleSeconds"),
  signInMethods: listOf(Type.Enum([...signInMethods])),
  passkeyEnrolment: Type.Enum([...passkeyEnrolments]),
  signUp: Type.Object(
    {
      mode: Type.Enum([...signUpModes]),
      terms: Type.Optional(
        Type.Object(
          { version: Type.String({ minLength: 1, maxLength: MAX_TERMS_VERSION }), url: Type.String() },
          closed,
        ),
      ),
      groups: Type.Array(Type.String({ format: "uuid" }), {
        maxItems: MAX_SIGN_UP_GROUPS,
        uniqueItems: true,
      }),
    },
    closed,
  ),
  secondFactorMethods: listOf(Type.Enum([...secondFactorMethods])),
  secondFactor: Type.Enum([...secondFactorPolicies]),
  requireVerifiedEmail: Type.Boolean(),
  allowAccountDeletion: Type.Boolean(),
  requirePushedAuthorizationRequests: Type.Boolean(),
  deviceAttestation: Type.Enum([...attestationPolicies]),
  deviceEkTrust: Type.Enum([...ekTrustModes]),
  defaultLocale: Type.String({ pattern: LANGUAGE, description: "a language like en" }),
  auditRetentionMonths: within("auditRetentionMonths"),
  ledger: Type.Enum([...ledgerModes]),
  ledgerWitnessQuorum: within("ledgerWitnessQuorum"),
} satisfies Record<Exclude<keyof OrganisationSettings, "branding" | "images">, TSchema>;

/** `requireConsent` duplicates `consentMode`: a file has only the latter. */
export type SettingMember = Exclude<keyof ApplicationSettings, "requireConsent">;

const settingMembers = {
  description: Type.String(),
  logoUri: Type.String(),
  homepageUri: Type.String(),
  contacts: texts(),
  redirectUris: texts(),
  postLogoutRedirectUris: texts(),
  returnUrls: texts(),
  grantTypes: listOf(Type.Enum([...grantTypes])),
  allowedScopes: texts(),
  consentMode: Type.Enum([...consentModes]),
  access: Type.Enum([...accessModes]),
  requiredAcr: Type.Enum(Object.values(acrValues)),
  tokenEndpointAuthMethod: Type.Enum([...tokenEndpointAuthMethods]),
  jwks: Type.Object(
    { keys: listOf(Type.Record(Type.String(), Type.Unknown(), { maxProperties: MAX_ITEMS })) },
    closed,
  ),
  jwksUri: Type.String(),
  tlsClientCertificateBoundAccessTokens: Type.Boolean(),
  requirePkce: Type.Boolean(),
  requireNonceWithoutPkce: Type.Boolean(),
  ...securitySchemas,
  audience: Type.String(),
  allowedResources: texts(),
  accessTokenLifetimeSeconds: Type.Integer(),
  refreshTokenLifetimeSeconds: Type.Integer(),
  refreshTokenAbsoluteLifetimeSeconds: Type.Integer(),
  refreshTokenGraceSeconds: Type.Integer(),
  issueRefreshTokenWithoutOfflineAccess: Type.Boolean(),
  idTokenSignedResponseAlg: Type.Enum(algorithms),
  accessTokenSignedResponseAlg: Type.Enum(algorithms),
  accessTokenType: Type.Enum([...accessTokenTypes]),
  idTokenIncludesScopeClaims: Type.Boolean(),
  groupsClaim: Type.Enum([...groupsClaims]),
  groupsClaimValue: Type.Enum([...groupsClaimValues]),
  backchannelLogoutUri: Type.String(),
  allowPermanentKeys: Type.Boolean(),
  requireSignedKeyCalls: Type.Boolean(),
  signingPoolId: Type.String({ format: "uuid", description: "a UUID" }),
  shared: Type.Object({ organisations: Type.Union([Type.Literal("any"), texts()]) }, closed),
} satisfies Record<SettingMember, TSchema>;

/** In the order of the file. */
export const settingNames = Object.keys(settingMembers) as SettingMember[];
export const brandingNames = Object.keys(brandingMembers) as Array<keyof typeof brandingMembers>;
export const policyNames = Object.keys(policyMembers) as Array<keyof typeof policyMembers>;

const mailTextMembers = {
  subject: Type.String(),
  heading: Type.String(),
  body: Type.String(),
  button: Type.String(),
} satisfies Record<MailTextField, TSchema>;

const claimSchema = Type.Object(
  {
    name: Type.String(),
    source: Type.Enum([...claimSources]),
    path: Type.Optional(Type.String()),
    value: Type.Optional(Type.Unknown()),
  },
  closed,
);

const emailSchema = Type.Object(
  {
    template: Type.Enum([...editableTemplates]),
    language: Type.String({ pattern: LANGUAGE, description: "a language like en" }),
    ...Type.Partial(Type.Object(mailTextMembers)).properties,
  },
  closed,
);

const scopeSchema = Type.Object(
  {
    name: Type.String(),
    displayName: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    sensitive: Type.Optional(Type.Boolean()),
    claims: Type.Optional(listOf(claimSchema)),
  },
  closed,
);

const applicationSchema = Type.Object(
  {
    id: Type.Optional(Type.String({ format: "uuid", description: "a UUID" })),
    externalKey: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description: "1 to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit",
      }),
    ),
    name: Type.String(),
    clientType: Type.Enum([...clientTypes]),
    enabled: Type.Optional(Type.Boolean()),
    ...Type.Partial(Type.Object(settingMembers)).properties,
    organisationConsent: Type.Optional(texts()),
    preauthorizations: Type.Optional(listOf(texts())),
  },
  closed,
);

/** Omitted sections stay unchanged; a record in the file is complete. */
export const organisationFileSchema = Type.Object(
  {
    format: Type.Literal(FILE_FORMAT),
    branding: Type.Optional(Type.Partial(Type.Object(brandingMembers, closed))),
    policies: Type.Optional(Type.Partial(Type.Object(policyMembers, closed))),
    emails: Type.Optional(Type.Array(emailSchema, { maxItems: MAX_EMAILS })),
    scopes: Type.Optional(Type.Array(scopeSchema, { maxItems: MAX_SCOPES })),
    applications: Type.Optional(Type.Array(applicationSchema, { maxItems: MAX_APPLICATIONS })),
    ...sectionMembers,
  },
  closed,
);

export type OrganisationFile = Static<typeof organisationFileSchema>;
export type FileEmail = Static<typeof emailSchema>;
export type FileScope = Static<typeof scopeSchema>;
export type FileApplication = Static<typeof applicationSchema>;
