/** Who may look at a wait page: the browser session that began its request. */
import { sha256Base64url } from "@signet/protocol/hash";

/** Of the session and not of its cookie, which every sign-in changes. */
export const browserSessionHash = (sessionId: string): string => sha256Base64url(`session|${sessionId}`);
