// Before every page: renews the session, which a page can't write into a cookie.
export { auth as proxy } from "./auth";

export const config = { matcher: ["/"] };
