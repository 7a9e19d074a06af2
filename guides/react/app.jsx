// Whom Signet has signed in, in a single-page application. See README.md.
import { SignedIn, SignedOut, SignetProvider, useAccessToken, useSignet, useUser } from "@signet/react";
import { createRoot } from "react-dom/client";

function Page() {
  const { signIn, signOut, renew } = useSignet();
  const user = useUser();
  const token = useAccessToken();
  const facts = {
    name: user?.name,
    email: user?.email,
    roles: user?.roles?.join(", "),
    org: user?.organisationId,
    token: token?.slice(-8),
  };
  return (
    <>
      <SignedOut>
        <button id="sign-in" type="button" onClick={() => signIn()}>
          Sign in
        </button>
      </SignedOut>
      <SignedIn>
        <dl>
          {Object.entries(facts).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <button id="refresh" type="button" onClick={() => renew()}>
          Renew the token
        </button>
        <button id="sign-out" type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </SignedIn>
    </>
  );
}

const { issuer, clientId } = window.signet;
createRoot(document.getElementById("root")).render(
  <SignetProvider issuer={issuer} clientId={clientId} scope="openid profile email roles">
    <Page />
  </SignetProvider>,
);
