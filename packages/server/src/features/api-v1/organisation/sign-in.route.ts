/** /api/v1/organisations/{org}/sign-in: what signs in, in the order of the sign-in page, and whether passkeys are asked for. */
import Type from "typebox";
import { defaultOrganisationSettings, type Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import {
  passkeyEnrolments,
  type SignInMethod,
  signInMethods,
} from "../../../core/organisations/sign-in-methods.ts";
import type { Database } from "../../../db/open.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute, readRoute } from "../../../http/api/api-route.ts";
import { isUnchanged } from "../../../http/api/concurrency.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { tagOf } from "../frame/entity-tag.ts";
import { requireAsRead } from "./settings-tag.ts";
import { requireWayIn } from "./way-in.ts";

const methods = Type.Array(Type.Enum([...signInMethods]), {
  ...{ minItems: 1, maxItems: signInMethods.length, uniqueItems: true },
  description: "In the order of the sign-in page. Without `password`, passwords are closed",
});
const passkeyEnrolment = Type.Enum([...passkeyEnrolments], {
  description: "After sign-in, for users without a passkey",
});

const schema = Type.Object({ methods, passkeyEnrolment }, { title: "ApiSignIn" });
const body = strictObject(
  { methods: Type.Optional(methods), passkeyEnrolment: Type.Optional(passkeyEnrolment) },
  { title: "ApiSignInSettings" },
);

const record = ({ settings }: Pick<Organisation, "settings">) => ({
  methods: settings.signInMethods,
  passkeyEnrolment: settings.passkeyEnrolment,
});

export function apiSignInRoutes(api: ApiScope, deps: ApiDeps): void {
  const shared = {
    ...{ path: "/api/v1/organisations/:org/sign-in", tag: "API v1: organisation", query: noParameters },
    credential: "access-token",
    answers: { 200: { description: "The sign-in settings", schema } },
  } as const;
  readRoute<ApiCaller, typeof noParameters, Database>(api, {
    ...{ ...shared, operationId: "apiReadSignIn", summary: "Get the sign-in settings" },
    description: "Scope: `signet:organisation:read`.",
    answers: { ...shared.answers, 304: { description: "Unchanged" } },
    authenticator: apiAuthenticator(deps, "signet:organisation:read"),
    handler: async ({ caller, request }) => {
      const organisation = await findOrganisation(deps.database.query, caller.organisation.id);
      if (!organisation) throw notFound();
      const found = record(organisation);
      const headers = { etag: tagOf(found) };
      if (isUnchanged(request, headers.etag)) return { status: 304, headers };
      return { status: 200, body: found, headers };
    },
  });
  apiRoute<ApiCaller, typeof noParameters, typeof body, Database>(api, {
    ...{ ...shared, method: "PUT", body, bodyOptional: true, errors: [412] },
    ...{ operationId: "apiReplaceSignIn", summary: "Replace the sign-in settings" },
    description: "What is left out is as in a new organisation. Scope: `signet:organisation:write`.",
    example: { methods: ["passkey", "password", "emailCode"], passkeyEnrolment: "offer" },
    headers: { "If-Match": "the `ETag` of the settings when they were read" },
    authenticator: apiAuthenticator(deps, "signet:organisation:write"),
    handler: async ({ caller, request, body: sent, within }) => {
      const { signInMethods: usual, passkeyEnrolment: off } = defaultOrganisationSettings;
      const wanted = {
        signInMethods: (sent.methods ?? usual) as readonly SignInMethod[],
        passkeyEnrolment: sent.passkeyEnrolment ?? off,
      };
      requireWayIn(deps, "/methods", wanted.signInMethods);
      const changing = inTransaction(deps, within, async (inside) => {
        await requireAsRead(inside.database.query, caller, request, record);
        return changeOrganisationSettings(inside, { ...actOf(caller), settings: wanted });
      });
      const settings = await changing.catch(toAnswer);
      if (!settings) throw notFound();
      const changed = record({ settings });
      return { status: 200, body: changed, headers: { etag: tagOf(changed) } };
    },
  });
}

const members: Readonly<Record<string, string>> = {
  signInMethods: "/methods",
  passkeyEnrolment: "/passkeyEnrolment",
  secondFactor: "/methods",
};

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidSettings)) throw error;
  throw invalid(error.faults.map(({ path, message }) => ({ path: members[path] ?? "", message })));
}
