/** What goes wrong in a browser: a literal code for the application, and a sentence for its developer. */

/** Literal, for `switch` and logs. */
export type SignetClientErrorCode =
  /** A setting is missing or wrong; the message names it. */
  | "configuration"
  /** The issuer can't be reached, or a setting keeps this origin from asking it. Retry later. */
  | "unreachable"
  /** The issuer's response is not what it must be. */
  | "answer"
  /** The issuer refused; `oauthError` says why (RFC 6749 §4.1.2.1, §5.2). */
  | "refused"
  /** The response belongs to no sign-in of this tab. */
  | "login_state"
  /** Nobody is signed in. */
  | "signed_out";

/** An error of the client. `message` is for the log; it never contains a token or a key. */
export class SignetClientError extends Error {
  readonly code: SignetClientErrorCode;
  readonly oauthError: string | undefined;

  constructor(code: SignetClientErrorCode, message: string, oauthError?: string) {
    super(message);
    this.name = "SignetClientError";
    this.code = code;
    this.oauthError = oauthError;
  }
}
