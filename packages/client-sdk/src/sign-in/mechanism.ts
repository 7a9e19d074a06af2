/** What one way of signing in has of its own; all else is the same for all of them (browser-filter.ts, callback.ts, logout.ts). */
import type { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import type { Principal } from "../principal.ts";
import type { LoginAttempt } from "./login-attempts.ts";

/** The session that a request brings: still good, looked at just now, over, or not to be told. */
export type CurrentSession<Session> =
  | { readonly kind: "live"; readonly session: Session; readonly cookies: readonly string[] }
  /** `cookies` drop what is left of it. */
  | { readonly kind: "none"; readonly cookies: readonly string[] }
  /** Neither good nor over as far as is known: the cookie stays. */
  | { readonly kind: "unavailable"; readonly error: SignetError };

/** A parameter of an answer; undefined when it is missing or empty. */
export type AnswerParameter = (name: string) => string | undefined;

export interface SignInMechanism<Session> {
  /**
   * Sends the browser to sign in.
   * @param returnTo path to come back to; another place than the application's becomes its front page
   * @param cookies to set along with it
   */
  startLogin(
    request: Request,
    returnTo: string | null | undefined,
    cookies?: readonly string[],
  ): Promise<FilterResult>;
  /** What the answer to an attempt makes. Throws `SignetError` for an answer that does not hold. */
  finishLogin(attempt: LoginAttempt, parameter: AnswerParameter): Promise<Session>;
  currentSession(request: Request): Promise<CurrentSession<Session>>;
  /** @param value what the sealed cookie held: ours, but perhaps of another provider, application or version of the SDK */
  sessionOf(value: unknown): Session | undefined;
  principalOf(session: Session): Principal;
  isSamePerson(one: Session, other: Session): boolean;
  /** Whether it was ended, here or elsewhere. Throws `SignetError` when that cannot be told: then nobody is let in. */
  isOver(session: Session): Promise<boolean>;
  /** Ends it here: a copy of its cookie, or a look at it that is under way, must not bring it back. */
  rememberEnd(session: Session): Promise<void>;
  /** Ends it where it was made. */
  endElsewhere(session: Session): Promise<void>;
  /** Where a person who has signed out goes to; absolute. */
  afterLogoutOf(session: Session): Promise<string>;
  /** A call of the service about the end of sessions, where there is such a thing. */
  readonly backChannelLogout?: (request: Request) => Promise<FilterResult>;
}
