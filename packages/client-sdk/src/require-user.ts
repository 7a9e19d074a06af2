/** The user of a request with the properties that a handler cannot do without, typed as present. */
import { named } from "./configuration/properties.ts";
import { SignetError } from "./errors.ts";
import { requirePrincipal, type User } from "./principal.ts";

/** A user with properties that are known. */
export type UserWith<Names extends keyof User> = User & {
  readonly [Name in Names]-?: Exclude<User[Name], undefined>;
};

/** The scope whose claims have a property of the user. */
const scopeOf: Readonly<Record<keyof User, string>> = {
  permId: "openid",
  email: "email",
  firstname: "profile",
  surname: "profile",
  phone: "phone",
  organisationId: "openid",
  role: "profile",
};

/**
 * The user with the properties that a handler cannot do without, typed as present.
 * @throws SignetError `token_missing`, status 401, for an anonymous request; `token_claim_missing`, status 500 towards the caller,
 *   for a property that is not known: its message names the scope to request
 * @example
 * app.get("/me", (request, response) => response.send(requireUser(request, "email").email.toLowerCase()));
 */
export function requireUser<Names extends keyof User>(
  request: object,
  ...names: readonly Names[]
): UserWith<Names> {
  const { user, authenticatedBy } = requirePrincipal(request);
  const missing = names.filter((name) => user?.[name] === undefined);
  if (user !== undefined && missing.length === 0) return user as UserWith<Names>;
  const [name = "permId"] = missing;
  const advice =
    user === undefined
      ? "it acts for itself, as a service"
      : authenticatedBy === "UserFederated"
        ? "the service does not know it"
        : `have ${named("oauthScopes")} include ${scopeOf[name]}, and allow the application that scope`;
  throw new SignetError("token_claim_missing", `The caller has no ${name}: ${advice}.`, {
    description: "The user's profile is incomplete.",
    status: 500,
  });
}
