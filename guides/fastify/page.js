// The page of the guide: whom Signet has signed in.
const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const fact = ([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`;

const signedOut = '<p><a id="sign-in" href="/signet/login?return_to=/">Sign in</a></p>';

const signedIn = ({ user, claims, accessToken }) => `<dl>${Object.entries({
  // `name` and `email` come from userinfo, by the scopes profile and email.
  name: claims.name,
  email: user.email,
  // By the scope roles: those of this application and of the organisation.
  roles: (claims.roles ?? []).join(", "),
  // From the issuer, which is the organisation's own.
  org: user.organisationId,
  token: accessToken.slice(-8),
})
  .map(fact)
  .join("")}</dl>
<form id="sign-out" method="post" action="/signet/logout"><button>Sign out</button></form>`;

/** @param principal undefined before the sign-in */
export const page = (principal) =>
  `<!doctype html><title>Guide</title><h1>Guide</h1>${principal ? signedIn(principal) : signedOut}`;
