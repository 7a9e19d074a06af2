/** Components of the server: plain HTML, which works before scripts load and without them. */
import { createElement as h, type ReactNode } from "react";
import { auth } from "./current-auth.ts";
import { signet } from "./signet.ts";

/** Shows its children to people who are signed in. */
export async function SignedIn({ children }: { readonly children?: ReactNode }): Promise<ReactNode> {
  return (await auth()).isSignedIn ? children : null;
}

/** Shows its children to people who are not signed in. */
export async function SignedOut({ children }: { readonly children?: ReactNode }): Promise<ReactNode> {
  return (await auth()).isSignedIn ? null : children;
}

/** Properties of `UserButton`. */
export interface UserButtonProps {
  readonly className?: string;
  /** Default: `Sign in`, `Account`, `Sign out`. */
  readonly texts?: { readonly signIn?: string; readonly account?: string; readonly signOut?: string };
  /** Default: the issuer's account page. */
  readonly accountUrl?: string;
}

/** A menu with the user's name, account and sign-out; a link to sign in for nobody. */
export async function UserButton({ className, texts = {}, accountUrl }: UserButtonProps): Promise<ReactNode> {
  const { isSignedIn, user, principal, signInUrl } = await auth();
  const { signIn = "Sign in", account = "Account", signOut = "Sign out" } = texts;
  if (!isSignedIn) return h("a", { className, href: signInUrl() }, signIn);
  const name = [user?.firstname, user?.surname].filter(Boolean).join(" ") || user?.email || user?.permId;
  const issuer = principal?.claims["iss"];
  const url = accountUrl ?? (typeof issuer === "string" ? `${issuer}/account` : undefined);
  return h(
    "details",
    { className },
    h("summary", null, name),
    user?.email === undefined || user.email === name ? null : h("p", null, user.email),
    url === undefined ? null : h("p", null, h("a", { href: url }, account)),
    h(
      "form",
      { method: "post", action: `${signet().basePath}/logout` },
      h("button", { type: "submit" }, signOut),
    ),
  );
}

/** One of the organisations that people of the application choose from. */
export interface SwitcherOrganisation {
  readonly id: string;
  readonly name: string;
  /** Where its people sign in to the application. Default: at the service, to come back to `/`. */
  readonly url?: string;
}

/** Properties of `OrganisationSwitcher`. */
export interface OrganisationSwitcherProps {
  readonly organisations: readonly SwitcherOrganisation[];
  readonly className?: string;
}

/** The organisation of the session, and the others to go to; nothing for nobody. */
export async function OrganisationSwitcher({
  organisations,
  className,
}: OrganisationSwitcherProps): Promise<ReactNode> {
  const { isSignedIn, organisationId, signInUrl } = await auth();
  if (!isSignedIn) return null;
  const current = organisations.find(({ id }) => id === organisationId);
  const others = organisations.filter(({ id }) => id !== organisationId);
  return h(
    "details",
    { className },
    h("summary", null, current?.name ?? organisationId),
    h(
      "ul",
      null,
      ...others.map(({ id, name, url = signInUrl("/", id) }) =>
        h("li", { key: id }, h("a", { href: url }, name)),
      ),
    ),
  );
}
