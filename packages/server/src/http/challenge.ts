/**
 * What a 401 names as the way to authenticate: every 401 has a challenge (RFC 9110 §15.5.2). The schemes are Signet's own where no
 * registered one fits, so that no browser opens a dialog of its own for them. Bearer and Basic name theirs where they are checked.
 */

type Challenge = Readonly<Record<"www-authenticate", string>>;

const challenge = (scheme: string): Challenge => ({ "www-authenticate": `${scheme} realm="Signet"` });

/** `Authorization: <PUBLIC_KEY>:<SIGNATURE>`. */
export const HMAC_CHALLENGE = challenge("HMAC");

/** A page knows no credential but the cookie of a browser. */
export const PAGE_CHALLENGE = challenge("Cookie");

/** A device's client certificate, in the TLS handshake. */
export const CERTIFICATE_CHALLENGE = challenge("Certificate");

/** In the body of an enrolment. */
export const ENROLMENT_CODE_CHALLENGE = challenge("EnrolmentCode");
