/** GET legacy/api/auth/validate: the application validates the session key it received (specification, "Legacy federation"). */
import Type from "typebox";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import { validKeyRecord, validKeySchema } from "../../core/session-keys/session-key-record.ts";
import { type ApiAuthenticator, type ApiScope, apiRoute } from "../../http/api/api-route.ts";

const query = Type.Object(
  { key: Type.String({ maxLength: 200, description: "The session key." }) },
  { additionalProperties: false },
);

export function validateRoute(
  api: ApiScope,
  { keyAuthenticator }: { keyAuthenticator: ApiAuthenticator<SessionKeyCaller> },
): void {
  apiRoute(api, {
    method: "GET",
    path: "/legacy/api/auth/validate",
    operationId: "validateFederationKey",
    summary: "Validate the session key of a federation login",
    tag: "Session keys",
    credential: "session-key",
    query,
    answers: { 200: { description: "The key is valid", schema: validKeySchema } },
    authenticator: keyAuthenticator,
    handler: async ({ caller }) => ({ status: 200, body: validKeyRecord(caller) }),
  });
}
