/**
 * POST User/Login/{appId?}: signs a user in by password and second factor for an application with its own sign-in form.
 * Checks, limits and audit are those of the sign-in page.
 */
import Type from "typebox";
import { mayUse } from "../../core/application-access/application-access.ts";
import type { Application } from "../../core/applications/application.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { takesPasswords } from "../../core/organisations/sign-in-methods.ts";
import { backendSource } from "../../core/rate-limits/guess-source.ts";
import { dueTerms } from "../../core/terms/terms.ts";
import { checkPassword, type RightPassword } from "../../core/users/check-password.ts";
import { userRecord, userSchema } from "../../core/users/user-record.ts";
import { ApiError, notAuthenticated } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTimeOrNull } from "../../http/api/times.ts";
import { endUserHeaders, type LegacyDeps } from "./legacy-deps.ts";
import { checkSecondFactor, startServiceKey } from "./session-keys/start-service-key.ts";

const body = strictObject({
  Email: Type.String({ maxLength: 254 }),
  Password: Type.String(),
  TwoFactorCode: Type.Optional(
    Type.String({ maxLength: 64, description: "Authenticator code or recovery code" }),
  ),
  ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
});

const answer = Type.Object({
  Key: Type.String({ description: "A session key, returned once" }),
  ExpiresAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  User: userSchema,
});

export function loginRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/legacy/api/Authentication/User/Login/:appId?",
    operationId: "loginUser",
    errors: [403, 429],
    summary: "Sign a user in by email and password",
    tag: "Authentication",
    credential: "system-account",
    headers: endUserHeaders,
    body,
    example: { Email: "user@example.com", Password: "plum tractor ninety" },
    answers: { 200: { description: "Signed in", schema: answer } },
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller, request, body: input }) => {
      const { organisation, applicationId } = caller;
      const application = await deps.applications.find(organisation.id, applicationId);
      if (!application) throw notAuthenticated("unknown application");
      const source = backendSource(caller);
      const { Email: email, Password: password, TwoFactorCode: code } = input;
      const purpose = takesPasswords(organisation.settings) ? "sign-in" : "closed";
      const right = await checkPassword(deps, { orgId: organisation.id, email, password, source, purpose });
      if (right === "invalid-credentials") throw wrongPassword();
      if (right === "disabled") throw refusedAccount("account-disabled", "The account is disabled");
      await requireAccess(deps, organisation, application, right);
      const proof = await checkSecondFactor(deps, {
        organisation,
        application,
        user: right.user,
        code,
        source,
      });
      const userAgent = request.headers["user-agent"] ?? "";
      const started = await startServiceKey(deps, {
        ...{ organisation, application, right, proof },
        origin: { address: source.address, userAgent },
      });
      if (!started) throw wrongPassword();
      const { key, secret } = started;
      const user = userRecord(right.user);
      return { status: 200, body: { Key: secret, ExpiresAt: wireTimeOrNull(key.expiresAt), User: user } };
    },
  });
}

/** The same for an unknown address and a wrong password. */
const wrongPassword = () => new ApiError(401, "invalid-credentials", "Incorrect email or password");

const refusedAccount = (code: string, title: string) => new ApiError(403, code, title);

/** Checked after the password, so that only its owner learns the reason. */
async function requireAccess(
  { database }: LegacyDeps,
  organisation: Organisation,
  application: Application,
  { user }: RightPassword,
): Promise<void> {
  if (organisation.settings.requireVerifiedEmail && !user.emailVerified)
    throw refusedAccount("email-not-verified", "The user must verify their email address first");
  if (!(await mayUse(database.query, application, user.id)))
    throw refusedAccount("not-assigned", "The user may not use this application");
  // They are accepted on a page of the sign-in.
  if (await dueTerms(database.query, organisation, user))
    throw refusedAccount("terms-not-accepted", "The user must accept the organisation's terms first");
}
