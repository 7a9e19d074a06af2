/** POST User/Logout/{everywhere?}: ends a session key with its session, or all sessions, keys and tokens of the user. */
import Type from "typebox";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import type { SessionKey } from "../../core/session-keys/session-key.ts";
import { revokeSessionKey } from "../../core/session-keys/session-keys.ts";
import { endUserSession, signOutEverywhere } from "../../core/sessions/end-sessions.ts";
import { ApiError, notFound } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const body = strictObject({
  Key: Type.String({ maxLength: 200 }),
  ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
});

/** The values of the last path segment; anything else is 404. */
const flags: Readonly<Record<string, boolean>> = { "": false, false: false, true: true, everywhere: true };

export function logoutRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/legacy/api/Authentication/User/Logout/:everywhere?",
    operationId: "logoutUser",
    summary: "End a session key and its session; with `true` or `everywhere` all sessions, keys and tokens",
    tag: "Authentication",
    credential: "session-key",
    errors: [403],
    body,
    example: { Key: "sgn_sk_…" },
    answers: { 204: { description: "Signed out" } },
    authenticator: deps.keyAuthenticator,
    handler: async ({ caller, params, request }) => {
      const { everywhere = "" } = params;
      if (!Object.hasOwn(flags, everywhere)) throw notFound();
      const address = addressOf(request);
      const { key, actor } = caller;
      const act = { orgId: key.orgId, userId: key.userId, actor, address };
      if (flags[everywhere]) {
        requireFullKey(key);
        await signOutEverywhere(deps, act);
      } else await revokeKeyAndSession(deps, caller, address);
      return { status: 204 };
    },
  });
}

/** A temporary key was handed to another application, which must not end the user's other sessions. @throws ApiError 403 */
function requireFullKey({ kind }: SessionKey): void {
  if (kind === "UserTemp")
    throw new ApiError(403, "temporary-key", "A temporary key cannot sign the user out everywhere");
}

/**
 * A `Service` key ends with its browser session: otherwise the next visit would sign the user in again silently. A converted
 * key ends alone.
 */
async function revokeKeyAndSession(
  deps: LegacyDeps,
  { key, actor }: SessionKeyCaller,
  address: string,
): Promise<void> {
  const { orgId, userId, sessionId, kind } = key;
  const now = deps.clock();
  await deps.database.transaction((tx) =>
    revokeSessionKey(tx, key, { reason: "signed_out", actor, address, now }),
  );
  if (kind === "Service" && sessionId !== null)
    await endUserSession(deps, { orgId, userId, sessionId, actor, address });
}
