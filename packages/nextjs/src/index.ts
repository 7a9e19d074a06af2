/**
 * Sign-in for Next.js: `auth()` in pages, actions and route handlers of the App Router, and components of the server. Middleware is
 * in `./middleware`, route handlers in `./route`, the Pages Router in `./pages`. It is configured by the environment, as
 * `@signet/client-sdk` is.
 *
 * @module nextjs
 */
export type { Auth } from "./auth.ts";
export {
  OrganisationSwitcher,
  type OrganisationSwitcherProps,
  SignedIn,
  SignedOut,
  type SwitcherOrganisation,
  UserButton,
  type UserButtonProps,
} from "./components.ts";
export { auth, requireAuth } from "./current-auth.ts";
