/** /api/v1/organisations/{org}: the organisation itself. */
import Type, { type TSchema } from "typebox";
import { imageKinds, imagePath } from "../../../core/organisations/image-kinds.ts";
import { imagesOf } from "../../../core/organisations/images.ts";
import {
  defaultOrganisationSettings,
  issuerOf,
  type Organisation,
  type OrganisationSettings,
} from "../../../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import {
  changeOrganisationSettings,
  InvalidOrganisation,
} from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { mergePatch } from "../../../http/api/merge-patch.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { actOf, operatorAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { type ApiResource, getRoute, patchRoute } from "../frame/resource-routes.ts";
import { findOrganisationChange } from "./organisation-change.store.ts";
import { requireWayIn } from "./way-in.ts";

const branding = {
  accentColor: Type.String({ description: "`#rrggbb`" }),
  logoUri: Type.String({ description: "A PNG as a `data:` URL" }),
  helpUri: Type.String(),
  privacyUri: Type.String(),
  termsUri: Type.String(),
};
const texts = Type.Record(Type.String(), Type.Unknown(), { description: "Of the sign-in page, by language" });

const policies = {
  passwordMinLength: Type.Integer(),
  sessionLifetimeSeconds: Type.Integer(),
  sessionIdleSeconds: Type.Integer(),
  signInMethods: Type.Array(Type.String()),
  passkeyEnrolment: Type.String(),
  secondFactorMethods: Type.Array(Type.String()),
  secondFactor: Type.Enum(["optional", "required"]),
  requireVerifiedEmail: Type.Boolean(),
  allowAccountDeletion: Type.Boolean(),
  requirePushedAuthorizationRequests: Type.Boolean({
    description: "Every application must push its authorization requests (RFC 9126)",
  }),
  deviceAttestation: Type.String(),
  deviceEkTrust: Type.String(),
  defaultLocale: Type.String(),
  auditRetentionMonths: Type.Integer({ description: "0: events are kept for ever" }),
  ledger: Type.String({
    description: "Who may read the log of the signatures in its name: public, members or off",
  }),
  ledgerWitnessQuorum: Type.Integer({ description: "How many witnesses a checkpoint of that log needs" }),
};
type Policy = keyof typeof policies & keyof OrganisationSettings;
const policyNames = Object.keys(policies) as Policy[];
const brandingNames = Object.keys(branding) as Array<keyof typeof branding>;
const shownImage = Type.Object({
  uri: Type.String({ format: "uri" }),
  width: Type.Integer({ description: "Pixels" }),
  height: Type.Integer(),
});
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

export const organisationSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    name: Type.String(),
    state: Type.Enum(["active", "suspended", "deleting"]),
    issuer: Type.String(),
    deletesAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description: "When everything of it is deleted; null unless it is `deleting`",
    }),
    branding: Type.Object({
      ...Object.fromEntries(Object.entries(branding).map(([name, schema]) => [name, orNull(schema)])),
      signInTexts: texts,
    }),
    images: Type.Object(Object.fromEntries(imageKinds.map((kind) => [kind, orNull(shownImage)])), {
      description: "Of the sign-in page; set by `PUT …/images/{kind}`, read-only here",
    }),
    policies: Type.Object(policies),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiOrganisation" },
);

const organisationPatch = strictObject(
  {
    name: Type.Optional(Type.String()),
    branding: Type.Optional(orNull(patchSchema({ ...branding, signInTexts: texts }))),
    policies: Type.Optional(orNull(patchSchema(policies))),
  },
  { title: "ApiOrganisationChange" },
);

