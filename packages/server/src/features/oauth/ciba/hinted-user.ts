/** Whom a CIBA request is about (CIBA Core §7.1): by `login_hint`, or by an ID token that the client has. */
import { isUuid } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type IdTokenHintDeps, readIdTokenHint } from "../../../core/tokens/id-token-hint.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { findSignInAccount, findUser } from "../../../core/users/users.store.ts";
import type { Database } from "../../../db/open.ts";

export interface HintedUserDeps extends IdTokenHintDeps {
  readonly database: Database;
}

type Values = ReadonlyMap<string, string>;

const invalid = (description: string) => new OAuthError("invalid_request", description);

/** There has to be exactly one, of those that we know. @throws OAuthError invalid_request */
export function requireOneHint(values: Values): void {
  if (values.has("login_hint_token")) throw invalid("login_hint_token is not supported");
  const given = ["login_hint", "id_token_hint"].filter((name) => values.has(name));
  if (given.length !== 1) throw invalid("exactly one of login_hint and id_token_hint is required");
}

const MAX_LOGIN_HINT = 254;

/**
 * An unknown user, a disabled one, and one who may not use the application are alike.
 * @throws OAuthError unknown_user_id; invalid_request for an ID token that is not the client's
 */
export async function requireHintedUser(
  deps: HintedUserDeps,
  organisation: Organisation,
  application: Application,
  values: Values,
): Promise<User> {
  const hint = values.get("id_token_hint");
  const user =
    hint === undefined
      ? await userByLogin(deps, organisation.id, values.get("login_hint") ?? "")
      : await findUser(
          deps.database.query,
          organisation.id,
          await hintedSubject(deps, organisation, application, hint),
        );
  const isUsable =
    user !== undefined &&
    user.disabledAt === null &&
    (await mayUse(deps.database.query, application, user.id));
  if (isUsable) return user;
  throw new OAuthError("unknown_user_id", "no user of this application is known by this hint");
}

/** An email address, or a `sub`. */
async function userByLogin({ database }: HintedUserDeps, orgId: string, hint: string) {
  if (hint.length > MAX_LOGIN_HINT) return undefined;
  if (isUuid(hint)) return findUser(database.query, orgId, hint.toLowerCase());
  return (await findSignInAccount(database.query, orgId, emailKey(hint)))?.user;
}

/** Of an ID token that was issued to this client, expired or not. @throws OAuthError */
async function hintedSubject(
  deps: HintedUserDeps,
  organisation: Organisation,
  application: Application,
  hint: string,
): Promise<string> {
  const { aud, sub } = (await readIdTokenHint(deps, organisation, hint)) ?? {};
  if (aud !== application.id || typeof sub !== "string")
    throw invalid("id_token_hint is not an ID token that was issued to this client");
  return sub;
}
