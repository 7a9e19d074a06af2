/**
 * POST User/Roaming/Register: a user of another organisation is asked by mail whether the caller's may let them in. Who
 * is there, and who said no, is not answered: one organisation does not learn another one's users this way.
 */
import Type from "typebox";
import { nobody } from "../../core/actions/actions.ts";
import { actionAddress, sendLinkMail } from "../../core/actions/link-mail.ts";
import { networkOf } from "../../core/rate-limits/network.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import { emailKey, isEmail, type User } from "../../core/users/user.ts";
import { findUser, findUserByEmail } from "../../core/users/users.store.ts";
import { invalid } from "../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";
import { mailAnswers, taken } from "./mail-answer.ts";
import { requireMail, withLimits } from "./refusals.ts";
import { localeOf } from "./registration.ts";

const body = Type.Object(
  {
    Email: Type.Optional(Type.String({ maxLength: 254 })),
    PermId: Type.Optional(Type.String({ format: "uuid" })),
    HomeOrganisationId: Type.String({ format: "uuid" }),
    ApplicationId: Type.Optional(Type.String({ maxLength: 36 })),
  },
  { additionalProperties: false },
);

export function roamingRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(
    api,
    deps.signed,
    {
      method: "POST",
      path: "/legacy/api/Authentication/User/Roaming/Register",
      operationId: "registerRoamingUser",
      errors: [429],
      summary: "Ask a user of another organisation to become a member of the caller's",
      tag: "Authentication",
      credential: "system-account",
      body,
      example: { Email: "user@example.com", HomeOrganisationId: "01998d6e-3c1a-7b4f-9a58-2f6d1c0e7b91" },
      answers: mailAnswers,
    },
    async ({ caller, request, body: asked }) => {
      requireMail(deps.outbox);
      const orgId = caller.organisation.id;
      const homeOrgId = asked.HomeOrganisationId.toLowerCase();
      const who = namedUser(asked);
      if (homeOrgId === orgId)
        throw invalid([{ path: "/HomeOrganisationId", message: "must be another organisation" }]);
      const address = addressOf(request);
      await withLimits(() =>
        countAttempt(deps, orgId, [
          { limit: deps.rateLimits["registration-address"], subject: networkOf(address) },
          { limit: deps.rateLimits["registration-account"], subject: `${homeOrgId}|${who.subject}` },
        ]),
      );
      const user = await whoCanBeAsked(deps, orgId, homeOrgId, who);
      await deps.database.transaction((tx) =>
        sendLinkMail(tx, deps, {
          orgId,
          type: "AcceptRoaming",
          userId: user?.id ?? nobody(`${homeOrgId}|${who.subject}`),
          data: { email: user?.email ?? "", homeOrgId },
          recipient: user?.email ?? "",
          locale: user?.locale ?? localeOf(request),
          addressOf: actionAddress(deps.baseUrl, "AcceptRoaming"),
          isDecoy: user === undefined,
          // Without the reason of a no: the log is the caller's organisation's to read.
          audit: { orgId, actor: caller.actor, action: "roaming.requested", address, details: { homeOrgId } },
        }),
      );
      return taken;
    },
  );
}

type Named = { readonly subject: string } & ({ readonly emailKey: string } | { readonly permId: string });

/** @throws ApiError 422 unless it is exactly one of the two */
function namedUser({ Email: email, PermId: permId }: { Email?: string; PermId?: string }): Named {
  if ((email === undefined) === (permId === undefined))
    throw invalid([{ path: "/Email", message: "either Email or PermId must be there, and not both" }]);
  if (permId !== undefined) return { permId: permId.toLowerCase(), subject: permId.toLowerCase() };
  if (email === undefined || !isEmail(email.trim()))
    throw invalid([{ path: "/Email", message: "is not an email address" }]);
  return { emailKey: emailKey(email), subject: emailKey(email) };
}

/** Undefined also for who is a member already: the same looks in every case. */
async function whoCanBeAsked(
  { database, organisations }: LegacyDeps,
  orgId: string,
  homeOrgId: string,
  who: Named,
): Promise<User | undefined> {
  const db = database.query;
  const home = await organisations.find(homeOrgId);
  const found =
    "permId" in who
      ? await findUser(db, homeOrgId, who.permId)
      : (await findUserByEmail(db, homeOrgId, who.emailKey))?.user;
  const member = await findUser(db, orgId, found?.id ?? homeOrgId);
  const isThere = home !== undefined && found?.homeOrgId === homeOrgId && found.disabledAt === null;
  return isThere && !member ? found : undefined;
}
