/** Whom Signet has signed in. See README.md. */
import { auth } from "@signet/nextjs";

export default async function Home() {
  const { user, principal, organisationId, accessToken, signInUrl } = await auth();
  if (!user)
    return (
      <p>
        <a id="sign-in" href={signInUrl("/")}>
          Sign in
        </a>
      </p>
    );
  const facts = {
    name: principal.claims.name,
    email: user.email,
    roles: (principal.claims.roles ?? []).join(", "),
    org: organisationId,
    token: accessToken.slice(-8),
  };
  return (
    <main>
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <form id="sign-out" method="post" action="/signet/logout">
        <button type="submit">Sign out</button>
      </form>
    </main>
  );
}
