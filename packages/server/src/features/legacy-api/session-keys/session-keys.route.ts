/** /legacy/api/Keys/User/{key}: validating and converting session keys. The key itself is the credential. */

import { isUuid } from "@signet/protocol/hash";
import Type from "typebox";
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { SessionKeyCaller } from "../../../core/session-keys/caller.ts";
import {
  expiresAtSchema,
  formatExpiry,
  sessionKeyKindSchema,
  validKeyRecord,
  validKeySchema,
} from "../../../core/session-keys/session-key-record.ts";
import { convertSessionKey } from "../../../core/session-keys/session-keys.ts";
import { ApiError, notAuthenticated, notFound } from "../../../http/api/api-error.ts";
import { type ApiAuthenticator, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";

export interface SessionKeysDeps extends CoreDeps {
  readonly applications: ApplicationDirectory;
  readonly keyAuthenticator: ApiAuthenticator<SessionKeyCaller>;
}

const shared = { tag: "Session keys", credential: "session-key" } as const;

export function sessionKeysRoutes(api: ApiScope, deps: SessionKeysDeps): void {
  apiRoute(api, {
    ...shared,
    method: "GET",
    path: "/legacy/api/Keys/User/:key",
    operationId: "validateUserKey",
    summary: "Validate a session key and get its user",
    answers: { 200: { description: "The key is valid", schema: validKeySchema } },
    authenticator: deps.keyAuthenticator,
    handler: async ({ caller }) => ({ status: 200, body: validKeyRecord(caller) }),
  });
  convertRoute(api, deps, {
    kind: "UserTemp",
    path: "/legacy/api/Keys/User/:key/Convert/To/UserTemp",
    summary: "Convert to a temporary key",
  });
  convertRoute(api, deps, {
    kind: "UserPerm",
    path: "/legacy/api/Keys/User/:key/Convert/To/UserPerm",
    summary: "Convert to a permanent key",
  });
  permissionRoute(api, deps);
}

const convertedSchema = Type.Object(
  {
    Key: Type.String({ description: "Returned once" }),
    Kind: sessionKeyKindSchema,
    ExpiresAt: expiresAtSchema,
  },
  { title: "ConvertedSessionKey" },
);

function convertRoute(
  api: ApiScope,
  deps: SessionKeysDeps,
  { kind, path, summary }: { kind: "UserTemp" | "UserPerm"; path: string; summary: string },
): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path,
    operationId: `convertTo${kind}`,
    errors: [403],
    summary,
    answers: { 201: { description: "The new key; the old key stays valid", schema: convertedSchema } },
    authenticator: deps.keyAuthenticator,
    handler: async ({ caller, request }) => {
      // Its holder would extend the access that was handed over for a short time.
      if (caller.key.kind === "UserTemp")
        throw new ApiError(403, "temporary-key", "A temporary key cannot be converted");
      if (kind === "UserPerm" && !caller.application.settings.allowPermanentKeys)
        throw new ApiError(
          403,
          "permanent-keys-not-allowed",
          "The application does not allow permanent keys",
        );
      const act = { address: addressOf(request), actor: caller.actor };
      const converted = await convertSessionKey(deps, caller, kind, act);
      if (!converted) throw notAuthenticated("the key has ended meanwhile");
      const { key, secret } = converted;
      // No Location header: it would put the key into a URL.
      return { status: 201, body: { Key: secret, Kind: key.kind, ExpiresAt: formatExpiry(key) } };
    },
  });
}

const permissionSchema = Type.Object({
  Permitted: Type.Boolean({ description: "Whether the user may use the application" }),
  Role: Type.Union([Type.Literal("Standard"), Type.Literal("Administrator")]),
});

function permissionRoute(api: ApiScope, { database, applications, keyAuthenticator }: SessionKeysDeps): void {
  apiRoute(api, {
    ...shared,
    method: "GET",
    path: "/legacy/api/Keys/User/:key/Permission/:appId",
    operationId: "checkKeyPermission",
    summary: "Check whether the key's user may use an application",
    answers: { 200: { description: "The permission", schema: permissionSchema } },
    authenticator: keyAuthenticator,
    handler: async ({ caller: { organisation, user }, params: { appId = "" } }) => {
      const application = isUuid(appId) ? await applications.find(organisation.id, appId) : undefined;
      if (!application) throw notFound();
      const Permitted = await mayUse(database.query, application, user.id);
      return { status: 200, body: { Permitted, Role: user.role } };
    },
  });
}
