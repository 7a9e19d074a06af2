/**
 * GET User/Profile/{appId}/{key}/{extendSetting?}: the user of a session key, and the settings that the application stores for
 * them. PUT replaces the settings; it is an addition to the specification and needs a signature.
 */
import Type from "typebox";
import { mayUse } from "../../core/application-access/application-access.ts";
import { readUserSettings, writeUserSettings } from "../../core/application-settings/user-settings.ts";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import { userRecord, userSchema } from "../../core/users/user-record.ts";
import { ApiError, invalid, notAuthenticated, notFound } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const settings = Type.Record(Type.String(), Type.Unknown());
const profile = Type.Intersect([userSchema, Type.Object({ Settings: Type.Optional(settings) })]);
const body = strictObject({ Settings: settings });

const MAX_BYTES = 16 * 1024;
/** The values of the last path segment; anything else is 404. */
const flags: Readonly<Record<string, boolean>> = {
  "": false,
  false: false,
  true: true,
  extendSetting: true,
};

export function profileRoutes(api: ApiScope, deps: LegacyDeps): void {
  const { database } = deps;
  apiRoute(api, {
    method: "GET",
    path: "/legacy/api/User/Profile/:appId/:key/:extendSetting?",
    operationId: "getProfile",
    errors: [403],
    summary: "Get the user of a session key; with `true` or `extendSetting` also the application's settings",
    tag: "Users",
    credential: "session-key",
    answers: { 200: { description: "The user", schema: profile } },
    authenticator: deps.keyAuthenticator,
    handler: async ({ caller, params }) => {
      const { extendSetting = "" } = params;
      if (!Object.hasOwn(flags, extendSetting)) throw notFound();
      const of = await requireSettingsAccess(deps, caller, params["appId"]);
      const user = userRecord(caller.user);
      if (!flags[extendSetting]) return { status: 200, body: user };
      return { status: 200, body: { ...user, Settings: await readUserSettings(database.query, of) } };
    },
  });
  apiRoute(api, {
    method: "PUT",
    path: "/legacy/api/User/Profile/:appId/:key/:extendSetting?",
    operationId: "putProfileSettings",
    errors: [403],
    summary: "Replace the application's settings for the user of a session key; requires a signature",
    tag: "Users",
    credential: "session-key",
    body,
    example: { Settings: { theme: "dark" } },
    answers: { 200: { description: "The stored settings", schema: body } },
    authenticator: deps.keyAuthenticator,
    handler: async ({ caller, params, request, body: { Settings } }) => {
      if (!Object.hasOwn(flags, params["extendSetting"] ?? "")) throw notFound();
      if (!caller.signedBy) throw notAuthenticated("settings need a signature");
      const of = await requireSettingsAccess(deps, caller, params["appId"]);
      requireBounded(Settings);
      const { actor } = caller.signedBy;
      await writeUserSettings(deps, of, { settings: Settings, actor, address: addressOf(request) });
      return { status: 200, body: { Settings } };
    },
  });
}

/**
 * A key opens what its own application may see (the authenticator has refused it unsigned where that application requires
 * signatures). A temporary key is handed to other applications: one of those proves by its signature that it is the one that
 * asks (the authenticator has checked the signature's permission on `appId`).
 * @throws ApiError 401 for every other application, existing or not
 */
async function requireSettingsAccess(
  { database, applications }: LegacyDeps,
  { key, user, signedBy }: SessionKeyCaller,
  appId = "",
): Promise<{ orgId: string; applicationId: string; userId: string }> {
  const application = await applications.find(key.orgId, appId);
  const isOpen = application?.id === key.applicationId || (key.kind === "UserTemp" && signedBy !== undefined);
  if (!application || !isOpen) throw notAuthenticated("the key belongs to another application");
  if (!(await mayUse(database.query, application, user.id)))
    throw new ApiError(403, "not-assigned", "The user may not use this application");
  return { orgId: key.orgId, applicationId: application.id, userId: user.id };
}

/** @throws ApiError 422 */
function requireBounded(value: object): void {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES)
    throw invalid([{ path: "/Settings", message: `has more than ${MAX_BYTES} bytes of JSON` }]);
}
