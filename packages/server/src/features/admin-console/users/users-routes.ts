/** Registers the pages of users. */
import type { FastifyInstance } from "fastify";
import { addressRoute } from "./address.route.ts";
import { editUserRoute } from "./edit.route.ts";
import { importRoutes } from "./import.route.ts";
import { userListRoutes } from "./list.route.ts";
import { newUserRoute } from "./new.route.ts";
import { newPasswordRoute } from "./new-password.route.ts";
import { signInRoutes } from "./sign-in.route.ts";
import { userSignUpsRoutes } from "./sign-ups/sign-ups.route.ts";
import { userRoutes } from "./user.route.ts";
import type { UsersDeps } from "./user-pages.ts";
import { userRolesRoutes } from "./user-roles.route.ts";

export function usersRoutes(app: FastifyInstance, deps: UsersDeps): void {
  userListRoutes(app, deps);
  importRoutes(app, deps);
  userSignUpsRoutes(app, deps);
  newUserRoute(app, deps);
  editUserRoute(app, deps);
  addressRoute(app, deps);
  newPasswordRoute(app, deps);
  signInRoutes(app, deps);
  userRolesRoutes(app, deps);
  // Last, for it deletes the record: invariants/ submits all forms in this order.
  userRoutes(app, deps);
}
