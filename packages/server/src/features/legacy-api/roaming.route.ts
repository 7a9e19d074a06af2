/**
 * POST User/Roaming/Register: invites a user of another organisation by email. The response does not reveal whether the user
 * exists or declines, so that no organisation learns another one's users.
 */
import Type from "typebox";
import { nobody, sendLinkMail } from "../../core/actions/actions.ts";
import { linkAddress } from "../../core/actions/link-address.ts";
import { backendSource, sourceSubject } from "../../core/rate-limits/guess-source.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { emailKey, isEmail, type User } from "../../core/users/user.ts";
import { findUser, findUserByEmail } from "../../core/users/users.store.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { accepted, endUserHeaders, type LegacyDeps, mailAnswers, requireMail } from "./legacy-deps.ts";
import { requestLocale } from "./registration.ts";

const body = strictObject({
  Email: Type.Optional(Type.String({ maxLength: 254 })),
  PermId: Type.Optional(Type.String({ format: "uuid" })),
  HomeOrganisationId: Type.String({ format: "uuid" }),
  ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
});

export function roamingRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/legacy/api/Authentication/User/Roaming/Register",
    operationId: "registerRoamingUser",
    errors: [429],
    summary: "Invite a user of another organisation",
    tag: "Authentication",
    credential: "system-account",
    headers: endUserHeaders,
    body,
    example: { Email: "user@example.com", HomeOrganisationId: "01998d6e-3c1a-7b4f-9a58-2f6d1c0e7b91" },
    answers: mailAnswers,
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller, request, body: input }) => {
      requireMail(deps.outbox);
      const orgId = caller.organisation.id;
      const homeOrgId = input.HomeOrganisationId.toLowerCase();
      const who = readInvitee(input);
      if (homeOrgId === orgId)
        throw invalid([{ path: "/HomeOrganisationId", message: "must be another organisation" }]);
      const source = backendSource(caller);
      const { address } = source;
      await countAttempt(deps, orgId, [
        { limit: deps.rateLimits["registration-address"], subject: sourceSubject(source) },
        { limit: deps.rateLimits["registration-account"], subject: `${homeOrgId}|${who.subject}` },
      ]);
      const user = await findInvitee(deps, orgId, homeOrgId, who);
      await deps.database.transaction((tx) =>
        sendLinkMail(tx, deps, {
          orgId,
          type: "AcceptRoaming",
          userId: user?.id ?? nobody(`${homeOrgId}|${who.subject}`),
          data: { email: user?.email ?? "", homeOrgId },
          recipient: user?.email ?? "",
          locale: user?.locale ?? requestLocale(request),
          addressOf: linkAddress(deps.baseUrl, "AcceptRoaming"),
          isDecoy: user === undefined,
          // Without the outcome: the caller's organisation reads this log.
          audit: { orgId, actor: caller.actor, action: "roaming.requested", address, details: { homeOrgId } },
        }),
      );
      return accepted;
    },
  });
}

type Invitee = { readonly subject: string } & ({ readonly emailKey: string } | { readonly permId: string });

/** @throws ApiError 422 unless exactly one of the two is present */
function readInvitee({ Email: email, PermId: permId }: { Email?: string; PermId?: string }): Invitee {
  if ((email === undefined) === (permId === undefined))
    throw invalid([{ path: "/Email", message: "either Email or PermId is required, not both" }]);
  if (permId !== undefined) return { permId: permId.toLowerCase(), subject: permId.toLowerCase() };
  if (email === undefined || !isEmail(email.trim()))
    throw invalid([{ path: "/Email", message: "is not an email address" }]);
  return { emailKey: emailKey(email), subject: emailKey(email) };
}

/** Undefined also for a user who is already a member; runs the same queries in every case. */
async function findInvitee(
  { database, organisations }: LegacyDeps,
  orgId: string,
  homeOrgId: string,
  who: Invitee,
): Promise<User | undefined> {
  const db = database.query;
  const home = await organisations.find(homeOrgId);
  const found =
    "permId" in who
      ? await findUser(db, homeOrgId, who.permId)
      : (await findUserByEmail(db, homeOrgId, who.emailKey))?.user;
  const member = await findUser(db, orgId, found?.id ?? homeOrgId);
  const exists = home !== undefined && found?.homeOrgId === homeOrgId && found.disabledAt === null;
  return exists && !member ? found : undefined;
}
