/** POST /legacy/api/users/get: a user or guest of the caller's organisation by email (the specification's example of an HMAC call). */
import Type from "typebox";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import { emailKey } from "../../core/users/user.ts";
import { userRecord, userSchema } from "../../core/users/user-record.ts";
import { findSignInAccount } from "../../core/users/users.store.ts";
import type { Database } from "../../db/open.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type ApiAuthenticator, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";

export interface UsersGetDeps {
  readonly database: Database;
  readonly authenticator: ApiAuthenticator<SystemAccountCaller>;
}

const body = strictObject({
  email: Type.String({ maxLength: 254 }),
  ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
});

export function usersGetRoute(api: ApiScope, { database, authenticator }: UsersGetDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/legacy/api/users/get",
    operationId: "getUser",
    errors: [404],
    summary: "Get a user by email address",
    tag: "Users",
    credential: "system-account",
    body,
    example: { email: "user@example.com" },
    answers: { 200: { description: "The user", schema: userSchema } },
    authenticator,
    handler: async ({ caller, body: { email } }) => {
      const found = await findSignInAccount(database.query, caller.organisation.id, emailKey(email));
      if (!found || found.user.disabledAt !== null) throw notFound();
      return { status: 200, body: userRecord(found.user) };
    },
  });
}
