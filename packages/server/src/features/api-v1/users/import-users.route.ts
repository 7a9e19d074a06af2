/** POST /api/v1/organisations/{org}/users/import: users of another product, with the hashes of their passwords, all or none. */
import Type, { type Static } from "typebox";
import { foreignHashText, readForeignHash, UnusableHash } from "../../../core/passwords/foreign-hashes.ts";
import { importMovedUsers } from "../../../core/users/import/moving/import-moved-users.ts";
import { faultOf } from "../../../core/users/import/moving/read-moved-users.ts";
import { emailKey } from "../../../core/users/user.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import { conflict, invalid, type MemberFault } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator, authenticatedFirst } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { scopeText } from "../frame/operation-texts.ts";

const MAX_USERS = 1_000;
const MAX_BYTES = 1024 * 1024;
const scopes = ["signet:users:write"] as const;
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const name = Type.Optional(Type.String({ description: "At most 100 characters" }));

const sentUsers = strictObject(
  {
    users: Type.Array(
      strictObject({
        email: Type.String(),
        ...{ firstname: name, surname: name },
        emailVerified: flag("Whether the address is known to be the user's; default: false"),
        disabled: flag("Who was blocked there stays blocked; default: false"),
        passwordHash: Type.Optional(
          Type.Union([Type.String(), Type.Null()], {
            description:
              "bcrypt, or a PHC string of argon2, scrypt or PBKDF2 of bounded cost; replaced at the first sign-in",
          }),
        ),
      }),
      { minItems: 1, maxItems: MAX_USERS },
    ),
  },
  { title: "ApiUserImport" },
);
type SentUser = Static<typeof sentUsers>["users"][number];

const imported = Type.Object(
  {
    created: Type.Integer(),
    skipped: Type.Integer({ description: "Users whose address the organisation has already" }),
  },
  { title: "ApiUserImportResult" },
);

const example = {
  users: [
    {
      ...{ email: "grace@example.com", firstname: "Grace", surname: "Hopper", emailVerified: true },
      passwordHash: "$2b$10$vI8aWBnW3fID.ZQ4/zo1G.q1lRps.9cGLcZEiGDMVr5yUP1KUOYTa",
    },
  ],
};

export function apiImportUsersRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...{ tag: "API v1: users", credential: "access-token", operationId: "apiImportUsers" },
    ...{ method: "POST", path: "/api/v1/organisations/:org/users/import", query: noParameters },
    ...{ body: sentUsers, bodyLimit: MAX_BYTES, example, errors: [409] },
    summary: "Import up to 1,000 users of another product with the hashes of their passwords, all or none",
    description: `${scopeText(scopes)} Repeatable: an address that is there already is skipped. All get the role Standard, and no mail.`,
    answers: { 200: { description: "How many were created", schema: imported } },
    ...authenticatedFirst(apiAuthenticator(deps, ...scopes)),
    handler: async ({ caller, body, within }) => {
      const users = readUsers(body.users);
      const done = await inTransaction(deps, within, (inside) =>
        importMovedUsers(inside, { ...actOf(caller), users }),
      ).catch(toAnswer);
      return { status: 200, body: done };
    },
  });
}

/** @throws ApiError 422 naming every fault */
function readUsers(sent: readonly SentUser[]) {
  const faults: MemberFault[] = [];
  const seen = new Map<string, number>();
  const users = sent.map((one, at) => {
    const { email, firstname = "", surname = "", emailVerified = false, disabled = false } = one;
    const user = { email: email.trim(), firstname: firstname.trim(), surname: surname.trim() };
    const message = faultOf(user, seen);
    if (message !== undefined) faults.push({ path: `/users/${at}`, message });
    seen.set(emailKey(user.email), at);
    const passwordHash = readHash(one.passwordHash ?? null, (fault) =>
      faults.push({ path: `/users/${at}/passwordHash`, message: fault }),
    );
    return { ...user, emailVerified, disabled, passwordHash, ignored: [] };
  });
  if (faults.length > 0) throw invalid(faults);
  return users;
}

function readHash(text: string | null, isFaulty: (message: string) => void): string | null {
  if (text === null) return null;
  try {
    return foreignHashText(readForeignHash(text));
  } catch (error) {
    if (!(error instanceof UnusableHash)) throw error;
    isFaulty(error.message);
    return null;
  }
}

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidUser)) throw error;
  throw conflict("Another request has created one of these users meanwhile: nothing was imported.");
}
