/** GET Account/VerifyIdentity/{key?}: the current record of a session key's user, and how they authenticated. */
import Type from "typebox";
import { userRecord, userSchema } from "../../core/users/user-record.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const answer = Type.Object({
  Verified: Type.Literal(true),
  User: userSchema,
  AuthTime: Type.String({ format: "date-time" }),
  Amr: Type.Array(Type.String(), { description: "RFC 8176" }),
});

const query = strictObject({
  key: Type.Optional(Type.String({ maxLength: 200, description: "If it is not in the path" })),
});

export function verifyIdentityRoute(api: ApiScope, { keyAuthenticator }: LegacyDeps): void {
  apiRoute(api, {
    method: "GET",
    path: "/legacy/api/Authentication/Account/VerifyIdentity/:key?",
    operationId: "verifyIdentity",
    summary: "Get the user of a session key and how they authenticated",
    tag: "Authentication",
    credential: "session-key",
    query,
    answers: { 200: { description: "The user", schema: answer } },
    authenticator: keyAuthenticator,
    handler: async ({ caller: { key, user } }) => ({
      status: 200,
      body: { Verified: true, User: userRecord(user), AuthTime: wireTime(key.authTime), Amr: key.amr },
    }),
  });
}
