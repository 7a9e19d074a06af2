/** GET users/{id}: a member's profile, sign-in, sessions, consents and activity. */
import type { FastifyInstance } from "fastify";
import { recordRoute } from "../../../page-kit/record-pages.ts";
import { userPage } from "./user.page.ts";
import { memberPages, type UsersDeps } from "./user-pages.ts";
import { loadUserView } from "./user-view.ts";

export function userRoute(app: FastifyInstance, deps: UsersDeps): void {
  recordRoute(app, deps, "/oauth/manage/:org/users/:id", memberPages, async (...request) =>
    userPage(await loadUserView(...request)),
  );
}
