/** GET User/Username/Available/{username}: for sign-up forms. Rate limited, because it reveals which usernames exist. */
import Type from "typebox";
import { backendSource, sourceSubject } from "../../core/rate-limits/guess-source.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { isUsernameTaken } from "../../core/users/account.store.ts";
import { isUsername, usernameKey } from "../../core/users/username.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { endUserHeaders, type LegacyDeps } from "./legacy-deps.ts";

export function usernameRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "GET",
    path: "/legacy/api/User/Username/Available/:username",
    operationId: "isUsernameAvailable",
    errors: [429],
    summary: "Check whether a username is available",
    tag: "Users",
    credential: "system-account",
    headers: endUserHeaders,
    answers: {
      200: { description: "Availability", schema: Type.Object({ Available: Type.Boolean() }) },
    },
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller, params }) => {
      const orgId = caller.organisation.id;
      const limit = deps.rateLimits["username-address"];
      const attempts = [{ limit, subject: sourceSubject(backendSource(caller)) }];
      await countAttempt(deps, orgId, attempts);
      const username = usernameKey(params["username"] ?? "");
      if (!isUsername(username))
        throw invalid([
          {
            path: "{username}",
            message: "must have 2 to 64 letters, digits and . _ - and start with a letter or digit",
          },
        ]);
      const isTaken = await isUsernameTaken(deps.database.query, orgId, username);
      return { status: 200, body: { Available: !isTaken } };
    },
  });
}
