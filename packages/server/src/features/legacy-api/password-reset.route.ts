/** POST User/{email}/PasswordReset: a link by mail; what is answered, and how long it takes, is the same for everybody. */
import Type from "typebox";
import { nobody } from "../../core/actions/actions.ts";
import { actionAddress, sendLinkMail } from "../../core/actions/link-mail.ts";
import { networkOf } from "../../core/rate-limits/network.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { emailKey, isEmail } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";
import { mailAnswers, taken } from "./mail-answer.ts";
import { requireMail, withLimits } from "./refusals.ts";
import { localeOf } from "./registration.ts";

const body = Type.Object(
  { ApplicationId: Type.Optional(Type.String({ maxLength: 36 })) },
  { additionalProperties: false },
);

export function passwordResetRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(
    api,
    deps.signed,
    {
      method: "POST",
      path: "/legacy/api/Authentication/User/:email/PasswordReset",
      operationId: "resetPassword",
      errors: [429],
      summary: "Send a link to set a new password",
      tag: "Authentication",
      credential: "system-account",
      body,
      bodyOptional: true,
      example: {},
      answers: mailAnswers,
    },
    async ({ caller, params, request }) => {
      requireMail(deps.outbox);
      const email = (params["email"] ?? "").trim();
      if (!isEmail(email)) throw invalid([{ path: "{email}", message: "is not an email address" }]);
      const orgId = caller.organisation.id;
      const address = addressOf(request);
      await withLimits(() =>
        countAttempt(deps, orgId, [
          { limit: deps.rateLimits["recovery-address"], subject: networkOf(address) },
          { limit: deps.rateLimits["recovery-account"], subject: emailKey(email) },
        ]),
      );
      const found = await findUserByEmail(deps.database.query, orgId, emailKey(email));
      const user = found?.user.disabledAt === null ? found.user : undefined;
      await deps.database.transaction((tx) =>
        sendLinkMail(tx, deps, {
          orgId,
          type: "ResetPassword",
          userId: user?.id ?? nobody(emailKey(email)),
          data: { email: user?.email ?? "" },
          recipient: user?.email ?? "",
          locale: user?.locale ?? localeOf(request),
          addressOf: actionAddress(deps.baseUrl, "ResetPassword"),
          isDecoy: user === undefined,
          audit: {
            orgId,
            actor: caller.actor,
            action: "password-reset.requested",
            address,
            ...(user ? { target: user.id } : { details: { reason: "no account to be used" } }),
          },
        }),
      );
      return taken;
    },
  );
}
