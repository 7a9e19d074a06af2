/**
 * GET User/Profile/{appId}/{key}/{extendSetting?}: the holder of a session key, and what the application keeps about
 * them. PUT of the same address, which is beside the specification, writes it: signed, by an account of the application.
 */
import Type from "typebox";
import { mayUse } from "../../core/application-access/application-access.ts";
import { readUserSettings, writeUserSettings } from "../../core/application-settings/user-settings.ts";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import { userRecord, userSchema } from "../../core/users/user-record.ts";
import { ApiError, invalid, notAuthenticated, notFound } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const settings = Type.Record(Type.String(), Type.Unknown());
const profile = Type.Intersect([userSchema, Type.Object({ Settings: Type.Optional(settings) })]);
const body = Type.Object({ Settings: settings }, { additionalProperties: false });

const MOST_BYTES = 16 * 1024;
/** Of the last part of the path; anything else is no address of ours. */
const wishes: Readonly<Record<string, boolean>> = {
  "": false,
  false: false,
  true: true,
  extendSetting: true,
};

export function profileRoutes(api: ApiScope, deps: LegacyDeps): void {
  const { database } = deps;
  apiRoute(
    api,
    deps.keyHolder,
    {
      method: "GET",
      path: "/legacy/api/User/Profile/:appId/:key/:extendSetting?",
      operationId: "getProfile",
      errors: [403],
      summary: "The holder of a session key; with `true` or `extendSetting` the application's settings too",
      tag: "Users",
      credential: "session-key",
      answers: { 200: { description: "The user", schema: profile } },
    },
    async ({ caller, params }) => {
      const { extendSetting = "" } = params;
      if (!Object.hasOwn(wishes, extendSetting)) throw notFound();
      const of = await settingsOf(deps, caller, params["appId"]);
      const user = userRecord(caller.user);
      if (!wishes[extendSetting]) return { status: 200, body: user };
      return { status: 200, body: { ...user, Settings: await readUserSettings(database.query, of) } };
    },
  );
  apiRoute(
    api,
    deps.keyHolder,
    {
      method: "PUT",
      path: "/legacy/api/User/Profile/:appId/:key/:extendSetting?",
      operationId: "putProfileSettings",
      errors: [403],
      summary: "Replace what an application keeps about the holder of a session key; signed",
      tag: "Users",
      credential: "session-key",
      body,
      example: { Settings: { theme: "dark" } },
      answers: { 200: { description: "What is kept from now on", schema: body } },
    },
    async ({ caller, params, request, body: { Settings } }) => {
      if (!Object.hasOwn(wishes, params["extendSetting"] ?? "")) throw notFound();
      if (!caller.signedBy) throw notAuthenticated("settings are written with a signature only");
      const of = await settingsOf(deps, caller, params["appId"]);
      requireBounded(Settings);
      const { actor } = caller.signedBy;
      await writeUserSettings(deps, of, { settings: Settings, actor, address: addressOf(request) });
      return { status: 200, body: { Settings } };
    },
  );
}

/**
 * The application is the key's own; with a temporary key, which is made to be handed on, any that the user may use.
 * @throws ApiError 401 for any other, whether it is there or not
 */
async function settingsOf(
  { database, applications }: LegacyDeps,
  { key, user, signedBy }: SessionKeyCaller,
  appId = "",
): Promise<{ orgId: string; applicationId: string; userId: string }> {
  const application = await applications.find(key.orgId, appId);
  const isOpen = application?.id === key.applicationId || key.kind === "UserTemp";
  if (!application || !isOpen) throw notAuthenticated("the key is another application's");
  // The door has asked the key's own application; a key that was handed on must not be a way round another one's wish.
  if (application.settings.requireSignedKeyCalls && !signedBy)
    throw notAuthenticated("the application demands a signature with session keys");
  if (!(await mayUse(database.query, application, user.id)))
    throw new ApiError(403, "not-assigned", "The user may not use this application");
  return { orgId: key.orgId, applicationId: application.id, userId: user.id };
}

/** @throws ApiError 422 */
function requireBounded(value: object): void {
  if (Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES)
    throw invalid([{ path: "/Settings", message: `has more than ${MOST_BYTES} bytes of JSON` }]);
}
