/**
 * POST User/Register and Organisation/{publicId}/Register/Account. The account is created when the link in the email is used.
 * The owner of an existing account gets a notice instead; response and timing are the same. `Password` counts when the
 * organisation's backend completes the link with its signature; else the owner of the mailbox enters the account's password on the
 * page behind the link.
 */
import Type, { type Static } from "typebox";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import { isEmail, isPersonName } from "../../core/users/user.ts";
import { invalid, type MemberFault, notFound } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute, type Call } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { accepted, endUserHeaders, type LegacyDeps, mailAnswers, requireMail } from "./legacy-deps.ts";
import { requireAcceptablePassword, sendRegistrationMail } from "./registration.ts";

const body = strictObject({
  Email: Type.String({ maxLength: 254 }),
  Password: Type.String({
    description:
      "the account's when the link is completed with a signature; else the owner sets it by the link in the email",
  }),
  Firstname: Type.String({ minLength: 1 }),
  Surname: Type.String({ minLength: 1 }),
  Phone: Type.Optional(Type.String({ pattern: "^\\+?[0-9 ()./-]{3,32}$" })),
  ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
});
type Body = Static<typeof body>;

const example: Body = {
  Email: "user@example.com",
  Password: "plum tractor ninety",
  Firstname: "Uma",
  Surname: "User",
};

export function registerRoutes(api: ApiScope, deps: LegacyDeps): void {
  const shared = { method: "POST", tag: "Authentication", credential: "system-account" } as const;
  const operation = { ...shared, headers: endUserHeaders, body, example, answers: mailAnswers };
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Authentication/User/Register",
    operationId: "registerUser",
    errors: [429],
    summary: "Register a user; the address is verified by email",
    authenticator: deps.accountAuthenticator,
    handler: (call) => register(deps, call),
  });
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Authentication/Organisation/:publicId/Register/Account",
    operationId: "registerAccount",
    errors: [429],
    summary: "Register a user of the organisation in the path, which must be the caller's",
    authenticator: deps.accountAuthenticator,
    handler: async (call) => {
      if (call.params["publicId"]?.toLowerCase() !== call.caller.organisation.id) throw notFound();
      return register(deps, call);
    },
  });
}

async function register(
  deps: LegacyDeps,
  { request, caller, body: input }: Call<undefined, Body, SystemAccountCaller>,
) {
  requireMail(deps.outbox);
  const email = input.Email.trim();
  const faults = findFaults(email, input);
  if (faults.length > 0) throw invalid(faults);
  const about = [email, input.Firstname, input.Surname];
  await requireAcceptablePassword(input.Password, caller.organisation, about, "/Password");
  await sendRegistrationMail(deps, request, caller, { ...input, Email: email });
  return accepted;
}

function findFaults(email: string, { Firstname, Surname }: Body): MemberFault[] {
  const names = Object.entries({ Firstname, Surname });
  return [
    ...(isEmail(email) ? [] : [{ path: "/Email", message: "is not an email address" }]),
    ...names.flatMap(([name, value]) =>
      isPersonName(value)
        ? []
        : [
            {
              path: `/${name}`,
              message: "must have at most 100 characters, none of them control characters",
            },
          ],
    ),
  ];
}
