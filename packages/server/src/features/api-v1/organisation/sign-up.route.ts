/** /api/v1/organisations/{org}/sign-up: who may make an account of their own, and the terms that every user accepts. */
import Type from "typebox";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import {
  MAX_SIGN_UP_GROUPS,
  MAX_TERMS_VERSION,
  signUpModes,
} from "../../../core/organisations/sign-up-settings.ts";
import type { Database } from "../../../db/open.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute, readRoute } from "../../../http/api/api-route.ts";
import { isUnchanged } from "../../../http/api/concurrency.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator, requireHeld } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { tagOf } from "../frame/entity-tag.ts";
import { requireAsRead } from "./settings-tag.ts";

const mode = Type.Enum([...signUpModes], {
  description:
    "`open`: every address; `domains`: addresses of the organisation's proven domains; `approval`: every address, and an administrator approves each",
});
const termsMembers = {
  version: Type.String({
    ...{ minLength: 1, maxLength: MAX_TERMS_VERSION },
    description: "Of another version, every user is asked again",
  }),
  url: Type.String({ description: "https" }),
};
const groups = Type.Array(Type.String({ format: "uuid" }), {
  ...{ maxItems: MAX_SIGN_UP_GROUPS, uniqueItems: true },
  description: "What new users get into: groups that no connection provisions",
});

const schema = Type.Object(
  { mode, terms: Type.Union([Type.Object(termsMembers), Type.Null()]), groups },
  { title: "ApiSignUp" },
);
const body = strictObject(
  {
    mode: Type.Optional(mode),
    terms: Type.Optional(Type.Union([strictObject(termsMembers), Type.Null()])),
    groups: Type.Optional(groups),
  },
  { title: "ApiSignUpSettings" },
);

const record = ({ settings: { signUp } }: Pick<Organisation, "settings">) => ({
  mode: signUp.mode,
  terms: signUp.terms ?? null,
  groups: [...signUp.groups],
});

export function apiSignUpRoutes(api: ApiScope, deps: ApiDeps): void {
  const shared = {
    ...{ path: "/api/v1/organisations/:org/sign-up", tag: "API v1: organisation", query: noParameters },
    credential: "access-token",
    answers: { 200: { description: "The sign-up settings", schema } },
  } as const;
  readRoute<ApiCaller, typeof noParameters, Database>(api, {
    ...{ ...shared, operationId: "apiReadSignUp", summary: "Get the sign-up settings" },
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
    ...{ ...shared, method: "PUT", body, bodyOptional: true, errors: [403, 412] },
    ...{ operationId: "apiReplaceSignUp", summary: "Replace the sign-up settings" },
    description:
      "What is left out is as in a new organisation. Scope: `signet:organisation:write`; for groups `signet:groups:write` too.",
    example: {
      mode: "approval",
      terms: { version: "2026-11", url: "https://www.example.com/terms" },
      groups: [],
    },
    headers: { "If-Match": "the `ETag` of the settings when they were read" },
    authenticator: apiAuthenticator(deps, "signet:organisation:write"),
    handler: async ({ caller, request, body: sent, within }) => {
      const { mode: wanted = "off", terms = null, groups: wantedGroups = [] } = sent;
      const ids = wantedGroups.map((id) => id.toLowerCase());
      // Whoever is in a group has its roles.
      if (ids.length > 0) requireHeld(caller, "signet:groups:write");
      const signUp = { mode: wanted, ...(terms === null ? {} : { terms }), groups: ids };
      const changing = inTransaction(deps, within, async (inside) => {
        await requireAsRead(inside.database.query, caller, request, record);
        return changeOrganisationSettings(inside, { ...actOf(caller), settings: { signUp } });
      });
      const settings = await changing.catch(toAnswer);
      if (!settings) throw notFound();
      const changed = record({ settings });
      return { status: 200, body: changed, headers: { etag: tagOf(changed) } };
    },
  });
}

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidSettings)) throw error;
  throw invalid(
    error.faults.map(({ path, message }) => ({
      path: path.replace(/^signUp/, "").replaceAll(".", "/"),
      message,
    })),
  );
}