export async function organisationRecord(organisation: Organisation, { database, baseUrl }: ApiDeps) {
  const { id, name, settings, createdAt, disabledAt, deleteAfter } = organisation;
  const { signInTexts = {} } = settings.branding;
  const shown = brandingNames.map((member) => [member, settings.branding[member] ?? null]);
  const state = deleteAfter !== null ? "deleting" : disabledAt !== null ? "suspended" : "active";
  const changedAt = await findOrganisationChange(database.query, id);
  return {
    ...{ id, name, state, issuer: issuerOf(baseUrl, id), deletesAt: wireTimeOrNull(deleteAfter) },
    branding: { ...Object.fromEntries(shown), signInTexts },
    images: imageRecord(organisation, baseUrl),
    policies: Object.fromEntries(policyNames.map((member) => [member, settings[member]])),
    createdAt: wireTime(createdAt),
    updatedAt: wireTime(changedAt ?? createdAt),
  };
}

function imageRecord({ id, settings }: Organisation, baseUrl: string) {
  const present = imagesOf(settings);
  const shown = imageKinds.map((kind) => {
    const image = present[kind];
    if (image === undefined) return [kind, null] as const;
    return [
      kind,
      { uri: `${baseUrl}${imagePath(id, image)}`, width: image.width, height: image.height },
    ] as const;
  });
  return Object.fromEntries(shown);
}

export function apiOrganisationRoutes(api: ApiScope, deps: ApiDeps): void {
  const organisations: ApiResource<Organisation> = {
    ...{ api, deps, tag: "API v1: organisation", one: "organisation", many: "organisations" },
    reads: ["signet:organisation:read"],
    writes: ["signet:organisation:write"],
    schema: organisationSchema,
    record: organisationRecord,
    idParameter: "org",
    toAnswer: toOrganisationAnswer,
  };
  getRoute(
    // Operators see what state a suspended one is in.
    { ...organisations, authenticator: operatorAuthenticator },
    "/api/v1/organisations/:org",
    { operationId: "apiReadOrganisation", summary: "Get the organisation" },
    ({ orgId }) => findOrganisation(deps.database.query, orgId),
  );
  patchRoute(
    organisations,
    "/api/v1/organisations/:org",
    {
      operationId: "apiChangeOrganisation",
      summary: "Change the organisation's name, branding and policies",
      body: organisationPatch,
      example: { branding: { accentColor: "#0a5c8f" }, policies: { passwordMinLength: 15 } },
    },
    async (inside, { caller, orgId, patch, check }) => {
      const before = await lockOrganisation(inside.database.query, orgId);
      if (!before) return undefined;
      await check(before);
      const name = patch.name === undefined ? {} : { name: patch.name };
      const settings = changedSettings(before.settings, patch as Sent);
      requireWayIn(deps, "/policies/signInMethods", settings.signInMethods);
      await changeOrganisationSettings(inside, { ...actOf(caller), ...name, settings });
      return findOrganisation(inside.database.query, orgId);
    },
  );
}

type Members = Readonly<Record<string, unknown>>;
type Sent = { readonly branding?: Members | null; readonly policies?: Members | null };

/** What null unsets is as in a new organisation. */
function changedSettings(before: OrganisationSettings, { branding: look, policies: rules }: Sent) {
  const defaults = defaultOrganisationSettings as unknown as Members;
  const unset = Object.fromEntries(policyNames.map((name) => [name, null]));
  const asked = Object.entries(rules === null ? unset : (rules ?? {}));
  const changed = asked.map(([name, value]) => [name, value === null ? defaults[name] : value] as const);
  const next = look === null ? {} : mergePatch(before.branding, look ?? {});
  return {
    ...Object.fromEntries(changed),
    ...(look === undefined ? {} : { branding: next }),
  } as Partial<OrganisationSettings>;
}

export function toOrganisationAnswer(error: unknown): never {
  if (error instanceof InvalidOrganisation) throw invalid([{ path: "/name", message: error.message }]);
  if (!(error instanceof InvalidSettings)) throw error;
  throw invalid(
    error.faults.map(({ path, message }) => ({
      path: `/${path.startsWith("branding") ? path.replaceAll(".", "/") : `policies/${path}`}`,
      message,
    })),
  );
}
