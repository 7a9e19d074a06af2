/** GET User/Username/Available/{username}: for a form in which somebody chooses one. Counted: it tells which are taken. */
import Type from "typebox";
import { networkOf } from "../../core/rate-limits/network.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { isUsernameTaken } from "../../core/users/identifiers/identifiers.store.ts";
import { isUsername, usernameKey } from "../../core/users/identifiers/username.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";
import { withLimits } from "./refusals.ts";

export function usernameRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(
    api,
    deps.signed,
    {
      method: "GET",
      path: "/legacy/api/User/Username/Available/:username",
      operationId: "isUsernameAvailable",
      errors: [429],
      summary: "Whether nobody of the organisation has this username",
      tag: "Users",
      credential: "system-account",
      answers: {
        200: { description: "The answer", schema: Type.Object({ Available: Type.Boolean() }) },
      },
    },
    async ({ caller, params, request }) => {
      const orgId = caller.organisation.id;
      const limit = deps.rateLimits["username-address"];
      const counted = [{ limit, subject: networkOf(addressOf(request)) }];
      await withLimits(() => countAttempt(deps, orgId, counted));
      const username = usernameKey(params["username"] ?? "");
      if (!isUsername(username))
        throw invalid([
          {
            path: "{username}",
            message: "must have 2 to 64 letters, digits and . _ -, a letter or digit first",
          },
        ]);
      const isTaken = await isUsernameTaken(deps.database.query, orgId, username);
      return { status: 200, body: { Available: !isTaken } };
    },
  );
}
