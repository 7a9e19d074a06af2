import { auth } from "../auth";

export default async function Page() {
  const session = await auth();
  if (!session) {
    return (
      <p>
        <a id="sign-in" href="/sign-in">
          Sign in
        </a>
      </p>
    );
  }
  const facts = {
    name: session.user.name,
    email: session.user.email,
    roles: session.roles.join(", "),
    org: session.org,
    token: session.endOfToken,
  };
  return (
    <>
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <form id="sign-out" method="post" action="/sign-out">
        <button type="submit">Sign out</button>
      </form>
    </>
  );
}
