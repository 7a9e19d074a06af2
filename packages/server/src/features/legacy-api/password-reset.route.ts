/** POST User/{email}/PasswordReset: sends a link by email. Response and timing are the same for every address. */
import Type from "typebox";
import { nobody, sendLinkMail } from "../../core/actions/actions.ts";
import { linkAddress } from "../../core/actions/link-address.ts";
import { isEnforced } from "../../core/domains/enforced-sign-in.ts";
import { takesPasswords } from "../../core/organisations/sign-in-methods.ts";
import { backendSource, sourceSubject } from "../../core/rate-limits/guess-source.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { emailKey, isEmail } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { accepted, endUserHeaders, type LegacyDeps, mailAnswers, requireMail } from "./legacy-deps.ts";
import { requestLocale } from "./registration.ts";

const body = strictObject({ ApplicationId: Type.Optional(Type.String({ maxLength: 36 })) });

export function passwordResetRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/legacy/api/Authentication/User/:email/PasswordReset",
    operationId: "resetPassword",
    errors: [429],
    summary: "Email a link to set a new password",
    tag: "Authentication",
    credential: "system-account",
    headers: endUserHeaders,
    body,
    bodyOptional: true,
    example: {},
    answers: mailAnswers,
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller, params, request }) => {
      requireMail(deps.outbox);
      const email = (params["email"] ?? "").trim();
      if (!isEmail(email)) throw invalid([{ path: "{email}", message: "is not an email address" }]);
      const orgId = caller.organisation.id;
      const source = backendSource(caller);
      const { address } = source;
      await countAttempt(deps, orgId, [
        { limit: deps.rateLimits["recovery-address"], subject: sourceSubject(source) },
        { limit: deps.rateLimits["recovery-account"], subject: emailKey(email) },
      ]);
      const found = await findUserByEmail(deps.database.query, orgId, emailKey(email));
      const isClosed =
        !takesPasswords(caller.organisation.settings) ||
        (await isEnforced(deps.database.query, orgId, email));
      const user = found?.user.disabledAt === null && !isClosed ? found.user : undefined;
      await deps.database.transaction((tx) =>
        sendLinkMail(tx, deps, {
          orgId,
          type: "ResetPassword",
          userId: user?.id ?? nobody(emailKey(email)),
          data: { email: user?.email ?? "" },
          recipient: user?.email ?? "",
          locale: user?.locale ?? requestLocale(request),
          addressOf: linkAddress(deps.baseUrl, "ResetPassword"),
          isVerified: user?.emailVerified,
          isDecoy: user === undefined,
          audit: {
            orgId,
            actor: caller.actor,
            action: "password-reset.requested",
            address,
            typedEmail: email,
            ...(user ? { target: user.id } : { details: { reason: "no account to be used" } }),
          },
        }),
      );
      return accepted;
    },
  });
}
